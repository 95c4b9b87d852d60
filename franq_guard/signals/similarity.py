"""Sentence similarity for SAR: cosines of embeddings; every distinct text is embedded once.

The reference implementation runs a cross-encoder over pairs with the whole prompt on both sides and
truncates to 512 tokens, which cuts the answer off. Here the answers alone are compared, and n texts
need n embeddings instead of n * n forward passes. It is a different similarity, so result tables
name it. ``embed``: texts -> (n, d) unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from franq_guard.franq import FloatArray

Embed = Callable[[Sequence[str]], NDArray[np.floating]]

__all__ = ["Embed", "similarity_and_relevances"]


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
    whole = ["".join(pieces) for pieces in texts]
    reduced = [[_without(pieces, t) for t in range(len(pieces))] for pieces in texts]
    asked = [*whole, *(text for row in reduced if per_token for text in row)]
    index = {text: i for i, text in enumerate(dict.fromkeys(asked))}
    vectors = np.asarray(embed(list(index)), float) if index else np.empty((0, 1))
    full = vectors[[index[text] for text in whole]] if whole else np.empty((0, 1))
    similarity = np.clip(full @ full.T, 0.0, 1.0)
    if not per_token:
        return similarity, ()
    relevances = [
        np.clip(1.0 - vectors[[index[text] for text in row]] @ own, 0.0, 1.0)
        if row
        else np.empty(0)
        for row, own in zip(reduced, full, strict=True)
    ]
    silent = [np.array([not piece for piece in pieces], bool) for pieces in texts]
    return similarity, tuple(
        np.where(mute, 0.0, values) for mute, values in zip(silent, relevances, strict=True)
    )


def _without(pieces: Sequence[str], token: int) -> str:
    return "".join((*pieces[:token], *pieces[token + 1 :]))
