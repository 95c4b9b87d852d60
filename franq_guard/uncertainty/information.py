"""Information-based methods: they use the log-probabilities of the written tokens.

Throughout: ``logprobs`` (T,) in nats, one per written token; ``tokens`` the indices of a claim's
tokens, None for the whole sequence. Without tokens the result is NaN (nothing was measured). A
token of probability 0 (-inf) gives infinite uncertainty. NaN in an input gives NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from franq_guard.uncertainty.numeric import IntArray, chosen

Tokens = Sequence[int] | IntArray | None

__all__ = [
    "log_probability",
    "max_entropy_uncertainty",
    "max_probability_uncertainty",
    "mean_entropy_uncertainty",
    "perplexity_uncertainty",
    "pmi_uncertainty",
]


def log_probability(logprobs: ArrayLike, *, tokens: Tokens = None) -> float:
    """Log-probability of the sequence or claim: sum of log p(y_t); higher = more certain.

    Its exponential is FRANQ's Max Claim Probability (UQ_faith), and Parametric Knowledge
    (UQ_unfaith) where the log-probabilities were scored without the passages (arXiv 2505.21072).
    """
    values = chosen(logprobs, tokens)
    return float(values.sum()) if len(values) else float("nan")


def max_probability_uncertainty(logprobs: ArrayLike, *, tokens: Tokens = None) -> float:
    """Max Sequence (or Claim) Probability: -sum log p(y_t), in [0, inf); arXiv 2406.15627."""
    return -log_probability(logprobs, tokens=tokens)


def perplexity_uncertainty(logprobs: ArrayLike, *, tokens: Tokens = None) -> float:
    """Log-perplexity: -mean log p(y_t), in [0, inf), not exponentiated (arXiv 2002.07650)."""
    values = chosen(logprobs, tokens)
    return -float(values.mean()) if len(values) else float("nan")


def mean_entropy_uncertainty(entropies: ArrayLike, *, tokens: Tokens = None) -> float:
    """Mean Token Entropy: mean of the next-token entropies (T,), nats (arXiv 2002.07650)."""
    values = chosen(entropies, tokens)
    return float(values.mean()) if len(values) else float("nan")


def max_entropy_uncertainty(entropies: ArrayLike, *, tokens: Tokens = None) -> float:
    """Max Token Entropy: the greatest next-token entropy (T,), nats (arXiv 2403.04696)."""
    values = chosen(entropies, tokens)
    return float(values.max()) if len(values) else float("nan")


def pmi_uncertainty(
    logprobs: ArrayLike, unconditional: ArrayLike, *, tokens: Tokens = None
) -> float:
    """Mean Pointwise Mutual Information, negated: -mean(log p(y_t | x, y_<t) - log p(y_t | y_<t)).

    Any real number (Takayama & Arase 2019, ACL W19-4115). ``unconditional`` (T,) must be read at
    the position BEFORE the token; lm-polygraph 0.7.0 reads it one position too late (from such an
    array this formula gives its number). The first token of a text without a prompt has nothing to
    be conditioned on: NaN there counts as log-probability 0, as in lm-polygraph.
    """
    without = np.array(unconditional, float)
    if len(without) and np.isnan(without[0]):
        without[0] = 0.0
    with np.errstate(invalid="ignore"):
        values = chosen(np.asarray(logprobs, float) - without, tokens)
    return -float(values.mean()) if len(values) else float("nan")
