"""Bootstrap of many methods at once: the same resampled rows for all of them, hence paired.

A resample is a count per row, so that a metric of all resamples is a few array operations instead
of a loop; the values are those of :mod:`franq_guard.metrics.measures` on the rows drawn, and the
draws those of :func:`~franq_guard.metrics.measures.bootstrap_se` with the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from franq_guard.franq import FloatArray
from franq_guard.metrics import measures as metrics

__all__ = ["METRICS", "bootstrap", "ends", "standard_error", "value"]

METRICS = ("pr_auc", "prr", "auroc", "ece")
"""The metrics of a benchmark's tables; ``prr`` rejects at most one half."""

_POINT: dict[str, metrics.Metric] = {
    "pr_auc": metrics.pr_auc,
    "prr": metrics.prr,
    "auroc": metrics.auroc,
    "ece": metrics.ece,
}
_BINS = 10  # of ECE, as in :func:`~franq_guard.metrics.measures.ece`
_CELLS = 2_000_000  # counts held at once: 16 MB an array, whatever the number of rows


def value(metric: str, is_true: ArrayLike, confidence: ArrayLike) -> float:
    """One metric of one method: NaN where it is not defined (one class; ECE outside [0, 1])."""
    true, score = np.asarray(is_true, float), np.asarray(confidence, float)
    defined = _probability(score) if metric == "ece" else _two_classes(true)
    if np.isnan(score).any() or not defined:
        return float("nan")
    return _POINT[metric](true, score)


def bootstrap(
    is_true: ArrayLike,
    confidences: Mapping[str, ArrayLike],
    *,
    groups: ArrayLike | None = None,
    resamples: int = 1000,
    seed: int | Sequence[int] = 0,
) -> dict[str, dict[str, FloatArray]]:
    """Every metric of every method on the same resamples.

    Args:
        is_true: (n,) of 0/1.
        confidences: by method, each (n,), higher = more likely true.
        groups: (n,), rows of one group (the claims of an answer) are drawn together.
        resamples: number of resamples B.
        seed: of the private generator.

    Returns:
        By metric, by method: (B,) values; NaN where a resample has none, and throughout where
        :func:`value` is NaN or all rows are of one group.

    Raises:
        ValueError: on lengths that differ.
    """
    true = np.asarray(is_true, float)
    scores = {name: np.asarray(score, float) for name, score in confidences.items()}
    labels = np.arange(len(true)) if groups is None else np.asarray(groups)
    if any(score.shape != true.shape for score in (*scores.values(), labels)):
        raise ValueError("labels, confidences and groups differ in length")
    found = {m: {name: np.full(resamples, np.nan) for name in scores} for m in METRICS}
    at = 0
    for counts in _draws(labels, resamples, seed):
        block = slice(at, at := at + len(counts))
        for name, score in scores.items():
            if not np.isnan(score).any():
                for metric, values in _measured(counts, true, score):
                    found[metric][name][block] = values
    return found


def standard_error(values: ArrayLike) -> float:
    """Standard deviation of bootstrap values (B,) but NaN; NaN where fewer than two remain."""
    every = np.asarray(values, float)
    finite = every[np.isfinite(every)]
    return float(finite.std(ddof=1)) if len(finite) > 1 else float("nan")


def ends(values: ArrayLike) -> tuple[float, float] | tuple[None, None]:
    """The ends of the 95 % interval of bootstrap values (B,); None with fewer than two but NaN."""
    every = np.asarray(values, float)
    finite = every[np.isfinite(every)]
    if len(finite) < 2:
        return None, None
    low, high = np.percentile(finite, (2.5, 97.5)).tolist()
    return low, high


