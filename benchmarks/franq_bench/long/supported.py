"""What the shipped calibrator for captured long answers calls supported, against what was read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from franq_bench.calibrator.own_long_fit import labelled_rows
from franq_bench.tables.scores import GOLD, Score
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.labels import p_true_of
from franq_guard.policy import Policy

_HALF = 0.5


def supported(rows: Sequence[Score]) -> str:
    """Supported claims by P(faithful): how many the passages state, and how many are true."""
    calibrator = next(c for c in shipped() if c.writer is not None and c.form == "long")
    least, p_true = calibrator.labels.supported_from, p_true_of(labelled_rows(rows), calibrator)
    found = [
        row
        for row, p in zip(rows, p_true.tolist(), strict=True)
        if Policy().label(
            None if np.isnan(p) else p,
            row.scores["faithfulness"],
            contradiction=row.scores.get("contradiction"),
            entailment=row.scores.get("entailment"),
            rule=calibrator.labels,
        )
        == "supported"
    ]
    low = [row for row in found if (row.scores["faithfulness"] or 0.0) <= _HALF]
    lines = [
        "| supported, P(faithful) | claims | stated by reading | true |",
        "| --- | ---: | ---: | ---: |",
    ]
    for title, of in ((f"above {least:g}", found), (f"{least:g} to {_HALF:g}", low)):
        stated = [row.scores[GOLD] for row in of if GOLD in row.scores]
        shares = (_share(stated), _share([row.is_true for row in of]))
        lines.append(f"| {title} | {len(of)} | {' | '.join(shares)} |")
    return "\n".join(lines) + "\n"


def _share(values: Sequence[float | None]) -> str:
    return f"{np.mean(np.array(values, float)):.0%}" if values else "-"
