"""The methods fitted on the training part: FRANQ, the logistic regression and XGBoost beside it.

``franq-condition`` takes the global curve where a condition has few labels (:mod:`.fallback` says
where); ``franq-condition-alone`` is the paper's rule, which never does, with the signals in the
form that the paper ran (:mod:`.paper_form`). ``franq-learned`` fits the same formula with a
logistic function in each branch; ``logistic-franq`` adds the three signals up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from franq_bench.fits.logistic import AdditiveLogistic, LearnedFranq
from franq_bench.fits.paper_form import as_paper
from franq_bench.fits.xgboost import xgboost_classifier
from franq_bench.tables.method_names import AS_PAPER
from franq_bench.tables.scores import MARKS, Score, Scores
from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.calibration.store import Calibration
from franq_guard.franq import FloatArray

__all__ = ["FITTED", "SIGNALS", "features_of", "fitted_scores", "with_fitted"]

SIGNALS = ("faithfulness", "semantic-entropy", "eigenvalues-entail")
"""FRANQ's P_faithful, UQ_faith and UQ_unfaith in the short form (arXiv 2505.21072, section 3)."""

FRANQ: Mapping[str, dict[str, Any]] = {
    **{f"franq-{name}": {"calibration": name} for name in get_args(Calibration)},
    AS_PAPER: {"calibration": "condition", "min_per_class": 0},
}
"""The options of :class:`FranqClassifier` by method."""

FITTED = (*FRANQ, "franq-learned", "logistic-franq", "xgboost-franq", "xgboost-all")
"""Names of the fitted methods."""


def with_fitted(
    scores: Scores,
    *,
    signals: Sequence[str] = SIGNALS,
    log_space: bool = False,
    faithful_above: float = 0.5,
) -> Scores:
    """Add the fitted methods' scores on the test rows to the matrix; fit each data set separately.

    Args:
        scores: raw methods, train and test rows; scores of earlier fits are replaced.
        signals: methods that serve as P_faithful, UQ_faith and UQ_unfaith; their scores must be
            confidences in [0, 1].
        log_space: the scores of the latter two are log-probabilities instead (the long form).
        faithful_above: P_faithful above which a row counts as faithful for the two curves.
    """
    options: dict[str, Any] = {"log_space": log_space, "faithful_above": faithful_above}
    raw = [replace(row, scores=without(row.scores, FITTED)) for row in scores.rows]
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for name in scores.datasets:
        train = [row for row in raw if row.dataset == name and row.split == "train"]
        test = [row for row in raw if row.dataset == name and row.split == "test"]
        for method in FITTED:
            values = fitted_scores(method, train, test, signals, **options)
            for row, value in zip(test, values, strict=True):
                found.setdefault((name, row.id), {})[method] = value
    return Scores(
        tuple(replace(r, scores={**r.scores, **found.get((r.dataset, r.id), {})}) for r in raw)
    )


def fitted_scores(
    method: str,
    train: Sequence[Score],
    test: Sequence[Score],
    signals: Sequence[str] = SIGNALS,
    *,
    log_space: bool = False,
    faithful_above: float = 0.5,
) -> list[float | None]:
    """P(true) of the test rows (n,) by a method of :data:`FITTED`; None if it cannot be fitted.

    It cannot be fitted without training rows of both classes.
    """
    labels = np.array([row.is_true for row in train], int)
    if not test or len(set(labels.tolist())) < 2:
        return [None] * len(test)
    names = features_of(method, [*train, *test], signals)
    options: dict[str, Any] = {"log_space": log_space, "faithful_above": faithful_above}
    model = classifier(method, **options)
    # Of these methods it alone cross-validates.
    known = {"groups": Scores(tuple(train)).groups()} if isinstance(model, LearnedFranq) else {}
    fitted = model.fit(matrix(train, names), labels, **known)
    values = fitted.predict_proba(matrix(test, names))[:, 1]
    return [None if np.isnan(value) else float(value) for value in values]


def features_of(method: str, rows: Sequence[Score], signals: Sequence[str]) -> Sequence[str]:
    """What a method of :data:`FITTED` is fitted on: all methods, or three signals.

    Args:
        method: one of them.
        rows: of the score matrix.
        signals: P_faithful, UQ_faith and UQ_unfaith of the run.
    """
    if method == "xgboost-all":
        return sorted({name for row in rows for name in row.scores} - {*MARKS, *FITTED})
    return as_paper(signals, rows) if method == AS_PAPER else signals


def matrix(rows: Iterable[Score], names: Sequence[str]) -> FloatArray:
    """Scores (n, k), NaN where not measured."""
    return np.array([[_number(row.scores.get(name)) for name in names] for row in rows], float)


def without(scores: Mapping[str, float | None], names: Iterable[str]) -> dict[str, float | None]:
    """The scores without some methods."""
    left_out = set(names)
    return {method: value for method, value in scores.items() if method not in left_out}


def classifier(method: str, *, log_space: bool = False, faithful_above: float = 0.5) -> Any:
    """An unfitted classifier of :data:`FITTED`."""
    if method in FRANQ:
        return FranqClassifier(
            log_space=log_space, faithful_threshold=faithful_above, **FRANQ[method]
        )
    if method == "franq-learned":
        return LearnedFranq(log_space)
    return AdditiveLogistic(log_space) if method == "logistic-franq" else xgboost_classifier()


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
