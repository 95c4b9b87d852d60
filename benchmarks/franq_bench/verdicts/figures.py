"""The figures that matter to a reader of marked answers: false alarms and caught errors."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from franq_bench.verdicts.rows import Row
from franq_guard.metrics.measures import auroc
from franq_guard.policy import Policy

_RESAMPLES: Final = 500
_VOUCHED: Final = ("supported", "unsupported-true")
Measure = Callable[[Sequence[Row]], float]


def flagged(row: Row) -> bool:
    """Whether the default policy acts against the claim, or it is unverified."""
    return row.label in Policy().weak or row.label == "unverified"


def table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One line per kind of answer, and per number of passages and kind of fact within it.

    `share` is of the claims: flagged (grounded, entailed; lower is better), flagged (changed, not
    entailed; higher is better), or neither supported nor unsupported-true (unfounded; higher is
    better). `answers`: of the answers, those with a flagged claim. Errors are the standard
    deviation over 500 resamples of whole questions.
    """
    found: list[dict[str, Any]] = []
    for kind in ("grounded", "changed", "unfounded", "entailed", "not entailed"):
        own = [row for row in rows if row.kind == kind]
        found += [_line(kind, "all", own)] if own else []
        for count in sorted({row.passages for row in own}):
            part = [row for row in own if row.passages == count]
            found += [_line(kind, f"{count} passages", part)] if len(part) < len(own) else []
        for fact in sorted({row.fact for row in own}):
            found.append(_line(kind, fact, [row for row in own if row.fact == fact]))
    judged = [row for row in rows if row.kind in ("entailed", "not entailed")]
    if judged:
        found.append({"kind": "entailed or not", "of": "AUROC of P(true)", "claims": len(judged),
                      "share": _auroc(judged), "error": _error(judged, _auroc)})  # fmt: skip
    return found


def _line(kind: str, part: str, rows: Sequence[Row]) -> dict[str, Any]:
    share = _not_vouched if kind == "unfounded" else _flagged
    line = {
        "kind": kind,
        "of": part,
        "claims": len(rows),
        "share": share(rows),
        "error": _error(rows, share),
    }
    if kind == "grounded":
        line |= {"answers": _answers(rows), "answers_error": _error(rows, _answers)}
    return line


def _flagged(rows: Sequence[Row]) -> float:
    return float(np.mean([flagged(row) for row in rows]))


def _not_vouched(rows: Sequence[Row]) -> float:
    return float(np.mean([row.label not in _VOUCHED for row in rows]))


def _answers(rows: Sequence[Row]) -> float:
    """Share of (answer, number of passages) with a flagged claim."""
    worst: dict[tuple[str, int], bool] = {}
    for row in rows:
        key = (row.group, row.passages)
        worst[key] = worst.get(key, False) or flagged(row)
    return float(np.mean(list(worst.values())))


def _auroc(rows: Sequence[Row]) -> float:
    scored = [row for row in rows if row.p_true is not None]
    truth = [row.kind == "entailed" for row in scored]
    return auroc(np.array(truth, float), np.array([row.p_true for row in scored], float))


def _error(rows: Sequence[Row], measure: Measure) -> float:
    """Standard deviation of a measure over resamples of whole questions."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    names, rng = sorted(groups), random.Random(0)  # noqa: S311 - no secret
    values = [
        measure([row for name in rng.choices(names, k=len(names)) for row in groups[name]])
        for _ in range(_RESAMPLES)
    ]
    return float(np.nanstd(values))
