"""Fits a calibrator to labelled claims and measures its quality: ``franq calibrate``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franq_guard import metrics
from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.calibration.promise import PromiseRefusedError
from franq_guard.calibration.store import Calibration, Calibrator, Interpolation
from franq_guard.calibration.thresholds import (
    check_enough,
    promised_threshold,
    sets_the_threshold,
)
from franq_guard.franq import FloatArray
from franq_guard.label_rule import LabelRule
from franq_guard.records import Form

MIN_PER_CLASS = 5
"""Fewest true and fewest false claims a calibrator is fitted on: one for each fold."""
FEW_PER_CLASS = 20
"""With fewer of either, ``franq calibrate`` warns and says how wide the figures' errors are."""
MIN_ANSWERS = 10
"""Fewest answers they must come from: claims of one answer are not independent."""
MIN_UNSUPPORTED = 10
"""Fewest unsupported claims needed to conclude that such claims are mostly true."""
FOLDS = 5

__all__ = [
    "FEW_PER_CLASS",
    "FOLDS",
    "MIN_ANSWERS",
    "MIN_PER_CLASS",
    "MIN_UNSUPPORTED",
    "Labelled",
    "TooFewLabelsError",
    "check_labels",
    "figures",
    "fit_calibrator",
    "flagged_always",
    "labelled",
    "out_of_fold",
]


class TooFewLabelsError(ValueError):
    """Too few labels to calibrate on; the message says how many there are and are needed."""


class Labelled(NamedTuple):
    """Labelled claims: signals (n, 3), the others (n,); ``faithful`` None where not labelled.

    ``groups`` are the numbers of the answers, ``answers`` their names. ``nli`` (n, 2) is the
    highest P(contradiction) and P(entailment) of any passage, NaN where unknown. ``trusted``:
    whether a promise may be based on the label.
    """

    signals: FloatArray
    is_true: FloatArray
    faithful: FloatArray | None
    groups: NDArray[np.int64]
    answers: NDArray[np.str_]
    nli: FloatArray
    trusted: NDArray[np.bool_]

    def only(self, chosen: NDArray[np.bool_]) -> Labelled:
        """The chosen claims (n,)."""
        return Labelled(
            signals=self.signals[chosen],
            is_true=self.is_true[chosen],
            faithful=None if self.faithful is None else self.faithful[chosen],
            groups=self.groups[chosen],
            answers=self.answers[chosen],
            nli=self.nli[chosen],
            trusted=self.trusted[chosen],
        )


def labelled(rows: Iterable[Mapping[str, Any]]) -> Labelled:
    """Rows as arrays.

    Args:
        rows: one per claim: ``p_faithful``, ``uq_faith``, ``uq_unfaith`` (numbers; None or absent
            where unknown), ``is_true`` (0/1), ``is_faithful`` (0/1, in all rows or in none),
            ``group`` (the answer it is from; absent: an answer of its own); ``contradiction`` and
            ``entailment`` (numbers; absent where unknown); ``trusted`` (false: no promise is based
            on the label; absent: true).

    Raises:
        ValueError: naming the row (from 1) and what is wrong with it.
    """
    table = list(rows)
    signals = np.full((len(table), 3), np.nan)
    labels, nli = np.empty((len(table), 2)), np.full((len(table), 2), np.nan)
    for i, row in enumerate(table):
        try:
            signals[i] = [_number(row.get(k)) for k in ("p_faithful", "uq_faith", "uq_unfaith")]
            nli[i] = [_number(row.get(k)) for k in ("contradiction", "entailment")]
            labels[i] = _label(row, "is_true"), _label(row, "is_faithful", optional=True)
        except (TypeError, ValueError) as error:
            raise ValueError(f"row {i + 1}: {error}") from error
    gold = ~np.isnan(labels[:, 1])
    if gold.any() and not gold.all():
        raise ValueError(f"row {int(np.argmin(gold)) + 1}: is_faithful is in some rows only")
    names = [f"={row['group']}" if "group" in row else f"row {i}" for i, row in enumerate(table)]
    seen = {name: k for k, name in enumerate(dict.fromkeys(names))}
    groups = np.array([seen[name] for name in names], np.int64)
    faithful = labels[:, 1] if gold.any() else None
    trusted = np.array([row.get("trusted", True) is not False for row in table], bool)
    return Labelled(signals, labels[:, 0], faithful, groups, np.array(names, np.str_), nli, trusted)


