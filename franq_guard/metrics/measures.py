"""How well confidences separate true from false claims, and how well they are calibrated.

Every metric takes ``is_true`` (n,) of 0/1 and ``confidence`` (n,), higher = more likely true.
With tied confidences no metric depends on the order of the rows. Rank metrics accept infinite
confidences. NaN raises an error: leaving out claims would compare methods on different claims.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from franq_guard.franq import FloatArray

Metric = Callable[[FloatArray, FloatArray], float]

__all__ = [
    "Reliability",
    "aurc",
    "auroc",
    "bootstrap_se",
    "brier",
    "ece",
    "pr_auc",
    "precision_recall",
    "prr",
    "prr_raw",
    "reliability",
    "risk_coverage",
]


def auroc(is_true: ArrayLike, confidence: ArrayLike) -> float:
    """Area under the ROC curve: P(a true claim scores above a false one), a tie counting half.

    Returns:
        A value in [0, 1]; NaN where all claims are true or all are false.
    """
    true, score = _checked(is_true, confidence, binary=True)
    positives = float(true.sum())
    negatives = len(true) - positives
    if not positives or not negatives:
        return float("nan")
    group, count = _ties(score)
    rank = np.cumsum(count) - (count - 1) / 2
    wins = float(rank[group] @ true) - positives * (positives + 1) / 2
    return wins / (positives * negatives)


def pr_auc(is_true: ArrayLike, confidence: ArrayLike) -> float:
    """Average precision with FALSE claims as the positive class, scored by low confidence.

    Sum over thresholds of (gain in recall) * precision, defined as scikit-learn's
    ``average_precision_score(1 - is_true, -confidence)``: tied claims share one threshold, so their
    order does not matter. A random score gives the share of false claims.

    Returns:
        A value in (0, 1]; NaN where no claim is false.
    """
    precision, recall = precision_recall(is_true, confidence)
    return float(np.diff(recall, prepend=0.0) @ precision) if len(recall) else float("nan")


def precision_recall(is_true: ArrayLike, confidence: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Precision and recall of calling the least confident claims false, at every threshold.

    Returns:
        precision (k,) and recall (k,), one entry per distinct confidence, recall increasing to 1;
        both are empty if no claim is false.
    """
    true, score = _checked(is_true, confidence, binary=True)
    group, count = _ties(score)
    caught = np.cumsum(np.bincount(group, weights=1 - true, minlength=len(count)))
    if not len(caught) or not caught[-1]:
        return np.empty(0), np.empty(0)
    return caught / np.cumsum(count), caught / caught[-1]


def prr(is_true: ArrayLike, confidence: ArrayLike, *, max_rejection: float = 0.5) -> float:
    """Prediction-rejection ratio: (area - random) / (oracle - random), arXiv 2406.15627.

    The area is :func:`prr_raw`; the oracle rejects the worst claims first. For a random order the
    expected quality is the mean quality, however many are rejected, so no shuffling is needed.

    Args:
        is_true: (n,) of 0/1, or any finite quality, higher = better; scaled to 0..1.
        confidence: (n,).
        max_rejection: largest share rejected, in (0, 1].

    Returns:
        1 for the oracle, 0 for random, below 0 for worse than random; NaN if all qualities are
        equal or ``max_rejection`` rejects nothing (n too small).

    Raises:
        ValueError: on shapes that differ, NaN, or ``max_rejection`` outside (0, 1].
    """
    quality, score = _checked(is_true, confidence, binary=False)
    area = prr_raw(quality, score, max_rejection=max_rejection)
    oracle = prr_raw(quality, quality, max_rejection=max_rejection)
    random = float(_scaled(quality).mean()) if len(quality) else float("nan")
    # Apart from rounding, the two are equal only if all qualities are, or if none is rejected.
    return (area - random) / (oracle - random) if oracle - random > 1e-12 else float("nan")


def prr_raw(is_true: ArrayLike, confidence: ArrayLike, *, max_rejection: float = 0.5) -> float:
    """Mean quality of the claims kept, averaged over rejecting 0 .. R-1, R = int(max_rejection*n).

    Args:
        is_true: (n,) of 0/1, or any finite quality, scaled to 0..1 (all equal: 0.5).
        confidence: (n,).
        max_rejection: in (0, 1].

    Returns:
        A value in [0, 1], the expectation over all orders of tied claims; NaN where R is 0.

    Raises:
        ValueError: as :func:`prr`.
    """
    quality, score = _checked(is_true, confidence, binary=False)
    if not 0 < max_rejection <= 1:
        raise ValueError(f"max_rejection must lie in (0, 1], not {max_rejection}")
    rejected = int(max_rejection * len(quality))
    if not rejected:
        return float("nan")
    return float(_kept_means(_scaled(quality), score)[-rejected:].mean())


