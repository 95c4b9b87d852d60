"""NLI over many pairs: duplicates are removed, and the model is called once for all.

``nli`` is ``FaithfulnessModel.nli``: (premises, hypotheses) -> (n, 3) of P(entailment), P(neutral),
P(contradiction). It makes batches by length itself, so the order of pairs does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from franq_guard.franq import FloatArray
from franq_guard.uncertainty.ccp import CONTRADICTS, ENTAILS, NEUTRAL, combine_relations
from franq_guard.uncertainty.numeric import IntArray, in_parts

Nli = Callable[[Sequence[str], Sequence[str]], FloatArray]
Pair = tuple[str, str]

_RELATION = np.array([ENTAILS, NEUTRAL, CONTRADICTS])

__all__ = [
    "Nli",
    "SemanticMatrices",
    "alternative_relations",
    "pooled_nli",
    "semantic_matrices",
]


class SemanticMatrices(NamedTuple):
    """NLI of every ordered pair of n texts, each (n, n); ``entails``: it is the likeliest class."""

    entail: FloatArray
    contradict: FloatArray
    entails: NDArray[np.bool_]


def pooled_nli(nli: Nli, pairs: Sequence[Pair]) -> FloatArray:
    """NLI probabilities of each pair, (n, 3); every distinct pair is scored once, in one call.

    The model is not run where the answer is certain: a text entails itself (lm-polygraph runs the
    model for it), two blank texts entail each other, a blank text is neutral to any other.

    Args:
        nli: see the module.
        pairs: (premise, hypothesis); may contain duplicates.

    Raises:
        ValueError: if the model returns NaN, whose likeliest class would be entailment.
    """
    rows = {pair: _known(*pair) for pair in pairs}
    ask = [pair for pair, row in rows.items() if row is None]
    if ask:
        scored = np.asarray(nli([a for a, _ in ask], [b for _, b in ask]), float)
        if np.isnan(scored).any():
            raise ValueError("the NLI model returned NaN")
        rows.update(zip(ask, scored, strict=True))
    return np.array([rows[pair] for pair in pairs], float).reshape(len(pairs), 3)


def semantic_matrices(nli: Nli, answers: Sequence[Sequence[str]]) -> list[SemanticMatrices]:
    """NLI among the samples of each answer, all answers in one call of the model.

    Args:
        nli: see the module.
        answers: the samples' texts of each answer.

    Returns:
        One set of (n, n) matrices per answer; row i is the premise, and ``entail`` has ones on its
        diagonal.
    """
    pairs = [(a, b) for texts in answers for a in texts for b in texts]
    sizes = [len(texts) for texts in answers]
    scores = in_parts(pooled_nli(nli, pairs), [size**2 for size in sizes])
    cubes = (part.reshape(size, size, 3) for part, size in zip(scores, sizes, strict=True))
    return [SemanticMatrices(c[..., 0], c[..., 2], c.argmax(axis=-1) == 0) for c in cubes]


def alternative_relations(nli: Nli, tokens: Sequence[Sequence[str]], *, width: int) -> IntArray:
    """How each alternative relates to the written text, for all tokens in one call.

    Args:
        nli: see the module.
        tokens: per token the texts compared, the written one first: single words for CCP without
            context, the claim's words up to and with the token for CCP with fact preference.
        width: K of the result; shorter rows are padded with ``NEUTRAL``, which has no effect.

    Returns:
        (T, K) for :mod:`franq_guard.uncertainty.ccp`.
    """
    there = [(texts[0], other) for texts in tokens for other in texts]
    back = [(other, written) for written, other in there]
    labels = _RELATION[pooled_nli(nli, there + back).argmax(axis=1)]
    combined = combine_relations(labels[: len(there)], labels[len(there) :])
    relations = np.full((len(tokens), width), NEUTRAL, np.int64)
    at = 0
    for row, texts in zip(relations, tokens, strict=True):
        row[: len(texts)] = combined[at : at + len(texts)]
        at += len(texts)
    return relations


def _known(premise: str, hypothesis: str) -> FloatArray | None:
    """What is certain without the model; None: it has to be asked."""
    blank = not premise.strip(), not hypothesis.strip()
    if premise == hypothesis or all(blank):
        return np.array([1.0, 0, 0])
    return np.array([0, 1.0, 0]) if any(blank) else None
