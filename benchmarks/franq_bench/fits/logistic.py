"""Two ways to combine FRANQ's signals by logistic functions: in the formula, and by adding them up.

Both take the signals on a scale without bounds: log-odds, or log-probabilities as they are. Rows
that lack a signal are left out of the fit and have no prediction; where the others are of one class
or none, nothing is fitted and no row has a prediction.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from franq_guard.calibration.mixture import FranqMixture
from franq_guard.franq import FloatArray

__all__ = ["AdditiveLogistic", "LearnedFranq", "unbounded"]

_LEAST = 1e-12  # a confidence nearer to 0 or 1 counts as this one: its log-odds must be finite
_LOWEST = -700.0  # log-probabilities below this one are all as good as impossible


class LearnedFranq:
    """:class:`~franq_guard.calibration.mixture.FranqMixture`, one signal in each branch.

    P(true) may only rise with each of P_faithful, UQ_faith and UQ_unfaith.
    ``log_space``: UQ_faith and UQ_unfaith are log-probabilities instead of confidences in [0, 1].
    """

    def __init__(self, log_space: bool = False) -> None:
        self.log_space, self.fitted = log_space, False
        self.mixture = FranqMixture(faith=(0,), unfaith=(1,), signs=(1, 1))

    def fit(self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = None) -> LearnedFranq:
        """Fit on X (n, 3) and labels y (n,) of 0/1; returns itself.

        ``groups`` (n,): the answer of each row, kept whole when the penalty is chosen.
        """
        features, labels = self._features(X), np.asarray(y)
        self.fitted = _two_classes(features, labels)
        if self.fitted:
            self.mixture.fit(features, labels, groups=groups)
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(false) and P(true), (n, 2); NaN where a signal is missing."""
        features = self._features(X)
        if not self.fitted:
            return np.full((len(features), 2), np.nan)
        return self.mixture.predict_proba(features)

    def to_json(self) -> str:
        """The fitted numbers."""
        branches = (self.mixture.faith_, self.mixture.unfaith_)
        return json.dumps([*(asdict(branch) for branch in branches), self.mixture.floor_])

    def _features(self, X: ArrayLike) -> FloatArray:
        signals = np.asarray(X, float)
        return np.column_stack([signals[:, 0], unbounded(signals[:, 1:], self.log_space)])


class AdditiveLogistic:
    """Ridge logistic regression on the standardised signals, without the formula.

    ``log_space``: UQ_faith and UQ_unfaith are log-probabilities instead of confidences in [0, 1].
    """

    def __init__(self, log_space: bool = False) -> None:
        self.log_space, self.fitted = log_space, False
        self.model: Pipeline = make_pipeline(StandardScaler(), LogisticRegression())

    def fit(self, X: ArrayLike, y: ArrayLike) -> AdditiveLogistic:
        """Fit on X (n, 3) and labels y (n,) of 0/1; returns itself."""
        features, labels = self._features(X), np.asarray(y)
        self.fitted = _two_classes(features, labels)
        if self.fitted:
            known = ~np.isnan(features).any(axis=1)
            self.model.fit(features[known], labels[known])
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(false) and P(true), (n, 2); NaN where a signal is missing."""
        features = self._features(X)
        known = ~np.isnan(features).any(axis=1) & self.fitted
        found = np.full((len(features), 2), np.nan)
        if known.any():
            found[known] = self.model.predict_proba(features[known])
        return found

    def to_json(self) -> str:
        """The fitted numbers."""
        scaler, logistic = (step for _, step in self.model.steps)
        numbers = (scaler.mean_, scaler.scale_, logistic.coef_[0], logistic.intercept_)
        return json.dumps([values.tolist() for values in numbers])

    def _features(self, X: ArrayLike) -> FloatArray:
        signals: Any = np.asarray(X, float)
        odds = unbounded(signals[:, :1], log_space=False)
        return np.column_stack([odds, unbounded(signals[:, 1:], self.log_space)])


def _two_classes(features: FloatArray, labels: NDArray[Any]) -> bool:
    """Whether the rows that have every signal are of two classes."""
    known = ~np.isnan(features).any(axis=1)
    return len(set(labels[known].tolist())) == 2


def unbounded(values: FloatArray, log_space: bool) -> FloatArray:
    """Log-odds of confidences in [0, 1]; log-probabilities unchanged but for the lowest."""
    if log_space:
        return np.maximum(values, _LOWEST)
    inside = np.clip(values, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(inside) - np.log1p(-inside), float)