def _draws(
    labels: NDArray[np.generic], resamples: int, seed: int | Sequence[int]
) -> Iterator[FloatArray]:
    """Counts (b, n) of the rows drawn, in blocks."""
    unique, member = np.unique(labels, return_inverse=True)
    rng = np.random.default_rng(seed)
    size = len(unique)
    if size < 2:  # of one, every resample is the same
        return
    step = max(1, _CELLS // len(labels))
    for start in range(0, resamples, step):
        drawn = rng.integers(size, size=(min(step, resamples - start), size))
        drawn += size * np.arange(len(drawn))[:, None]
        counts = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        yield counts[:, member].astype(float)


def _measured(
    counts: FloatArray, true: FloatArray, score: FloatArray
) -> Iterator[tuple[str, FloatArray]]:
    order = np.argsort(score, kind="stable")
    rising = score[order]
    starts = np.flatnonzero(np.concatenate([[True], rising[1:] != rising[:-1]]))
    drawn = np.add.reduceat(counts[:, order], starts, axis=1)
    hits = np.add.reduceat((counts * true)[:, order], starts, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        for metric in _OF_GROUPS if _two_classes(true) else ():
            yield metric, _OF_GROUPS[metric](drawn, hits)
        if _probability(score):
            yield "ece", _ece(counts, true, score)


def _pr_auc(drawn: FloatArray, hits: FloatArray) -> FloatArray:
    """Groups of equal confidence, rising; false is the positive class."""
    false = drawn - hits
    caught, flagged = np.cumsum(false, axis=1), np.cumsum(drawn, axis=1)
    precision = np.divide(caught, flagged, out=np.zeros_like(caught), where=flagged > 0)
    return np.asarray((false * precision).sum(axis=1) / caught[:, -1], float)


def _auroc(drawn: FloatArray, hits: FloatArray) -> FloatArray:
    false = drawn - hits
    below = np.cumsum(false, axis=1) - false / 2
    return np.asarray((hits * below).sum(axis=1) / (hits.sum(axis=1) * false.sum(axis=1)), float)


def _prr(drawn: FloatArray, hits: FloatArray) -> FloatArray:
    """As ``metrics.prr`` with half rejected; resamples of clusters differ in length."""
    lengths = drawn.sum(axis=1).astype(np.int64)
    rejected = lengths // 2
    # Most confident first; each row drawn has its tie's mean truth, the expectation over orders.
    mean = np.divide(hits, drawn, out=np.zeros_like(hits), where=drawn > 0)[:, ::-1]
    quality = np.repeat(mean.ravel(), drawn[:, ::-1].ravel().astype(np.int64))
    resample = np.repeat(np.arange(len(lengths)), lengths)
    firsts = np.cumsum(lengths) - lengths
    kept = np.arange(len(quality)) - firsts[resample] + 1
    before = np.concatenate([[0.0], np.cumsum(quality)])
    good = hits.sum(axis=1)
    tail = kept > (lengths - rejected)[resample]
    where, k = resample[tail], kept[tail]

    def averaged(sums: FloatArray) -> FloatArray:
        total = np.bincount(where, weights=sums / k, minlength=len(lengths))
        return np.asarray(total / rejected, float)

    area = averaged((before[1:] - before[firsts][resample])[tail])
    best = averaged(np.minimum(good[where], k))
    random = good / lengths
    room = best - random
    return np.asarray(np.where(room > 1e-12, (area - random) / room, np.nan), float)


def _ece(counts: FloatArray, true: FloatArray, score: FloatArray) -> FloatArray:
    index = np.searchsorted(np.linspace(0, 1, _BINS + 1)[1:-1], score, side="left")
    gap = np.zeros((len(score), _BINS))
    gap[np.arange(len(score)), index] = true - score
    return np.asarray(np.abs(counts @ gap).sum(axis=1) / counts.sum(axis=1), float)


_OF_GROUPS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "pr_auc": _pr_auc,
    "prr": _prr,
    "auroc": _auroc,
}


def _two_classes(true: FloatArray) -> bool:
    """Whether the rows can be ranked: where all are false, PR-AUC is 1 whatever the scores."""
    return bool(0 < true.sum() < len(true))


def _probability(score: FloatArray) -> bool:
    return not np.any((score < 0) | (score > 1))
