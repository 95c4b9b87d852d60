"""Claim-Conditioned Probability (CCP): how sure the model is of the meaning, whatever the wording.

For each token, NLI compares the alternatives that the model could have written with what it wrote.
Alternatives with the same meaning (entailment) count for the token, contradicting ones against it,
and neutral ones are ignored. Fadeeva et al. 2024, arXiv 2403.04696.

Shapes: ``alternatives`` (T, K) log-probabilities, the written token first, padded with -inf;
``relations`` (T, K) of :data:`ENTAILS`, :data:`NEUTRAL`, :data:`CONTRADICTS`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from franq_guard.franq import FloatArray
from franq_guard.uncertainty.information import Tokens
from franq_guard.uncertainty.numeric import IntArray, logsumexp

ENTAILS, NEUTRAL, CONTRADICTS = 1, 0, -1

__all__ = [
    "CONTRADICTS",
    "ENTAILS",
    "NEUTRAL",
    "ccp_uncertainty",
    "combine_relations",
    "function_words",
    "token_ccp",
]


_WORDS = """
a an and are as at be been but by did do does for from had has have he her him his i if in into is
it its me my nor of on or our she so than that the their them then there these they this those to
was we were which who whom whose will with would you your
"""
_FUNCTION_WORDS = frozenset(_WORDS.split())


def function_words(pieces: Sequence[str]) -> NDArray[np.bool_]:
    """Which tokens have no content of their own, (T,): English function words and punctuation.

    ``pieces`` is the text of each token. Negations count as content because they reverse a claim.
    """
    words = [piece.strip().lower() for piece in pieces]
    return np.array(
        [word in _FUNCTION_WORDS or not any(map(str.isalnum, word)) for word in words], bool
    )


def combine_relations(forward: ArrayLike, backward: ArrayLike) -> IntArray:
    """One relation from NLI(written, alternative) and NLI(alternative, written), any equal shapes.

    Two equal relations give that relation; entailment one way and contradiction the other give
    neutral; if just one is neutral, the other one counts.
    """
    return np.sign(np.asarray(forward, np.int64) + np.asarray(backward, np.int64))


def token_ccp(alternatives: ArrayLike, relations: ArrayLike) -> FloatArray:
    """Log of each token's claim-conditioned probability, (T,), at most 0; higher = more certain.

    log(sum of p that entail) - log(sum of p that entail or contradict). The written token always
    entails itself. NaN where all of these have probability 0.
    """
    logp = np.asarray(alternatives, float)
    relation = np.array(relations, np.int64)
    if logp.shape != relation.shape or logp.ndim != 2:
        raise ValueError(f"alternatives {logp.shape} and relations {relation.shape} must be (T, K)")
    if not logp.size:
        return np.full(len(logp), np.nan)
    relation[:, 0] = ENTAILS
    same = logsumexp(np.where(relation == ENTAILS, logp, -np.inf))
    either = logsumexp(np.where(relation != NEUTRAL, logp, -np.inf))
    with np.errstate(invalid="ignore"):
        return np.minimum(same - either, 0.0)


def ccp_uncertainty(
    alternatives: ArrayLike,
    relations: ArrayLike,
    *,
    tokens: Tokens = None,
    ignore: NDArray[np.bool_] | None = None,
) -> float:
    """Claim-Conditioned Probability, negated: -exp(sum of the tokens' log CCP), in [-1, 0].

    Args:
        alternatives: (T, K), see the module.
        relations: (T, K), see the module.
        tokens: the claim's tokens, None for the whole sequence; no tokens: NaN.
        ignore: (T,), function words, which count as certain (the paper's rule). lm-polygraph
            0.7.0 compares token ids with words there, so its numbers are those of None.
    """
    logs = token_ccp(alternatives, relations)
    if ignore is not None:
        logs = np.where(ignore, 0.0, logs)
    if tokens is not None:
        logs = logs[np.asarray(tokens, int)]
    return -float(np.exp(logs.sum())) if len(logs) else float("nan")
