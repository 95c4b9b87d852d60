"""Sample diversity on the graph of samples: Lin et al. 2023, arXiv 2305.19187.

``weights`` (n, n): similarity of each pair of samples in [0, 1]: Jaccard, P(entail) or
1 - P(contradict); made symmetric by averaging. The diagonal counts: a text entails itself, so it
should be 1 (lm-polygraph 0.7.0 uses the NLI model's output there: pass that matrix to reproduce its
numbers). Fewer than two samples cannot disagree: NaN, as for weights with a NaN. The order of
samples does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franq_guard.franq import FloatArray

__all__ = [
    "Spectrum",
    "degree_uncertainty",
    "eccentricity_uncertainty",
    "eigenvalue_uncertainty",
    "semantic_sets_uncertainty",
    "spectrum",
]

_KEPT_BELOW = 0.9


def degree_uncertainty(weights: ArrayLike) -> float:
    """Degree Matrix: 1 - mean similarity over all n * n entries, in [0, 1)."""
    matrix = _symmetric(weights)
    return 1.0 - float(matrix.mean()) if len(matrix) > 1 else float("nan")


class Spectrum(NamedTuple):
    """Eigenvalues (n,) in ascending order and eigenvectors (n, n) as columns."""

    values: FloatArray
    vectors: FloatArray


def spectrum(weights: ArrayLike) -> Spectrum:
    """Spectrum of the normalised Laplacian of ``weights``.

    L = I - D^-1/2 W D^-1/2; a sample without any weight is isolated (its eigenvalue is 1). All NaN
    if a weight is NaN.
    """
    matrix = _symmetric(weights)
    if np.isnan(matrix).any():  # eigh raises for some sizes and not for others
        return Spectrum(np.full(len(matrix), np.nan), np.full(matrix.shape, np.nan))
    degree = matrix.sum(axis=1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1.0)), 0.0)
    values, vectors = np.linalg.eigh(np.eye(len(matrix)) - scale[:, None] * matrix * scale)
    return Spectrum(np.asarray(values, float), np.asarray(vectors, float))


def eigenvalue_uncertainty(weights: ArrayLike | Spectrum) -> float:
    """Sum of Eigenvalues: sum of max(0, 1 - eigenvalue), in [1, n]: a soft number of meanings."""
    values = _spectrum(weights).values
    return float(np.maximum(0.0, 1.0 - values).sum()) if len(values) > 1 else float("nan")


def eccentricity_uncertainty(weights: ArrayLike | Spectrum) -> float:
    """Eccentricity: how far the samples are from their centre in the space of small eigenvalues.

    The Frobenius norm of the eigenvectors with eigenvalue < 0.9, each minus its mean, in
    [0, sqrt(n)).
    """
    values, vectors = _spectrum(weights)
    if len(values) < 2:
        return float("nan")
    kept = vectors[:, ~(values >= _KEPT_BELOW)]  # with NaN, too
    return float(np.linalg.norm(kept - kept.mean(axis=0))) if kept.size else 0.0


def semantic_sets_uncertainty(entail: ArrayLike, contradict: ArrayLike) -> int:
    """Number of Semantic Sets: components of the graph "entail > contradict in both directions".

    Args:
        entail: (n, n), P(entailment) of sample j by sample i.
        contradict: (n, n), P(contradiction).

    Returns:
        1 .. n (0 without samples).
    """
    linked = np.asarray(entail, float) > np.asarray(contradict, float)
    linked &= linked.T
    unseen = set(range(len(linked)))
    sets = 0
    while unseen:
        frontier = [unseen.pop()]
        sets += 1
        while frontier:
            near = {j for j in unseen if linked[frontier[-1], j]}
            frontier.pop()
            unseen -= near
            frontier.extend(near)
    return sets


def _spectrum(given: ArrayLike | Spectrum) -> Spectrum:
    return given if isinstance(given, Spectrum) else spectrum(given)


def _symmetric(weights: ArrayLike) -> FloatArray:
    matrix = np.asarray(weights, float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"weights must be (n, n), not {matrix.shape}")
    return np.asarray((matrix + matrix.T) / 2, float)
