"""From labelled claims to a stored calibrator with the figures it reached: ``franq calibrate``."""

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
from franq_guard.calibration.store import Calibration, Calibrator, Interpolation
from franq_guard.calibration.thresholds import choose_threshold, parse_goal
from franq_guard.franq import FloatArray
from franq_guard.records import Form

MIN_PER_CLASS = 20
"""Fewest true and fewest false claims a calibrator is fitted on."""
MIN_ANSWERS = 10
"""Fewest answers they must come from: claims of one answer stand or fall together."""
FOLDS = 5

__all__ = [
    "FOLDS",
    "MIN_ANSWERS",
    "MIN_PER_CLASS",
    "Labelled",
    "TooFewLabelsError",
    "figures",
    "fit_calibrator",
    "labelled",
    "out_of_fold",
]


class TooFewLabelsError(ValueError):
    """Not enough labels to calibrate on; says how many there are and how many it takes."""


class Labelled(NamedTuple):
    """Labelled claims: signals (n, 3), the others (n,); ``faithful`` None where not labelled."""

    signals: FloatArray
    is_true: FloatArray
    faithful: FloatArray | None
    groups: NDArray[np.int64]


def labelled(rows: Iterable[Mapping[str, Any]]) -> Labelled:
    """Rows as arrays.

    Args:
        rows: one per claim: ``p_faithful``, ``uq_faith``, ``uq_unfaith`` (numbers; None or absent
            where unknown), ``is_true`` (0/1), ``is_faithful`` (0/1, in all rows or in none),
            ``group`` (the answer it is from; absent: an answer of its own).

    Raises:
        ValueError: naming the row (from 1) and what is wrong with it.
    """
    table = list(rows)
    signals = np.full((len(table), 3), np.nan)
    labels = np.empty((len(table), 2))
    for i, row in enumerate(table):
        try:
            signals[i] = [_number(row.get(k)) for k in ("p_faithful", "uq_faith", "uq_unfaith")]
            labels[i] = _label(row, "is_true"), _label(row, "is_faithful", optional=True)
        except (TypeError, ValueError) as error:
            raise ValueError(f"row {i + 1}: {error}") from error
    gold = ~np.isnan(labels[:, 1])
    if gold.any() and not gold.all():
        raise ValueError(f"row {int(np.argmin(gold)) + 1}: is_faithful is in some rows only")
    names = [("group", str(row["group"])) if "group" in row else i for i, row in enumerate(table)]
    seen = {name: k for k, name in enumerate(dict.fromkeys(names))}
    groups = np.array([seen[name] for name in names], np.int64)
    return Labelled(signals, labels[:, 0], labels[:, 1] if gold.any() else None, groups)


def fit_calibrator(
    rows: Iterable[Mapping[str, Any]],
    *,
    calibration: Calibration = "condition",
    log_space: bool = True,
    interpolation: Interpolation = "linear",
    form: Form = "long",
    name: str = "custom",
    fingerprint: Mapping[str, Any] | None = None,
    threshold_for: str | None = None,
) -> Calibrator:
    """Fit on labelled claims, with figures measured on claims of answers left out of the fit.

    Args:
        rows: see :func:`labelled`.
        calibration: "condition", "global" or "none".
        log_space: the UQ columns are log-probabilities (long form).
        interpolation: of the curves.
        form: "long" or "short".
        name: of the calibrator.
        fingerprint: what the signals came from; training size, date and library versions are
            added where they are not given.
        threshold_for: "fpr=0.1", "precision=0.9" or "kept=0.8": the threshold on P(true) that meets
            it goes to ``figures["threshold"]`` (:mod:`franq_guard.calibration.thresholds`).

    Returns:
        The calibrator; :func:`figures` says what its figures are.

    Raises:
        TooFewLabelsError: with fewer than ``MIN_PER_CLASS`` true or false claims or fewer than
            ``MIN_ANSWERS`` answers.
        ValueError: on a row that cannot be used or a threshold that cannot be met.
    """
    goal = parse_goal(threshold_for) if threshold_for else None
    data = labelled(rows)
    _check_size(data)
    model = FranqClassifier(calibration, log_space=log_space, interpolation=interpolation)
    found = figures(data, p_true := out_of_fold(model, data))
    if goal:
        known = ~np.isnan(p_true)
        chosen = choose_threshold(data.is_true[known], p_true[known], goal=goal[0], wanted=goal[1])
        # The value itself stays exact: claims that tie with it must pass.
        rates = {**_rounded(dataclasses.asdict(chosen)), "value": chosen.value}
        found["threshold"] = {"goal": threshold_for, **rates}
    model.fit(data.signals, data.is_true, data.faithful)
    found["fallback"] = list(model.fallback_)
    known_for = {"form": form, "n_train": len(data.is_true), **_provenance(), **(fingerprint or {})}
    return model.to_calibrator(form=form, name=name, fingerprint=known_for, figures=found)


def out_of_fold(model: FranqClassifier, data: Labelled, *, folds: int = FOLDS) -> FloatArray:
    """P(true) of each claim (n,) by a fit that saw no claim of its answer.

    Answers are dealt to the folds at random (seed 0). NaN for a claim without signals, and for a
    fold whose remaining answers hold one class only.
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
    """What was reached, JSON-ready; None where a figure is not defined.

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


def _check_size(data: Labelled) -> None:
    true = int(data.is_true.sum())
    false, answers = len(data.is_true) - true, len(np.unique(data.groups))
    if min(true, false) < MIN_PER_CLASS or answers < MIN_ANSWERS:
        raise TooFewLabelsError(
            f"{true} true and {false} false claims from {answers} answers: calibration needs at "
            f"least {MIN_PER_CLASS} of each from {MIN_ANSWERS} answers. Label more answers, or run "
            "uncalibrated."
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
        except PackageNotFoundError:  # run from a source tree
            continue
    return {"date": datetime.now(UTC).date().isoformat(), "versions": versions}
