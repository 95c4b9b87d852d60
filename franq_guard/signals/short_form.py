"""FRANQ's two signals for short answers, from samples: Semantic Entropy and Sum of Eigenvalues."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from franq_guard.franq import FloatArray
from franq_guard.records import Generation
from franq_guard.signals.nli_pairs import Nli, SemanticMatrices, semantic_matrices
from franq_guard.uncertainty.graph import eigenvalue_uncertainty
from franq_guard.uncertainty.semantic import semantic_classes, semantic_entropy_uncertainty
from franq_guard.uncertainty.statistics import Samples

__all__ = [
    "ShortFormSignals",
    "eigenvalue_confidence",
    "entropy_confidence",
    "samples_of",
    "short_form_signals",
]


@dataclass(frozen=True, slots=True)
class ShortFormSignals:
    """UQ_faith and UQ_unfaith of a short answer, in [0, 1], and the uncertainties they came from.

    ``semantic_entropy`` is in nats, ``sum_of_eigenvalues`` in [1, n].
    """

    uq_faith: float
    uq_unfaith: float
    semantic_entropy: float
    sum_of_eigenvalues: float


def short_form_signals(
    samples: Sequence[Sequence[Generation]], nli: Nli
) -> list[ShortFormSignals | None]:
    """Signals of each answer from its samples; one NLI call for all (arXiv 2505.21072, section 3).

    Args:
        samples: per answer its n sampled generations with log-probabilities, duplicates kept.
        nli: ``FaithfulnessModel.nli``.

    Returns:
        None for an answer with fewer than two samples, or where a log-probability is NaN.
    """
    bundles = [samples_of(of_answer) for of_answer in samples]
    matrices = semantic_matrices(nli, [bundle.texts for bundle in bundles])
    return [_signals(b, m) for b, m in zip(bundles, matrices, strict=True)]


def samples_of(generations: Sequence[Generation]) -> Samples:
    """Texts (stripped, so that a blank makes no other answer) and log-probabilities of samples."""
    return Samples(
        texts=tuple(generation.text.strip() for generation in generations),
        logprobs=tuple(_logprobs(generation) for generation in generations),
    )


def entropy_confidence(semantic_entropy: float) -> float:
    """Semantic Entropy as a confidence: exp(-max(SE, 0)), in [0, 1]."""
    return math.exp(-max(semantic_entropy, 0.0))


def eigenvalue_confidence(sum_of_eigenvalues: float, n: int) -> float:
    """Sum of Eigenvalues of n > 1 samples as a confidence: 1 - (EigVal - 1) / (n - 1), clipped."""
    return min(1.0, max(0.0, 1.0 - (sum_of_eigenvalues - 1.0) / (n - 1)))


def _logprobs(generation: Generation) -> FloatArray:
    return np.array([token.logprob for token in generation.tokens], float)


def _signals(samples: Samples, matrices: SemanticMatrices) -> ShortFormSignals | None:
    n = len(samples.texts)
    unknown = any(not len(v) or np.isnan(v).any() for v in samples.logprobs)
    if n < 2 or unknown:
        return None
    classes = semantic_classes(matrices.entails)
    entropy = semantic_entropy_uncertainty(samples.log_probs, classes, samples.texts)
    eigenvalues = eigenvalue_uncertainty(matrices.entail)
    return ShortFormSignals(
        uq_faith=entropy_confidence(entropy),
        uq_unfaith=eigenvalue_confidence(eigenvalues, n),
        semantic_entropy=entropy,
        sum_of_eigenvalues=eigenvalues,
    )
