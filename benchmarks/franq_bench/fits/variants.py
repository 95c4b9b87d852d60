"""Named variants of FRANQ, evaluated on the same test rows.

An ablation is a set of variants. Each is fitted per data set; its P(true) is added to a score
matrix like the scores of any method and evaluated with the benchmark's metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from franq_bench.fits.fitted import (
    FITTED,
    SIGNALS,
    fitted_scores,
    matrix,
    with_fitted,
    without,
)
from franq_bench.tables.results import MEAN, Row, metric_rows
from franq_bench.tables.scores import MARKS, Score, Scores
from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.franq import FloatArray

__all__ = ["LOGARITHMS", "LOWEST", "Fit", "Values", "fitted", "fitted_on", "franq", "franq_model",
           "in_logarithms", "judged", "known", "mean_rows", "measured", "of_method", "raw",
           "with_variants"]  # fmt: skip

Values = list[float | None]
Fit = Callable[[Sequence[Score], Sequence[Score]], Values]
"""Takes train and test rows of a data set; returns P(true) of the test rows, or None."""

LOGARITHMS = ("max-probability", "parametric-knowledge")
"""Methods scored by log-probability in the long form: long claims' probabilities are near 0."""

LOWEST = -1e9
"""Stands for a log-probability of -inf, which JSON cannot represent."""


def in_logarithms(rows: Iterable[Score], methods: Collection[str]) -> list[Score]:
    """The rows with the confidences of some methods as log-probabilities."""
    return [
        replace(row, scores={m: _log(v) if m in methods else v for m, v in row.scores.items()})
        for row in rows
    ]


def _log(confidence: float | None) -> float | None:
    if confidence is None:
        return None
    return math.log(confidence) if confidence > 0 else LOWEST


def raw(scores: Scores) -> Scores:
    """The matrix without fitted methods and without marks."""
    left_out = (*FITTED, *MARKS)
    return Scores(tuple(replace(r, scores=without(r.scores, left_out)) for r in scores.rows))


def fitted(scores: Scores, signals: Sequence[str] = SIGNALS) -> Scores:
    """The matrix with the fitted methods (reused if present), without marks."""
    if set(FITTED) <= set(scores.methods):
        return Scores(tuple(replace(r, scores=without(r.scores, MARKS)) for r in scores.rows))
    return with_fitted(raw(scores), signals=signals)


def franq_model(
    train: Sequence[Score],
    signals: Sequence[str] = SIGNALS,
    *,
    faithful: FloatArray | None = None,
    **options: Any,
) -> FranqClassifier | None:
    """FRANQ fitted on rows; None if all rows have the same label, so that nothing can be fitted.

    Args:
        train: raw methods.
        signals: methods that serve as P_faithful, UQ_faith and UQ_unfaith.
        faithful: (n,) of 0/1, gold faithfulness, for :meth:`FranqClassifier.fit`.
        options: of :class:`FranqClassifier`.
    """
    labels = np.array([row.is_true for row in train], int)
    if len(set(labels.tolist())) < 2:
        return None
    return FranqClassifier(**options).fit(matrix(train, signals), labels, faithful=faithful)


def franq(signals: Sequence[str] = SIGNALS, **options: Any) -> Fit:
    """A variant: :class:`FranqClassifier` with other signals or options."""

    def fit(train: Sequence[Score], test: Sequence[Score]) -> Values:
        return predicted(franq_model(train, signals, **options), test, signals)

    return fit


def predicted(
    model: FranqClassifier | None, test: Sequence[Score], signals: Sequence[str]
) -> Values:
    """P(true) of rows by a model of :func:`franq_model`; None for each where it is None."""
    if model is None or not test:
        return [None] * len(test)
    return known(model.predict_proba(matrix(test, signals))[:, 1])


def of_method(method: str, signals: Sequence[str] = SIGNALS, *, log_space: bool = False) -> Fit:
    """A variant: one of :data:`~franq_bench.fits.fitted.FITTED`, perhaps with other signals."""
    return lambda train, test: fitted_scores(method, train, test, signals, log_space=log_space)


def fitted_on(rows: Sequence[Score], fit: Fit) -> Fit:
    """The variant fitted on these rows, whichever data set it is judged on."""
    return lambda _, test: fit(rows, test)


def known(values: FloatArray) -> Values:
    """Numbers (n,), None for NaN."""
    return [None if np.isnan(value) else float(value) for value in values]


def with_variants(scores: Scores, variants: Mapping[str, Fit]) -> Scores:
    """Test rows that hold the variants' P(true) and nothing else; every data set on its own."""
    made: list[Score] = []
    for name in scores.datasets:
        train, test = (scores.part(name, split).rows for split in ("train", "test"))
        found = {variant: fit(train, test) for variant, fit in variants.items()}
        made += [
            replace(row, scores={variant: values[i] for variant, values in found.items()})
            for i, row in enumerate(test)
        ]
    return Scores(tuple(made))


def mean_rows(scores: Scores, *, resamples: int = 0) -> dict[str, Row]:
    """By method: the figures' means over the data sets; standard errors only with ``resamples``."""
    rows = metric_rows(scores, resamples=resamples)
    return {row.method: row for row in rows if row.dataset == MEAN}


def judged(scores: Scores, variants: Mapping[str, Fit], *, resamples: int = 0) -> dict[str, Row]:
    """By variant: mean figures over the data sets."""
    return mean_rows(with_variants(scores, variants), resamples=resamples)


def measured(scores: Scores, methods: Iterable[str]) -> list[str]:
    """The methods that have a score on every test row, in the order given."""
    tests = [row for row in scores.rows if row.split == "test"]
    return [m for m in methods if tests and all(r.scores.get(m) is not None for r in tests)]