def check_labels(
    rows: Iterable[Mapping[str, Any]],
    *,
    at_most_flagged: float | None = None,
    confidence: float = 0.9,
) -> None:
    """Reject labels that are too few, before time is spent on scoring.

    Args:
        rows: ``is_true`` and ``group`` of each claim, as for :func:`fit_calibrator`.
        at_most_flagged: as for :func:`fit_calibrator`.
        confidence: as for :func:`fit_calibrator`.

    Raises:
        TooFewLabelsError: too few claims or answers to fit on.
        PromiseRefusedError: too few answers with a true claim for the promise.
    """
    data = labelled(rows)
    kept = _kept(data, at_most_flagged is not None)
    _check_size(data.only(~kept), kept=len(np.unique(data.groups[kept])))
    if at_most_flagged is not None:
        drawn = len(np.unique(data.groups[kept & data.trusted & (data.is_true == 1)]))
        try:
            check_enough(drawn, at_most_flagged, 1 - confidence)
        except PromiseRefusedError as error:
            raise _of_half(error, data.only(kept)) from None


def fit_calibrator(
    rows: Iterable[Mapping[str, Any]],
    *,
    calibration: Calibration = "condition",
    log_space: bool = True,
    interpolation: Interpolation = "linear",
    form: Form = "long",
    faithful_threshold: float = 0.5,
    name: str = "custom",
    fingerprint: Mapping[str, Any] | None = None,
    at_most_flagged: float | None = None,
    confidence: float = 0.9,
    source: str = "labelled rows",
) -> Calibrator:
    """Fit on labelled claims; the figures are cross-validated over whole answers.

    With ``at_most_flagged``, half of the answers (chosen by a hash of their names) are kept out of
    the fit and its figures. They are used to set the threshold; nothing is fitted afterwards.

    Args:
        rows: see :func:`labelled`.
        calibration: "condition", "global" or "none".
        interpolation: of the curves.
        form: "long" or "short".
        log_space: the UQ columns are log-probabilities (long form).
        faithful_threshold: P(faithful) above which a claim counts as faithful.
        name: of the calibrator.
        fingerprint: the models and settings that produced the signals; training size, date and
            library versions are added if they are missing.
        at_most_flagged: largest share of the true claims that may be flagged; None: no promise.
        confidence: the confidence of that promise.
        source: a name for the labelled data, stored with the promise.

    Returns:
        The calibrator. :func:`figures` documents its figures and
        :mod:`franq_guard.calibration.thresholds` its ``promise``.

    Raises:
        TooFewLabelsError: with fewer than ``MIN_PER_CLASS`` of a label or ``MIN_ANSWERS`` answers.
        PromiseRefusedError: the claims kept for the threshold do not allow the promise.
        ValueError: on a row that cannot be used.
    """
    data = labelled(rows)
    kept = _kept(data, at_most_flagged is not None)
    fitted_on = data.only(~kept)
    _check_size(fitted_on, kept=len(np.unique(data.groups[kept])))
    options: dict[str, Any] = {"log_space": log_space, "interpolation": interpolation}
    model = FranqClassifier(calibration, faithful_threshold=faithful_threshold, **options)
    found = figures(fitted_on, p_true := out_of_fold(model, fitted_on))
    model.fit(fitted_on.signals, fitted_on.is_true, fitted_on.faithful)
    found["fallback"] = list(model.fallback_)
    known_for = {"form": form, "n_train": found["n"], **_provenance(), **(fingerprint or {})}
    made = model.to_calibrator(form=form, name=name, fingerprint=known_for, figures=found)
    made = dataclasses.replace(made, labels=_label_rule(fitted_on, p_true))
    if at_most_flagged is None:
        return made
    delta = round(1 - confidence, 12)
    return _promised(
        made, data.only(kept & data.trusted), source, alpha=at_most_flagged, delta=delta
    )


def _kept(data: Labelled, promise: bool) -> NDArray[np.bool_]:
    """The claims (n,) kept out of the fit: those of half the answers with trusted labels."""
    trusted = {*data.answers[data.trusted].tolist()} if promise else set()
    return np.array([a in trusted and sets_the_threshold(a) for a in data.answers.tolist()], bool)


