"""FRANQ with signals chosen on the training rows, because the best ones differ between models.

The paper uses the same three signals for every model. For a small model, samples may carry no
information although token probabilities do. The choice is made by cross-validation on the training
rows; the test rows are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import cast, get_args

import numpy as np

from franq_bench.fits.fallback import fallback_note, fell_back
from franq_bench.fits.fitted import SIGNALS, matrix
from franq_bench.fits.variants import Fit, franq, franq_model, judged, raw
from franq_bench.tables.layout import figures_table, metric_columns, metric_figures
from franq_bench.tables.method_names import title
from franq_bench.tables.scores import Score, Scores
from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.calibration.store import Calibration
from franq_guard.franq import FloatArray
from franq_guard.franq import franq as formula
from franq_guard.report.tables import Table
from franq_guard.uncertainty.methods import methods as catalogue

__all__ = ["chosen_signals", "chosen_table"]

Signals = tuple[str, ...]
_FAITHFULNESS = ("faithfulness", "faithfulness-answer")


def chosen_table(
    scores: Scores, *, signals: Sequence[str] = SIGNALS, folds: int = 5, resamples: int = 200
) -> list[Table]:
    """FRANQ of the chosen signals against FRANQ of the given ones, on the test rows.

    Args:
        scores: raw methods, train and test rows.
        signals: P_faithful, UQ_faith and UQ_unfaith to compare with.
        folds: of the choice.
        resamples: of the bootstrap.

    Returns:
        One table; none where the training rows are too few to choose on.
    """
    errors = chosen_signals(scores, folds=folds)
    if not errors:
        return []
    best, given = min(errors, key=lambda triple: errors[triple]), tuple(signals)
    variants: dict[str, Fit] = {
        f"{title(f'franq-{name}')}: {of}": franq(triple, calibration=name)
        for of, triple in (("the signals in use", given), ("chosen signals", best))
        for name in get_args(Calibration)
    }
    bare = raw(scores)
    found = judged(bare, variants, resamples=resamples)
    note = (
        f"Chosen on the training rows of all data sets: {_named(best)}, with a cross-validated "
        f"Brier score of {errors[best]:.4f}, the least of {len(errors)} combinations "
        f"(condition-calibrated, {folds} folds)."
    )
    if given in errors:
        note += f" The signals in use, {_named(given)}: {errors[given]:.4f}."
    both = {"the signals in use": given, "chosen signals": best}
    fell = fallback_note({of: fell_back(bare, triple) for of, triple in both.items()})
    return [
        figures_table(
            "chosen-signals",
            "FRANQ with signals chosen by cross-validation on the training rows",
            metric_columns("variant"),
            metric_figures(found, found),
            note=f"{note} Means over the data sets' test rows. ± is a bootstrap standard error "
            f"over test rows, with choice and fit held fixed. {fell}",
        )
    ]


def chosen_signals(
    scores: Scores, *, methods: Sequence[str] | None = None, folds: int = 5
) -> dict[Signals, float]:
    """Brier score of condition-calibrated FRANQ for each P_faithful, UQ_faith and UQ_unfaith.

    Every training row is predicted by a fit on its data set's other folds.

    Args:
        scores: raw methods; only training rows count.
        methods: tried as UQ_faith and UQ_unfaith, where every training row has a confidence in
            [0, 1]; None: every method of the catalogue.
        folds: into which each data set's training rows are dealt.

    Returns:
        By combination, the mean over the data sets; empty where a data set has fewer training rows
        than folds, or a fold of them without both labels outside it.
    """
    parts = [_dealt(scores.part(name, "train").rows, folds) for name in scores.datasets]
    if not parts or any(not held or not _fits(rest) for part in parts for rest, held in part):
        return {}
    rows = [row for part in parts for _, held in part for row in held]
    asked, there = (_confidences(rows, names) for names in (_FAITHFULNESS, methods or _catalogue()))
    errors = [_errors(part, asked, there) for part in parts]
    return {triple: float(np.mean([of[triple] for of in errors])) for triple in errors[0]}


Fold = tuple[list[Score], list[Score]]


def _dealt(rows: Sequence[Score], folds: int) -> list[Fold]:
    """(the other folds, the fold), for each."""
    order = np.random.default_rng(0).permutation(len(rows))
    held = [set(order[i::folds].tolist()) for i in range(folds)]
    return [
        (
            [r for i, r in enumerate(rows) if i not in own],
            [r for i, r in enumerate(rows) if i in own],
        )
        for own in held
    ]


def _fits(rows: Sequence[Score]) -> bool:
    return len({row.is_true for row in rows}) == 2


def _catalogue() -> list[str]:
    return [m.name for m in catalogue() if m.name not in _FAITHFULNESS]


def _confidences(rows: Sequence[Score], names: Sequence[str]) -> list[str]:
    """The methods that give every row a confidence in [0, 1]."""
    found = {m: [row.scores.get(m) for row in rows] for m in names}
    return [m for m in names if all(v is not None and 0 <= v <= 1 for v in found[m])]


def _errors(
    part: Sequence[Fold], asked: Sequence[str], there: Sequence[str]
) -> dict[Signals, float]:
    """Brier score of each combination on one data set.

    A branch's curve depends on P_faithful and on its own method alone: each is fitted once, not
    once for every combination.
    """
    held = [row for _, fold in part for row in fold]
    is_true = np.array([row.is_true for row in held], float)
    errors: dict[Signals, float] = {}
    for p in asked:
        weight = matrix(held, [p])[:, 0]
        branches = {method: _branches(part, p, method) for method in there}
        for a, b in product(there, there):
            p_true = formula(weight, branches[a][0], branches[b][1])
            errors[p, a, b] = float(np.mean((is_true - p_true) ** 2))
    return errors


def _branches(part: Sequence[Fold], p_faithful: str, method: str) -> FloatArray:
    """A method calibrated as UQ_faith and as UQ_unfaith, (2, n), each fold by the others' fit."""
    signals = (p_faithful, method, method)
    curves = []
    for rest, held in part:
        model = cast(FranqClassifier, franq_model(rest, signals))  # _fits: both labels are there
        curves.append(model.calibrator_.apply(*matrix(held, signals).T)[1:])
    return np.concatenate(curves, axis=1)


def _named(triple: Sequence[str]) -> str:
    return ", ".join(title(name) for name in triple)
