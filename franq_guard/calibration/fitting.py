"""The four ways to fit P(true) to labelled claims: the paper's three, and learned curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import numpy as np

from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.calibration.curves import Term, log_odds
from franq_guard.calibration.labels import Labelled
from franq_guard.calibration.mixture import MIN_EFFECTIVE, Branch, FranqMixture
from franq_guard.calibration.store import (
    FAITHFUL_RANGE,
    AnyCalibration,
    Calibrator,
    Interpolation,
    Logistic,
    stances_of,
)
from franq_guard.franq import FloatArray

__all__ = ["FEWEST", "Fit", "Fitted", "compared_ways", "fit_by", "learned"]

FEWEST = 5
"""With fewer true or false claims a condition takes the global curve, unless another number is
given."""


class Fitted(NamedTuple):
    """A fit: ``fallback`` names the branches with too few claims, ``not_done`` says what it means.

    Each sentence of ``not_done`` says what was not done and how many labels it needs.
    ``min_per_class``: the fewest that a condition needed; None where nothing hangs on it.
    """

    calibrator: Calibrator
    fallback: tuple[str, ...] = ()
    not_done: tuple[str, ...] = ()
    min_per_class: int | None = None


Fit = Callable[[Labelled], Fitted]
"""Fits a calibrator to claims, without name, figures or threshold."""


def fit_by(
    calibration: AnyCalibration,
    *,
    log_space: bool = True,
    interpolation: Interpolation = "linear",
    faithful_threshold: float = 0.5,
    min_per_class: int = FEWEST,
) -> Fit:
    """The fit of one calibration; ``min_per_class`` as for :class:`.FranqClassifier`."""
    if calibration == "learned":
        return lambda data: learned(data, log_space=log_space)
    made = FranqClassifier(
        calibration,
        log_space=log_space,
        interpolation=interpolation,
        faithful_threshold=faithful_threshold,
        min_per_class=min_per_class,
    )

    def fit(data: Labelled) -> Fitted:
        made.fit(data.signals, data.is_true, data.weights, faithful=data.faithful)
        notes = (_of_all(made, data, branch) for branch in made.fallback_)
        fewest = min_per_class if calibration == "condition" else None
        return Fitted(made.calibrator_, made.fallback_, tuple(notes), fewest)

    return fit


def compared_ways(*, min_per_class: int = FEWEST, **options: Any) -> dict[str, Fit]:
    """Every calibration by name, and "condition" once more: without the global curve, or with it.

    Args:
        min_per_class: of "condition"; its other row has 0, or the usual number if this is 0.
        options: the others of :func:`fit_by`.
    """
    ways: dict[str, Fit] = {}
    for way in get_args(AnyCalibration):
        ways[way] = fit_by(way, min_per_class=min_per_class, **options)
        if way == "condition":
            other = 0 if min_per_class else FEWEST
            name = "with fallback" if other else "no fallback"
            ways[f"{way}, {name}"] = fit_by(way, min_per_class=other, **options)
    return ways


def learned(data: Labelled, *, log_space: bool = True) -> Fitted:
    """Both uncertainties as logistic functions, fitted together.

    UQ_unfaith also weighs P(contradiction) and P(entailment), where they are known of all claims:
    a claim that no passage states is less likely true if one contradicts it.

    The slopes are fitted to all claims. If some are not of the model's own answers (their source is
    ``edit`` or ``public``), the level of P(true) is then fitted again to its own answers alone.
    A claim of weight 0 is as good as absent.

    Raises:
        ValueError: on labels of one class, if no claim has all signals, or no claim of a real
            answer has.
    """
    data = data.only(data.weights > 0)
    signals, lowest = _finite(data.signals)
    nli = log_odds(stances_of(data.signals[:, 0], data.nli))
    # More certainty must never lower P(true), nor contradiction raise it.
    model = FranqMixture(faith=(0,), unfaith=(1,), signs=(1, 1))
    if not np.isnan(nli).any():
        signals = np.column_stack([signals, nli])
        model = FranqMixture(faith=(0,), unfaith=(1, 2, 3), signs=(1, 1, -1, 1))
    model.fit(signals, data.is_true, data.weights, groups=data.groups)
    if (real := data.real).any() and not real.all():
        model.relevel(signals[real], data.is_true[real], data.weights[real])
    calibrator = Calibrator(
        calibration="learned",
        log_space=log_space,
        faith=_curve(model.faith_, model.floor_, lowest[0]),
        unfaith=_curve(model.unfaith_, model.floor_, lowest[1]),
    )
    branches = (("faith", model.faith_), ("unfaith", model.unfaith_))
    fallback = tuple(name for name, branch in branches if not branch.columns)
    return Fitted(calibrator, fallback, tuple(_constant(data, name) for name in fallback))


def _finite(signals: FloatArray) -> tuple[FloatArray, list[float]]:
    """The signals with -inf as the lowest finite score of its column, and the two lowest scores."""
    found, lowest = signals.copy(), []
    for column in (1, 2):
        scores = found[:, column]
        finite = scores[np.isfinite(scores)]
        lowest.append(float(finite.min()) if len(finite) else 0.0)
        scores[scores == -np.inf] = lowest[-1]
    return found, lowest


def _curve(branch: Branch, floor: float, lowest: float) -> Logistic:
    if not branch.columns:
        return Logistic(branch.intercept, 0.0, 0.0, 1.0, floor, lowest)
    own, *terms = zip(branch.weights, branch.mean, branch.scale, strict=True)
    against, favour = (Term(*term) for term in terms) if terms else (None, None)
    return Logistic(branch.intercept, *own, floor, lowest, against, favour)


def _of_all(made: FranqClassifier, data: Labelled, branch: str) -> str:
    p, of_faithful = data.signals[:, 0], branch == "faith"
    if data.faithful is not None:
        chosen = (data.faithful == 1) == of_faithful
    else:  # NaN is in neither
        chosen = p > made.faithful_threshold if of_faithful else p <= made.faithful_threshold
    chosen = chosen & ~np.isnan(data.signals[:, 1 if of_faithful else 2])
    kind = "faithful" if of_faithful else "other"
    true, false = _true_and_false(data.weights[chosen], data.is_true[chosen])
    weighted = ", by weight," if (data.weights != 1).any() else ""
    if made.min_per_class == 0:
        none = "no faithful one" if of_faithful else "no other one"
        return f"the curve of UQ_{branch} was fitted to all claims: there is {none} with a score"
    return (
        f"the curve of UQ_{branch} was fitted to all claims: of the {kind} ones{weighted} {true:g} "
        f"are true and {false:g} false, {made.min_per_class} of each are needed"
    )


def _constant(data: Labelled, branch: str) -> str:
    known = ~np.isnan(data.signals).any(axis=1)
    p = np.clip(data.signals[known, 0], *FAITHFUL_RANGE)
    weight = data.weights[known] * (p if branch == "faith" else 1 - p)
    true, false = _true_and_false(weight, data.is_true[known])
    by = "P(faithful)" if branch == "faith" else "1 - P(faithful)"
    return (
        f"UQ_{branch} is constant: a slope needs {MIN_EFFECTIVE} true and {MIN_EFFECTIVE} false "
        f"claims, weighted by {by}; there are {true:.1f} and {false:.1f}"
    )


def _true_and_false(weight: FloatArray, is_true: FloatArray) -> tuple[float, float]:
    """The weights of the true claims summed, and those of the false ones."""
    return float(weight @ is_true), float(weight @ (1 - is_true))
