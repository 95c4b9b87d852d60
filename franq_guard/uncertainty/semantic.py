"""Sample diversity by meaning: Semantic Entropy (Kuhn et al. 2023, arXiv 2302.09664) and relatives.

``log_probs`` (n,): log-probability of each sample, nats; ``classes`` (n,): the class of its
meaning, from :func:`semantic_classes`; ``texts`` (n,): the samples, duplicates kept. Without
samples the result is NaN. A sample of probability 0 gives infinite uncertainty only if its whole
class has probability 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from franq_guard.franq import FloatArray
from franq_guard.uncertainty.numeric import IntArray, logsumexp

DuplicateRule = Literal["unique", "lm-polygraph"]
"""Whether a text that was sampled several times counts once (``unique``) or each time.

If it has several log-probabilities, written in other tokens, the first counts, as in the reference.
"""

__all__ = [
    "discrete_semantic_entropy_uncertainty",
    "monte_carlo_uncertainty",
    "normalized_monte_carlo_uncertainty",
    "semantic_classes",
    "semantic_entropy_uncertainty",
]


def semantic_classes(entails: ArrayLike) -> IntArray:
    """Group samples by meaning: each joins the first class whose first member it matches.

    Args:
        entails: (n, n) of bool, whether "entailment" is the NLI label of (sample i, sample j); two
            samples match where both directions entail.

    Returns:
        Class of each sample, (n,), numbered from 0 in order of appearance.
    """
    matches = np.asarray(entails, bool)
    matches = matches & matches.T
    heads: list[int] = []
    classes = np.empty(len(matches), np.int64)
    for i in range(len(matches)):
        home = next((c for c, head in enumerate(heads) if matches[head, i]), len(heads))
        if home == len(heads):
            heads.append(i)
        classes[i] = home
    return classes


def semantic_entropy_uncertainty(
    log_probs: ArrayLike,
    classes: ArrayLike,
    texts: Sequence[str],
    *,
    rule: DuplicateRule = "unique",
) -> float:
    """Semantic Entropy: -mean over samples of the log-probability of the sample's class.

    A class's probability is the sum over its distinct texts. ``rule="lm-polygraph"`` (used in the
    FRANQ paper) adds a text again for each duplicate, so that probabilities can exceed 1 and the
    entropy can be negative.

    Returns:
        Nats, in [0, inf); see the module for edge cases.
    """
    own = _class_log_probs(log_probs, classes, texts, rule)
    kind = np.asarray(classes, int)
    return -float(own[kind].mean()) if len(kind) else float("nan")


def discrete_semantic_entropy_uncertainty(classes: ArrayLike) -> float:
    """Entropy of the classes' shares of the samples, in [0, log n]; needs no log-probabilities.

    Farquhar et al. 2024, doi 10.1038/s41586-024-07421-0.
    """
    kind = np.asarray(classes, int)
    share = np.bincount(kind) / max(len(kind), 1)
    share = share[share > 0]
    return float(np.sum(share * -np.log(share))) if len(kind) else float("nan")


def monte_carlo_uncertainty(log_probs: ArrayLike) -> float:
    """Monte-Carlo sequence entropy: -mean log p(sample), in [0, inf); arXiv 2002.07650."""
    values = np.asarray(log_probs, float)
    return -float(values.mean()) if len(values) else float("nan")


def normalized_monte_carlo_uncertainty(samples: Sequence[ArrayLike]) -> float:
    """Length-normalised entropy: -mean over samples of the mean log-probability of a token.

    Args:
        samples: n arrays of token log-probabilities; those without tokens are left out.

    lm-polygraph 0.7.0 includes the end-of-text token in the sum but not in the count.
    """
    means = [float(np.mean(tokens)) for tokens in map(np.asarray, samples) if tokens.size]
    return -float(np.mean(means)) if means else float("nan")


def _class_log_probs(
    log_probs: ArrayLike, classes: ArrayLike, texts: Sequence[str], rule: DuplicateRule
) -> FloatArray:
    values, kind = np.asarray(log_probs, float), np.asarray(classes, int)
    if not len(values) == len(kind) == len(texts):
        raise ValueError(f"{len(values)} log_probs, {len(kind)} classes and {len(texts)} texts")
    if rule not in ("unique", "lm-polygraph"):
        raise ValueError(f"rule must be 'unique' or 'lm-polygraph', not {rule!r}")
    counted = np.ones(len(values), bool)
    if rule == "unique":
        pairs = list(zip(kind.tolist(), texts, strict=True))
        counted = np.array([pair not in pairs[:i] for i, pair in enumerate(pairs)], bool)
    groups = range(int(kind.max(initial=-1)) + 1)
    return np.array([float(logsumexp(values[counted & (kind == c)])) for c in groups])
