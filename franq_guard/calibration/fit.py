"""Fits a calibrator to labelled claims and measures its quality: ``franq calibrate``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from franq_guard import metrics
from franq_guard.calibration.fitting import FEWEST, Fit, compared_ways, fit_by
from franq_guard.calibration.labels import Labelled, labelled, p_true_of
from franq_guard.calibration.promise import PromiseRefusedError, check_enough
from franq_guard.calibration.store import AnyCalibration, Calibrator, Interpolation
from franq_guard.calibration.thresholds import promised_threshold, sets_the_threshold
from franq_guard.calibration.unsupported import (
    MIN_UNSUPPORTED,
    flagged_always,
    to_promise,
    with_unsupported,
)
from franq_guard.franq import FloatArray
from franq_guard.label_rule import LabelRule
from franq_guard.records import Form

About = Literal["true", "stated"]
MIN_PER_CLASS = 5
"""Fewest true and fewest false claims a calibrator is fitted on: one for each fold."""
FEW_PER_CLASS = 20
"""With fewer of either, ``franq calibrate`` warns and says how wide the figures' errors are."""
MIN_ANSWERS = 10
"""Fewest answers they must come from: claims of one answer are not independent."""
MIN_REAL = 30
"""Fewest labels of real answers that set the level of P(true), if edits are used, too."""
FOLDS = 5
ABOUT: Mapping[About, str] = {
    "true": "true claims",
    "stated": "true claims that the passages state",
}
"""What a promise can be about, and its name in the calibrator."""

__all__ = [
    "ABOUT",
    "FEW_PER_CLASS",
    "FOLDS",
    "MIN_ANSWERS",
    "MIN_PER_CLASS",
    "MIN_REAL",
    "MIN_UNSUPPORTED",
    "Labelled",
    "TooFewLabelsError",
    "check_labels",
    "figures",
    "fit_calibrator",
    "flagged_always",
    "kept_for_threshold",
    "labelled",
    "out_of_fold",
]


_METRICS: Mapping[str, Callable[[FloatArray, FloatArray], float]] = {
    "auroc": metrics.auroc,
    "pr_auc": metrics.pr_auc,
    "prr": metrics.prr,
    "ece": metrics.ece,
    "brier": metrics.brier,
}


class TooFewLabelsError(ValueError):
    """Too few labels to calibrate on; the message says how many there are and are needed."""


def check_labels(
    rows: Iterable[Mapping[str, Any]],
    *,
    calibration: AnyCalibration = "condition",
    weights: Mapping[str, float] | None = None,
    at_most_flagged: float | None = None,
    confidence: float = 0.9,
    about: About = "true",
) -> int:
    """Reject labels that are too few, before time is spent on scoring.

    Returns how many answers with a claim that should pass set the threshold; 0 without a promise.
    The arguments are those of :func:`fit_calibrator`; of each row ``is_true``, ``group`` and
    ``source`` are enough.

    Raises:
        TooFewLabelsError: too few claims or answers to fit on.
        PromiseRefusedError: too few answers with a true claim for the promise.
    """
    data = labelled(rows, weights)
    kept = _halves(data, calibration, promise=at_most_flagged is not None)[1]
    if at_most_flagged is None:
        return 0
    drawn = len(np.unique(kept.groups[kept.trusted & (passing(kept, about) == 1)]))
    try:
        check_enough(drawn, at_most_flagged, 1 - confidence, of=ABOUT[about])
    except PromiseRefusedError as error:
        raise _of_half(error, kept) from None
    return drawn


