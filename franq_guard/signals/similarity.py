"""Sentence similarity for SAR: cosines of embeddings; every distinct text is embedded once.

The reference implementation runs a cross-encoder over pairs with the whole prompt on both sides and
truncates to 512 tokens, which cuts the answer off. Here the answers alone are compared, and n texts
need n embeddings instead of n * n forward passes. It is a different similarity, so result tables
name it. ``embed``: texts -> (n, d) unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from franq_guard.franq import FloatArray

Embed = Callable[[Sequence[str]], NDArray[np.floating]]
EMBEDDED = frozenset({"relevance", "similarity", "relevances"})
"""Statistics that are computed from embeddings."""

__all__ = ["EMBEDDED", "Embed", "similarity_and_relevances"]


def similarity_and_relevances(
    embed: Embed, texts: Sequence[Sequence[str]], *, per_token: bool
) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """Similarity of each pair of texts, and how much each token matters to its text.

    Args:
        embed: see the module; called once.
        texts: n texts, each as the texts of its tokens.
        per_token: whether relevances are needed (one embedding per token).

    Returns:
        Cosines (n, n), negative ones set to 0; and, with ``per_token``, n arrays (T,) of 1 - cosine
        of the text with and without the token. A token without text has relevance 0.
    """
    if not texts:
        return np.empty((0, 0)), ()
    whole = ["".join(pieces) for pieces in texts]
    reduced = [_each_left_out(pieces) for pieces in texts] if per_token else []
    row = {text: i for i, text in enumerate(dict.fromkeys(chain(whole, *reduced)))}
    vectors = np.asarray(embed(list(row)), float)
    full = vectors[[row[text] for text in whole]]
    similarity = np.clip(full @ full.T, 0.0, 1.0)
    if not per_token:
        return similarity, ()
    relevances = []
    for pieces, shorter, own in zip(texts, reduced, full, strict=True):
        cosines = vectors[np.array([row[text] for text in shorter], int)] @ own
        silent = np.array([not piece for piece in pieces], bool)
        relevances.append(np.where(silent, 0.0, np.clip(1.0 - cosines, 0.0, 1.0)))
    return similarity, tuple(relevances)


def _each_left_out(pieces: Sequence[str]) -> list[str]:
    """The text without its first token, without its second, and so on."""
    return ["".join((*pieces[:t], *pieces[t + 1 :])) for t in range(len(pieces))]