def risk_coverage(is_true: ArrayLike, confidence: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Share of false claims among the k most confident, for every k.

    Returns:
        coverage k/n (n,), rising to 1, and risk (n,): the expectation over all orders of ties.
    """
    true, score = _checked(is_true, confidence, binary=True)
    n = len(true)
    return np.arange(1, n + 1) / max(n, 1), 1 - _kept_means(true, score)


def aurc(is_true: ArrayLike, confidence: ArrayLike) -> float:
    """Area under the risk-coverage curve: the mean risk over all coverages; NaN without claims."""
    risk = risk_coverage(is_true, confidence)[1]
    return float(risk.mean()) if len(risk) else float("nan")


def brier(is_true: ArrayLike, confidence: ArrayLike) -> float:
    """Mean squared difference between confidence (in [0, 1]) and truth; NaN without claims."""
    true, p = _checked(is_true, confidence, binary=True, probability=True)
    return float(np.mean((p - true) ** 2)) if len(p) else float("nan")


class Reliability(NamedTuple):
    """For each confidence bin, (b,): number of ``claims``, mean ``confidence``, ``share_true``.

    The means of an empty bin are NaN. Bin i holds confidences in (i/b, (i+1)/b], 0 in the first.
    """

    claims: NDArray[np.int64]
    confidence: FloatArray
    share_true: FloatArray


def reliability(is_true: ArrayLike, confidence: ArrayLike, *, bins: int = 10) -> Reliability:
    """The numbers of a reliability diagram with ``bins`` equal bins of [0, 1]."""
    true, p = _checked(is_true, confidence, binary=True, probability=True)
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    index = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], p, side="left")
    count = np.bincount(index, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = [np.bincount(index, weights=v, minlength=bins) / count for v in (p, true)]
    return Reliability(count, *means)


def ece(is_true: ArrayLike, confidence: ArrayLike, *, bins: int = 10) -> float:
    """Expected calibration error: mean over claims of |share true - mean confidence| of their bin.

    Equal bins of [0, 1] (Guo et al. 2017, arXiv 1706.04599, eq. 5); NaN without claims.
    """
    table = reliability(is_true, confidence, bins=bins)
    full = table.claims > 0
    gap = np.abs(table.share_true[full] - table.confidence[full])
    return float(table.claims[full] @ gap / table.claims.sum()) if full.any() else float("nan")


def bootstrap_se(
    metric: Metric,
    is_true: ArrayLike,
    confidence: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> float:
    """Bootstrap standard error of a metric; with ``groups``, whole answers are resampled.

    Args:
        metric: any function (is_true, confidence) -> float of this module.
        is_true: (n,).
        confidence: (n,).
        groups: (n,), the answer of each claim, to resample whole answers; None: single claims.
        resamples: number of resamples.
        seed: of a random generator of its own; the global one is not used.

    Returns:
        Standard deviation over resamples. Resamples where the metric is NaN (all claims of one
        class) are left out; NaN if fewer than two remain, or all rows are of one group.
    """
    true, score = np.asarray(is_true, float), np.asarray(confidence, float)
    labels = np.arange(len(true)) if groups is None else np.asarray(groups)
    if not true.shape == score.shape == labels.shape:
        raise ValueError(f"shapes differ: {true.shape}, {score.shape}, groups {labels.shape}")
    unique, member = np.unique(labels, return_inverse=True)
    clusters = np.split(np.argsort(member, kind="stable"), np.cumsum(np.bincount(member))[:-1])
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(resamples if len(unique) > 1 else 0):  # of one, every resample is the same
        drawn = rng.integers(len(unique), size=len(unique))
        rows = np.concatenate([clusters[i] for i in drawn])
        values.append(metric(true[rows], score[rows]))
    finite = np.asarray([v for v in values if np.isfinite(v)])
    return float(finite.std(ddof=1)) if len(finite) > 1 else float("nan")


def _checked(
    is_true: ArrayLike, confidence: ArrayLike, *, binary: bool, probability: bool = False
) -> tuple[FloatArray, FloatArray]:
    true, score = np.asarray(is_true, float), np.asarray(confidence, float)
    if true.ndim != 1 or true.shape != score.shape:
        raise ValueError(f"is_true {true.shape} and confidence {score.shape} must be equal (n,)")
    if np.isnan(score).any() or not np.isfinite(true).all():
        raise ValueError("NaN among the labels or confidences: drop those claims for all methods")
    if binary and not np.isin(true, (0, 1)).all():
        raise ValueError("is_true must hold 0 and 1 only")
    if probability and np.any((score < 0) | (score > 1)):
        raise ValueError("this metric needs confidences in [0, 1]")
    return true, score


def _ties(score: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The group of equal scores that each score is in, groups in ascending order; their sizes."""
    _, group, count = np.unique(score, return_inverse=True, return_counts=True)
    return group, count.astype(np.int64)


def _scaled(quality: FloatArray) -> FloatArray:
    """Qualities scaled to 0..1; all 0.5 if they are equal."""
    if not len(quality) or quality.max() == quality.min():
        return np.full(len(quality), 0.5)
    low, high = float(quality.min()), float(quality.max())
    return (quality - low) / (high - low)


def _kept_means(quality: FloatArray, score: FloatArray) -> FloatArray:
    """Mean quality of the k most confident, k = 1 .. n.

    The expectation over all orders of tied claims: a cumulative sum is linear, so it is enough to
    replace each claim's quality by the mean of the claims it is tied with.
    """
    group, count = _ties(score)
    mean = np.bincount(group, weights=quality, minlength=len(count)) / count
    kept = np.cumsum(mean[np.sort(group)[::-1]])
    return np.asarray(kept / np.arange(1, len(kept) + 1), float)