def fit_calibrator(
    rows: Iterable[Mapping[str, Any]],
    *,
    calibration: AnyCalibration = "condition",
    log_space: bool = True,
    interpolation: Interpolation = "linear",
    form: Form = "long",
    faithful_threshold: float = 0.5,
    name: str = "custom",
    fingerprint: Mapping[str, Any] | None = None,
    at_most_flagged: float | None = None,
    confidence: float = 0.9,
    about: About = "true",
    source: str = "labelled rows",
    weights: Mapping[str, float] | None = None,
    min_per_class: int = FEWEST,
    compare: bool = False,
    rule: LabelRule | None = None,
) -> Calibrator:
    """Fit on labelled claims; the figures are cross-validated over whole answers.

    With ``at_most_flagged`` half of the answers (by a hash of their names) set the threshold alone.

    Args:
        rows: see :func:`labelled`.
        calibration: "condition", "global" or "none" (the paper's), or "learned".
        log_space: the UQ columns are log-probabilities (long form).
        interpolation: of the curves.
        form: "long" or "short".
        faithful_threshold: P(faithful) above which a claim counts as faithful, in labels, too.
        name: of the calibrator.
        fingerprint: models and settings of the signals; size, date and versions are added.
        at_most_flagged: largest share of the true claims that may be flagged; None: no promise.
        confidence: the confidence of that promise.
        about: whether the promise is about all true claims or those that the passages state.
        source: a name for the labelled data, stored with the promise.
        weights: in the fit, by source ("judge:NAME") or kind ("judge"); 0: in the figures alone.
        min_per_class: fewest true and false claims of a condition's own curve; 0: the paper's rule.
        compare: also measure the other calibrations on the same claims.
        rule: numbers of the labels besides a promise's threshold; None: ``faithful_threshold``.

    Raises:
        TooFewLabelsError: fewer than ``MIN_PER_CLASS`` measured of a label, or ``MIN_ANSWERS``.
        PromiseRefusedError: the claims kept for the threshold do not allow the promise.
        ValueError: on a row that cannot be used.
    """
    data, alpha = labelled(rows, weights), at_most_flagged
    fitted_on, kept = _halves(data, calibration, promise=alpha is not None)
    options: dict[str, Any] = {"log_space": log_space, "interpolation": interpolation}
    options |= {"faithful_threshold": faithful_threshold, "min_per_class": min_per_class}
    made, p_true = _fitted(fitted_on, calibration, options, compare=compare)
    rule = rule or LabelRule(supported_from=faithful_threshold)
    known = {**_provenance(form, fitted_on), **(fingerprint or {})}
    made = dataclasses.replace(made, form=form, name=name, fingerprint=known)
    if alpha is None:
        return dataclasses.replace(made, labels=with_unsupported(fitted_on, p_true, rule))
    rule, tried = to_promise(fitted_on, p_true, rule, passing(fitted_on, about) == 1)
    kept = kept.only(kept.trusted & ~np.isnan(passing(kept, about)))
    made, delta = dataclasses.replace(made, labels=rule), round(1 - confidence, 12)
    return _promised(made, kept, source, about=about, alpha=alpha, delta=delta, options=tried)


def _fitted(
    data: Labelled, calibration: AnyCalibration, options: Mapping[str, Any], *, compare: bool
) -> tuple[Calibrator, FloatArray]:
    """The fit with its figures (those of other fits, to compare), and P(true) (n,) out of fold."""
    _check_measured(data)
    fit = fit_by(calibration, **options)
    p_true = out_of_fold(fit, data)
    fitted, found = fit(data), _measured(data, p_true)
    found |= {"fallback": list(fitted.fallback), "not_done": list(fitted.not_done)}
    found |= {} if fitted.min_per_class is None else {"min_per_class": fitted.min_per_class}
    if compare:
        found["compared"] = _compared(compared_ways(**options), data)
    return dataclasses.replace(fitted.calibrator, figures=found), p_true


def passing(data: Labelled, about: About) -> FloatArray:
    """Which claims (n,) a promise wants unflagged: 1; the others 0, NaN where that is not known."""
    return data.is_true if about == "true" else data.stated


def kept_for_threshold(data: Labelled) -> NDArray[np.bool_]:
    """The claims (n,) that set a promise's threshold: those of half of the trusted answers."""
    trusted, names = {*data.answers[data.trusted].tolist()}, data.answers.tolist()
    return np.array([name in trusted and sets_the_threshold(name) for name in names], bool)


