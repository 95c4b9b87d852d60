"""Shifting Attention to Relevance: words and samples that matter weigh more.

Duan et al. 2024, arXiv 2307.01379. ``relevance`` (T,): 1 - similarity of the text with and without
the token, from a sentence-similarity model. ``similarity`` (n, n): of the samples, in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from franq_guard.uncertainty.information import Tokens
from franq_guard.uncertainty.numeric import logsumexp

__all__ = ["sar_uncertainty", "sentence_sar_uncertainty", "token_sar_uncertainty"]

_TEMPERATURE = 0.001


def token_sar_uncertainty(
    logprobs: ArrayLike, relevance: ArrayLike, *, tokens: Tokens = None
) -> float:
    """TokenSAR: -sum of r_t log p(y_t), relevance normalised over the whole text, in [0, inf).

    A claim's value is its tokens' part of the sum. If all relevances are 0, all tokens count the
    same (lm-polygraph 0.7.0 gives NaN there). Without tokens the result is NaN; a token with
    relevance 0 and probability 0 adds 0.
    """
    logp, weight = np.asarray(logprobs, float), np.asarray(relevance, float)
    if logp.shape != weight.shape:
        raise ValueError(f"logprobs {logp.shape} and relevance {weight.shape} must be equal (T,)")
    if not len(logp) or (tokens is not None and not len(tokens)):
        return float("nan")
    total = weight.sum()
    weight = weight / total if total else np.full(len(weight), 1 / len(weight))
    terms = np.where(weight == 0, 0.0, -np.where(weight == 0, 0.0, logp) * weight)
    return float(terms.sum() if tokens is None else terms[np.asarray(tokens, int)].sum())


def sentence_sar_uncertainty(
    log_probs: ArrayLike, similarity: ArrayLike, *, temperature: float = _TEMPERATURE
) -> float:
    """SentenceSAR: -mean over samples of log(p_i + sum over others of p_j sim_ij / temperature).

    Args:
        log_probs: (n,), log-probability of each sample, nats.
        similarity: (n, n), sim_ij of sample i to sample j; negative values count as 0.
        temperature: weight of the other samples.

    Returns:
        Any real number, computed in log space so that the probability of a long sample does not
        underflow to 0. NaN without samples.
    """
    logp, sim = np.asarray(log_probs, float), np.maximum(np.asarray(similarity, float), 0.0)
    n = len(logp)
    if sim.shape != (n, n):
        raise ValueError(f"similarity {sim.shape} must be ({n}, {n})")
    if not n:
        return float("nan")
    with np.errstate(divide="ignore"):
        factor = np.where(np.eye(n, dtype=bool), 0.0, np.log(sim / temperature))
    return -float(np.mean(logsumexp(factor + logp)))


def sar_uncertainty(
    samples: Sequence[ArrayLike],
    relevances: Sequence[ArrayLike],
    similarity: ArrayLike,
    *,
    temperature: float = _TEMPERATURE,
) -> float:
    """SAR: SentenceSAR in which a sample's log-probability is its TokenSAR, negated.

    Args:
        samples: n arrays of token log-probabilities.
        relevances: n arrays of the same lengths.
        similarity: (n, n).
        temperature: as :func:`sentence_sar_uncertainty`.
    """
    if len(samples) != len(relevances):
        raise ValueError(f"{len(samples)} samples and {len(relevances)} relevances")
    scores = [-token_sar_uncertainty(s, r) for s, r in zip(samples, relevances, strict=True)]
    return sentence_sar_uncertainty(scores, similarity, temperature=temperature)
