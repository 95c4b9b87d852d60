"""The labels that the shipped calibrator gives to captured long answers, against what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from franq_bench.calibrator.own_long_fit import labelled_rows
from franq_bench.tables.scores import GOLD, Score
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.labels import p_true_of
from franq_guard.policy import Policy
from franq_guard.records import WEAK, Label

_PARTS: Final[Mapping[str, tuple[Label, ...]]] = {
    "supported": ("supported",), "unclear": ("unclear",), "flagged": WEAK,
}  # fmt: skip


def by_label(rows: Sequence[Score]) -> str:
    """Supported, unclear and flagged claims: how many the passages state, and how many are true."""
    calibrator = next(c for c in shipped() if c.writer is not None and c.form == "long")
    p_true = p_true_of(labelled_rows(rows), calibrator)
    lines = [
        "| label | claims | stated by reading | true | true | false |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    labels = [
        Policy().label(
            None if np.isnan(p) else p,
            row.scores["faithfulness"],
            contradiction=row.scores.get("contradiction"),
            entailment=row.scores.get("entailment"),
            rule=calibrator.labels,
        )
        for row, p in zip(rows, p_true.tolist(), strict=True)
    ]
    for title, chosen in _PARTS.items():
        of = [row for row, label in zip(rows, labels, strict=True) if label in chosen]
        stated = [row.scores[GOLD] for row in of if GOLD in row.scores]
        truth = [bool(row.is_true) for row in of]
        cells = (_share(stated), _share(truth), f"{sum(truth)}", f"{len(truth) - sum(truth)}")
        lines.append(f"| {title} | {len(of)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _share(values: Sequence[float | None]) -> str:
    return f"{np.mean(np.array(values, float)):.0%}" if values else "-"