def _halves(
    data: Labelled, calibration: AnyCalibration, *, promise: bool
) -> tuple[Labelled, Labelled]:
    """The claims to fit on, and those that set a promise's threshold.

    Raises:
        TooFewLabelsError: too few are left to fit on.
    """
    kept = kept_for_threshold(data) if promise else np.zeros(len(data.is_true), bool)
    fitted_on = data.only(~kept)
    _check_size(fitted_on, kept=len(np.unique(data.groups[kept])))
    if calibration == "learned":
        _check_real(fitted_on.only(fitted_on.weights > 0))
    return fitted_on, data.only(kept)


def _promised(
    made: Calibrator,
    data: Labelled,
    source: str,
    *,
    alpha: float,
    delta: float,
    about: About,
    options: FloatArray | None,
) -> Calibrator:
    """The calibrator with the threshold set on these claims, which were not used to fit it."""
    rule = made.labels
    try:
        found = promised_threshold(
            passing(data, about),
            p_true_of(data, made),
            answers=data.answers.tolist(),
            always=flagged_always(data, rule),
            options=options,
            alpha=alpha,
            delta=delta,
            of=ABOUT[about],
        )
    except PromiseRefusedError as error:
        raise _of_half(error, data) from None
    below = None if rule.false_below is None else min(rule.false_below, found.value)
    labels = dataclasses.replace(rule, threshold=found.value, false_below=below)
    promise = found.to_dict(of=ABOUT[about], data=source)
    return dataclasses.replace(made, labels=labels, promise=promise)


def _of_half(error: PromiseRefusedError, kept: Labelled) -> PromiseRefusedError:
    """The error, with the number of answers that were available to set the threshold."""
    return PromiseRefusedError(
        f"{error}. Half of the labelled answers (by a hash of their ids) set the threshold: "
        f"{len(np.unique(kept.groups))} of yours"
    )


def out_of_fold(fit: Fit, data: Labelled) -> FloatArray:
    """P(true) of each claim (n,), from a fit without any claim of the same answer.

    Answers are assigned to the folds at random (seed 0). The value is NaN for a claim without
    signals, and for all claims of a fold if the other folds contain only one class.
    """
    answers = np.unique(data.groups)
    fold_of = np.random.default_rng(0).permutation(len(answers)) % FOLDS
    fold = fold_of[np.searchsorted(answers, data.groups)]
    p_true = np.full(len(fold), np.nan)
    for held in range(min(FOLDS, len(answers))):
        seen, out = fold != held, fold == held
        if len(np.unique(data.is_true[seen & (data.weights > 0)])) > 1:
            p_true[out] = p_true_of(data.only(out), fit(data.only(seen)).calibrator)
    return p_true


def _measured(data: Labelled, p_true: FloatArray) -> dict[str, Any]:
    """:func:`figures` of the claims of real answers, and of each source of labels."""
    found = figures(data.only(data.judged), p_true[data.judged])
    names = [name for name in np.unique(data.sources).tolist() if name]
    found["sources"] = {
        name: _of_source(data.only(own := data.sources == name), p_true[own]) for name in names
    }
    return found


def _of_source(data: Labelled, p_true: FloatArray) -> dict[str, Any]:
    known = ~np.isnan(p_true)
    truth, p = data.is_true[known], p_true[known]
    return {
        "n": len(data.is_true),
        "weight": float(data.weights[0]),
        "share_true": _rounded(float(data.is_true.mean())),
        "auroc": _rounded(metrics.auroc(truth, p)),
        "ece": _rounded(metrics.ece(truth, p)),
    }


def _compared(ways: Mapping[str, Fit], data: Labelled) -> dict[str, Any]:
    """The quality of every calibration on claims it did not see, or why there is none."""
    found: dict[str, Any] = {}
    judged = data.judged
    for way, fit in ways.items():
        try:
            p_all = out_of_fold(fit, data)[judged]
        except ValueError as error:
            found[way] = str(error)
            continue
        known = ~np.isnan(p_all)
        truth, p = data.is_true[judged][known], p_all[known]
        found[way] = {name: _rounded(metric(truth, p)) for name, metric in _METRICS.items()}
    return found