def _label_rule(data: Labelled, p_true: FloatArray) -> LabelRule:
    """The labelling rule; it depends on whether most unsupported claims that pass are true."""
    rule = LabelRule()
    passing = (data.signals[:, 0] <= rule.supported_from) & (p_true >= rule.threshold)
    shown = passing.sum() >= MIN_UNSUPPORTED and data.is_true[passing].mean() > 0.5
    return dataclasses.replace(rule, unsupported_true=bool(shown))


def _promised(
    made: Calibrator, data: Labelled, source: str, *, alpha: float, delta: float
) -> Calibrator:
    """The calibrator with the threshold set on these claims, which were not used to fit it."""
    rule = made.labels
    try:
        found = promised_threshold(
            data.is_true,
            made.apply(*data.signals.T)[0],
            answers=data.answers.tolist(),
            always=flagged_always(data, rule),
            alpha=alpha,
            delta=delta,
        )
    except PromiseRefusedError as error:
        raise _of_half(error, data) from None
    below = None if rule.false_below is None else min(rule.false_below, found.value)
    labels = dataclasses.replace(rule, threshold=found.value, false_below=below)
    promise = found.to_dict(of="true claims", data=source)
    return dataclasses.replace(made, labels=labels, promise=promise)


def flagged_always(data: Labelled, rule: LabelRule) -> NDArray[np.bool_]:
    """The claims (n,) flagged whatever their P(true): unsupported, or passages disagree."""
    unsupported = ~(data.signals[:, 0] > rule.supported_from) & (not rule.unsupported_true)
    conflict = np.array([rule.conflict(*of_claim) for of_claim in data.nli.tolist()], bool)
    flagged: NDArray[np.bool_] = unsupported | conflict
    return flagged


def _of_half(error: PromiseRefusedError, kept: Labelled) -> PromiseRefusedError:
    """The error, with the number of answers that were available to set the threshold."""
    return PromiseRefusedError(
        f"{error}. Half of the labelled answers (by a hash of their ids) set the threshold: "
        f"{len(np.unique(kept.groups))} of yours"
    )


def out_of_fold(model: FranqClassifier, data: Labelled, *, folds: int = FOLDS) -> FloatArray:
    """P(true) of each claim (n,), from a fit without any claim of the same answer.

    Answers are assigned to the folds at random (seed 0). The value is NaN for a claim without
    signals, and for all claims of a fold if the other folds contain only one class.
    """
    from sklearn.base import clone

    answers = np.unique(data.groups)
    fold_of = np.random.default_rng(0).permutation(len(answers)) % folds
    fold = fold_of[np.searchsorted(answers, data.groups)]
    p_true = np.full(len(fold), np.nan)
    for held in range(min(folds, len(answers))):
        seen, out = fold != held, fold == held
        if np.ptp(data.is_true[seen]) == 0:
            continue
        gold = None if data.faithful is None else data.faithful[seen]
        fitted = clone(model).fit(data.signals[seen], data.is_true[seen], gold)
        p_true[out] = fitted.predict_proba(data.signals[out])[:, 1]
    return p_true


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
    named: dict[str, Callable[[FloatArray, FloatArray], float]] = {
        "auroc": metrics.auroc,
        "pr_auc": metrics.pr_auc,
        "prr": metrics.prr,
        "ece": metrics.ece,
        "brier": metrics.brier,
    }
    for key, metric in named.items():
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
    true = int(data.is_true.sum())
    false, answers = len(data.is_true) - true, len(np.unique(data.groups))
    if min(true, false) < MIN_PER_CLASS or answers < MIN_ANSWERS:
        aside = f", {kept} others being kept for the threshold" if kept else ""
        raise TooFewLabelsError(
            f"{true} true and {false} false claims from {answers} answers{aside}: calibration "
            f"needs at least {MIN_PER_CLASS} of each from {MIN_ANSWERS} answers. Label more "
            "answers, or run uncalibrated."
        )


def _number(value: object) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _label(row: Mapping[str, Any], key: str, *, optional: bool = False) -> float:
    value = row.get(key)
    if value is None and optional:
        return float("nan")
    if value not in (0, 1):
        raise ValueError(f"{key} must be 0 or 1 (or false, true), not {value!r}")
    return float(value)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    if isinstance(value, float):
        return round(value, 6) if np.isfinite(value) else None
    return value


def _provenance() -> dict[str, Any]:
    versions = {}
    for package in ("franq-guard", "scikit-learn", "numpy"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # not installed: run from the source tree
            continue
    return {"date": datetime.now(UTC).date().isoformat(), "versions": versions}
