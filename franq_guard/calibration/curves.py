"""Curves from a score to a probability: lines or steps between knots, or a logistic function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from franq_guard.franq import FloatArray

Interpolation = Literal["linear", "step"]

LEAST = 1e-3
"""A probability nearer to 0 or 1 counts as this one: its log-odds must be finite, and no model is
that certain."""

__all__ = ["Interpolation", "Knots", "Logistic", "Term", "curve_from", "log_odds", "sigmoid"]


@dataclass(frozen=True, slots=True)
class Knots:
    """A non-decreasing curve from a score to a probability.

    Args:
        x: scores, strictly increasing, finite (log-probabilities where the calibrator says so).
        y: P(label | score) at each x, non-decreasing, in [0, 1].

    Raises:
        ValueError: if the numbers are not such a curve.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        x, y = np.asarray(self.x, float), np.asarray(self.y, float)
        if x.ndim != 1 or x.shape != y.shape or not x.size:
            raise ValueError(f"knots need as many x as y, at least one: {x.shape} and {y.shape}")
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise ValueError("knots must be finite")
        if np.any(x[1:] <= x[:-1]) or np.any(y[1:] < y[:-1]) or y[0] < 0 or y[-1] > 1:
            raise ValueError("knots need increasing x and non-decreasing y in [0, 1]")

    def __call__(self, scores: FloatArray, interpolation: Interpolation) -> FloatArray:
        """Probability at each score (n,); beyond the knots, that of the nearest; NaN stays NaN."""
        x, y = np.asarray(self.x), np.asarray(self.y)
        if interpolation == "linear":
            values = np.clip(np.interp(scores, x, y), y[0], y[-1])  # rounding may overshoot
        else:
            values = y[np.clip(np.searchsorted(x, scores, side="right") - 1, 0, len(x) - 1)]
        # np.interp over a single knot would turn NaN into a number.
        return np.where(np.isnan(scores), np.nan, values)


@dataclass(frozen=True, slots=True)
class Term:
    """``weight * (x - mean) / scale``, of x the log-odds of a probability.

    Raises:
        ValueError: if a number is not finite, or the scale not positive.
    """

    weight: float
    mean: float
    scale: float

    def __post_init__(self) -> None:
        if not np.isfinite([self.weight, self.mean, self.scale]).all() or self.scale <= 0:
            raise ValueError("a term needs finite numbers and a positive scale")

    def __call__(self, probabilities: FloatArray) -> FloatArray:
        """What it adds for each probability (n,); NaN stays NaN."""
        return self.weight * (log_odds(probabilities) - self.mean) / self.scale


@dataclass(frozen=True, slots=True)
class Logistic:
    """``floor + (1 - 2 floor) * sigmoid(intercept + weight * (score - mean) / scale + terms)``.

    Args:
        intercept: finite.
        weight: finite and not negative; 0: the curve is constant.
        mean: of the scores that the curve was fitted on.
        scale: positive.
        floor: in [0, 0.5): no value is nearer to 0 or 1.
        lowest: the lowest score of the fit; -inf counts as this score.
        contradiction: the term of the highest P(contradiction) of a passage, its weight not
            positive; None: not weighed.
        entailment: that of the highest P(entailment), its weight not negative.

    Raises:
        ValueError: if the numbers are not such a curve.
    """

    intercept: float
    weight: float
    mean: float
    scale: float
    floor: float
    lowest: float
    contradiction: Term | None = None
    entailment: Term | None = None

    def __post_init__(self) -> None:
        if not np.isfinite([getattr(self, name) for name in _NUMBERS]).all():
            raise ValueError("a logistic curve needs finite numbers")
        if self.weight < 0 or self.scale <= 0 or not 0 <= self.floor < 0.5:
            raise ValueError(
                "a logistic curve needs weight >= 0, scale > 0 and floor from 0 to below 0.5"
            )
        against, favour = self.contradiction, self.entailment
        if (against and against.weight > 0) or (favour and favour.weight < 0):
            raise ValueError("contradiction must not raise a logistic curve, nor entailment lower")

    def __call__(self, scores: FloatArray, nli: FloatArray | None = None) -> FloatArray:
        """Probability at each score (n,); NaN stays NaN.

        ``nli`` (n, 2) has P(contradiction) and P(entailment), for a curve that weighs them.
        """
        known = np.where(scores == -np.inf, self.lowest, scores)
        inner = self.intercept + self.weight * (known - self.mean) / self.scale
        for place, term in enumerate((self.contradiction, self.entailment)):
            if term is not None:
                inner = inner + term(_given(nli)[:, place])
        values: FloatArray = self.floor + (1 - 2 * self.floor) * sigmoid(inner)
        return values


_NUMBERS = ("intercept", "weight", "mean", "scale", "floor", "lowest")
_TERMS = ("contradiction", "entailment")


def _given(nli: FloatArray | None) -> FloatArray:
    if nli is None:
        raise ValueError("the curve weighs what the passages contradict and entail: give nli")
    return nli


def log_odds(probabilities: FloatArray) -> FloatArray:
    """``log(p / (1 - p))`` of each, with p at least ``LEAST`` from 0 and 1; NaN stays NaN."""
    inside = np.clip(probabilities, LEAST, 1 - LEAST)
    found: FloatArray = np.log(inside) - np.log1p(-inside)
    return found


def sigmoid(values: FloatArray) -> FloatArray:
    """``1 / (1 + exp(-value))`` of each; NaN stays NaN."""
    # Two forms: neither overflows in the range where it is used.
    small = np.exp(-np.abs(values))
    found: FloatArray = np.where(values >= 0, 1 / (1 + small), small / (1 + small))
    return found


def curve_from(name: str, value: object) -> Knots | Logistic | None:
    """A curve from its JSON value.

    Raises:
        ValueError: if its numbers are no such curve.
        TypeError: if a key is missing or unknown, as KeyError.
    """
    if value is None:
        return None
    stored = cast("Mapping[str, Any]", value)
    if "intercept" in stored:
        values: dict[str, Any] = {
            key: _term(name, value) if key in _TERMS else _number(name, value)
            for key, value in stored.items()
        }
        return Logistic(**values)
    x, y = ([_number(name, number) for number in stored[axis]] for axis in ("x", "y"))
    return Knots(tuple(x), tuple(y))


def _term(name: str, value: object) -> Term | None:
    if value is None:
        return None
    stored = cast("Mapping[str, Any]", value)
    return Term(**{key: _number(name, number) for key, number in stored.items()})


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"the numbers of {name} must be numbers")
    return float(value)