def figures(data: Labelled, p_true: FloatArray) -> dict[str, Any]:
    """The calibrator's quality measures, JSON-ready; None where a figure is not defined.

    ``auroc``, ``pr_auc`` (false claims positive), ``prr`` (rejection up to 0.5), ``ece``,
    ``brier``, each with ``_se`` (bootstrap over answers); ``n``, ``answers``, ``share_true``,
    ``unscored`` (claims without P(true), left out); ``reliability``: claims, mean confidence and
    share of true claims in ten equal bins.
    """
    known = ~np.isnan(p_true)
    truth, p, groups = data.is_true[known], p_true[known], data.groups[known]
    found: dict[str, Any] = {
        "n": len(data.is_true),
        "answers": len(np.unique(data.groups)),
        "share_true": float(data.is_true.mean()),
        "unscored": int((~known).sum()),
        "cross_validation": f"{FOLDS} folds of whole answers",
    }
    for key, metric in _METRICS.items():
        found[key] = metric(truth, p)
        found[f"{key}_se"] = metrics.bootstrap_se(metric, truth, p, groups=groups, resamples=200)
    table = metrics.reliability(truth, p)
    found["reliability"] = {
        "claims": table.claims.tolist(),
        "confidence": [_rounded(v) for v in table.confidence.tolist()],
        "share_true": [_rounded(v) for v in table.share_true.tolist()],
    }
    return {key: _rounded(value) for key, value in found.items()}


def _check_size(data: Labelled, *, kept: int) -> None:
    """Reject too few labels; ``kept``: how many answers set a threshold instead."""
    left_out = int((data.weights == 0).sum())
    data = data.only(data.weights > 0)
    true = int(data.is_true.sum())
    false, answers = len(data.is_true) - true, len(np.unique(data.groups))
    if min(true, false) < MIN_PER_CLASS or answers < MIN_ANSWERS:
        aside = f", {kept} others being kept for the threshold" if kept else ""
        aside += f", {left_out} claims of weight 0 not counted" if left_out else ""
        raise TooFewLabelsError(
            f"{true} true and {false} false claims from {answers} answers{aside}: calibration "
            f"needs at least {MIN_PER_CLASS} of each from {MIN_ANSWERS} answers. Label more "
            "answers; until then use the shipped calibrator."
        )


def _check_measured(data: Labelled) -> None:
    """Reject claims of which too few have signals: the curves would be constants."""
    p, faith, unfaith = data.signals.T
    missing = np.isnan(p) | (np.isnan(faith) & (p > 0)) | (np.isnan(unfaith) & (p < 1))
    is_true = data.is_true[~missing & (data.weights > 0)]
    true = int(is_true.sum())
    if min(true, len(is_true) - true) < MIN_PER_CLASS:
        raise TooFewLabelsError(
            f"{missing.sum()} of {len(p)} claims have a signal missing; of the others {true} are "
            f"true and {len(is_true) - true} false: calibration needs at least {MIN_PER_CLASS} each"
        )


def _check_real(data: Labelled) -> None:
    """Reject too few labels of real answers, which set the level of learned curves."""
    real = int(data.real.sum())
    if real < min(MIN_REAL, len(data.real)):
        raise TooFewLabelsError(
            f"{real} labels of real answers: the level of P(true) needs {MIN_REAL}, because how "
            "often a model is wrong does not show in statements made for the fit"
        )


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    if isinstance(value, float):
        return round(value, 6) if np.isfinite(value) else None
    return value


def _provenance(form: Form, data: Labelled) -> dict[str, Any]:
    versions = {}
    for package in ("franq-guard", "scikit-learn", "numpy"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue  # not installed: run from the source tree
    date = datetime.now(UTC).date().isoformat()
    return {"form": form, "n_train": len(data.is_true), "date": date, "versions": versions}
