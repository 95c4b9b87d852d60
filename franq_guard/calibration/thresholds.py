"""The threshold on P(true) that meets a wanted rate on labelled claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from franq_guard.franq import FloatArray

Goal = Literal["fpr", "precision", "kept"]

__all__ = ["Goal", "Threshold", "choose_threshold", "parse_goal"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A claim passes where P(true) >= ``value``. All rates are shares in [0, 1].

    ``fpr``: of the true claims, those held back (false alarms); ``caught``: of the false claims,
    those held back; ``precision``: of the claims that pass, those that are true (NaN where none
    passes); ``kept``: of all claims, those that pass.
    """

    value: float
    fpr: float
    caught: float
    precision: float
    kept: float


def parse_goal(text: str) -> tuple[Goal, float]:
    """``"fpr=0.1"`` as ("fpr", 0.1).

    Raises:
        ValueError: unless it is fpr, precision or kept with a share in [0, 1].
    """
    name, _, number = text.partition("=")
    try:
        wanted = float(number)
    except ValueError:
        wanted = -1.0
    if name not in get_args(Goal) or not 0 <= wanted <= 1:
        raise ValueError(f"want fpr=S, precision=S or kept=S with S in [0, 1], not {text!r}")
    return cast("Goal", name), wanted


def choose_threshold(
    is_true: ArrayLike, p_true: ArrayLike, *, goal: Goal, wanted: float
) -> Threshold:
    """The threshold that meets the goal at the least cost.

    ``fpr``: the highest one that holds back at most ``wanted`` of the true claims.
    ``precision``: the lowest one at which at least ``wanted`` of the passing claims are true.
    ``kept``: the highest one that lets at least ``wanted`` of all claims pass.

    Args:
        is_true: (n,) of 0/1, both present.
        p_true: (n,), out-of-sample P(true), no NaN.
        goal: which rate.
        wanted: the rate, in [0, 1].

    Raises:
        ValueError: where no threshold meets it, or one class is missing.
    """
    truth, p = np.asarray(is_true, bool), np.asarray(p_true, float)
    if truth.shape != p.shape or np.isnan(p).any() or truth.all() or not truth.any():
        raise ValueError("a threshold needs P(true) of both true and false claims, without NaN")
    options = [_rates(truth, p, value) for value in np.unique(p)]
    if goal == "precision":
        met = [t for t in options if t.precision >= wanted]
        if not met:
            best = max(t.precision for t in options)
            raise ValueError(f"no threshold reaches precision {wanted}; the best is {best:.3f}")
        return met[0]
    if goal == "fpr":
        return [t for t in options if t.fpr <= wanted][-1]
    return [t for t in options if t.kept >= wanted][-1]


def _rates(truth: NDArray[np.bool_], p: FloatArray, value: float) -> Threshold:
    passes = p >= value
    return Threshold(
        value=float(value),
        fpr=float(1 - passes[truth].mean()),
        caught=float(1 - passes[~truth].mean()),
        precision=float(truth[passes].mean()) if passes.any() else float("nan"),
        kept=float(passes.mean()),
    )
