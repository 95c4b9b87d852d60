"""Where "condition-calibrated" takes the global curve, because a condition has too few labels.

A table that fits by itself says so in its own note, by :func:`fallback_note` of the rows and
signals that it fits. Tables of the run's own fits get the run's note in the report
(:mod:`franq_bench.tables.fallback_note`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from franq_bench.fits.fitted import SIGNALS, classifier, matrix
from franq_bench.fits.paper_form import as_paper_said
from franq_bench.tables.fallback_note import FALLBACK
from franq_bench.tables.method_names import PRIMARY, title
from franq_bench.tables.scores import Score, Scores
from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.franq import FloatArray
from franq_guard.report.tables import Cell, Column, Table

__all__ = ["UNFITTED", "Fell", "fallback_note", "fallback_of", "fallback_table", "fell_back"]

UNFITTED = ("unfitted",)
"""Stands where nothing can be fitted: all training rows have one label."""

Fell = Mapping[str, Sequence[str]]
"""By data set: the branches ("faith", "unfaith") that take the global curve, or UNFITTED."""

_BRANCHES = {"faith": "UQ_faith", "unfaith": "UQ_unfaith"}


def fallback_of(
    train: Sequence[Score],
    signals: Sequence[str] = SIGNALS,
    *,
    log_space: bool = False,
    faithful_above: float = 0.5,
) -> tuple[str, ...]:
    """The branches ("faith", "unfaith") that take the global curve when fitted on these rows.

    It is :data:`UNFITTED` where nothing can be fitted: all rows have the same label.
    """
    labels = np.array([row.is_true for row in train], int)
    if len(set(labels.tolist())) < 2:
        return UNFITTED
    model = classifier(PRIMARY, log_space=log_space, faithful_above=faithful_above)
    found: tuple[str, ...] = model.fit(matrix(train, signals), labels).fallback_
    return found


def fell_back(
    scores: Scores,
    signals: Sequence[str] = SIGNALS,
    *,
    log_space: bool = False,
    faithful_above: float = 0.5,
) -> Fell:
    """:func:`fallback_of` each data set's training rows."""
    options: Any = {"log_space": log_space, "faithful_above": faithful_above}
    parts = {name: scores.part(name, "train").rows for name in scores.datasets}
    return {name: fallback_of(rows, signals, **options) for name, rows in parts.items()}


def fallback_note(variants: Mapping[str, Fell]) -> str:
    """What a table says of its condition-calibrated rows: which of them fell back, and where.

    Args:
        variants: by what tells the rows apart (it follows "with"); one alone needs no name.
    """
    fewest = FranqClassifier().min_per_class
    rule = f"fewer than {fewest} true or {fewest} false training rows in the condition"
    apart = [_unfitted(fell) for fell in variants.values()]
    unfitted = list(dict.fromkeys(name for names in apart for name in names))
    fitted = {name: fell for name, fell in variants.items() if len(_unfitted(fell)) < len(fell)}
    said = [_fallback(fitted, rule)] if fitted or not unfitted else []
    if unfitted:
        subject = "Not" if said else f"{title(PRIMARY)}: not"
        said.append(f"{subject} fitted on {', '.join(unfitted)}: all training rows have one label.")
    return " ".join(said)


def _unfitted(fell: Fell) -> list[str]:
    return [name for name, branches in fell.items() if tuple(branches) == UNFITTED]


def _fallback(variants: Mapping[str, Fell], rule: str) -> str:
    """Which of the variants that are fitted anywhere fell back, and where."""
    alike: dict[str, list[str]] = {}
    for name, fell in variants.items():
        alike.setdefault(_where(fell), []).append(name)
    if not any(alike):
        return f"Fallback of {title(PRIMARY)}: none (nowhere {rule})."
    said = [
        (where or "none") + (f" with {', '.join(names)}" if len(alike) > 1 else "")
        for where, names in alike.items()
    ]
    return f"Fallback of {title(PRIMARY)} to the curve of all rows ({rule}): {'; '.join(said)}."


def _where(fell: Fell) -> str:
    """Such as "UQ_faith on a (1 of 2) and UQ_unfaith on a, b (2 of 2)"; empty: nowhere.

    Counted are the data sets that are fitted.
    """
    found = {branch: [name for name in fell if branch in fell[name]] for branch in _BRANCHES}
    fits = len(fell) - len(_unfitted(fell))
    return " and ".join(
        f"{label} on {', '.join(found[branch])} ({len(found[branch])} of {fits})"
        for branch, label in _BRANCHES.items()
        if found[branch]
    )


def fallback_table(
    scores: Scores,
    *,
    signals: Sequence[str] = SIGNALS,
    log_space: bool = False,
    faithful_above: float = 0.5,
) -> Table:
    """By data set: how many true and false rows each condition has, and which curve it takes.

    Args:
        scores: raw methods; only training rows count.
        signals: P_faithful, UQ_faith and UQ_unfaith.
        log_space: the latter two are log-probabilities (the long form).
        faithful_above: P_faithful above which a row counts as faithful.
    """
    fell = fell_back(scores, signals, log_space=log_space, faithful_above=faithful_above)
    rows: list[tuple[Cell, ...]] = []
    for name in scores.datasets:
        train = scores.part(name, "train").rows
        data = matrix(train, signals) if train else np.empty((0, 3))
        conditions = {b: _in_condition(data, b, faithful_above) for b in _BRANCHES}
        cells = [_cell(train, conditions[b], _curve(b, fell[name])) for b in _BRANCHES]
        rows.append((name, *cells))
    said = as_paper_said(signals, scores.rows, faithful_above=faithful_above)
    return Table(
        name=FALLBACK,
        title=f"{title(PRIMARY)}: which curve each branch takes",
        columns=(Column("data set"), *(Column(label) for label in _BRANCHES.values())),
        rows=tuple(rows),
        note=f"{fallback_note({'': fell})} {said}",
    )


def _curve(branch: str, fell: Sequence[str]) -> str:
    """Which curve a branch takes."""
    if tuple(fell) == UNFITTED:
        return "not fitted"
    return "global" if branch in fell else "own"


def _cell(train: Sequence[Score], chosen: FloatArray, curve: str) -> str:
    """Such as "own: 12 true, 40 false" or "global: 3 true, 20 false"."""
    true = sum(row.is_true for row, there in zip(train, chosen, strict=True) if there)
    return f"{curve}: {true} true, {int(chosen.sum()) - true} false"


def _in_condition(data: FloatArray, branch: str, faithful_above: float) -> FloatArray:
    faithful = data[:, 0] > faithful_above
    of_branch = faithful if branch == "faith" else ~faithful & ~np.isnan(data[:, 0])
    return np.asarray(of_branch & ~np.isnan(data[:, 1 if branch == "faith" else 2]))
