"""Retrieval from texts in memory, by words (BM25) or by meaning (embeddings)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


class Bm25:
    """The ``k`` texts that share a question's rarest words (BM25, Lucene's variant).

    Needs ``bm25s``, which the extra ``cli`` brings, and ``local`` of the integrations.

    Raises:
        ValueError: without texts, or for k below 1.
    """

    def __init__(self, texts: Sequence[str], *, k: int) -> None:
        if not texts or k < 1:
            raise ValueError("a retriever needs at least one text and k >= 1")
        import bm25s

        self._k = k
        self._index: Any = bm25s.BM25(method="lucene")
        self._index.index([_words(text) or [""] for text in texts], show_progress=False)

    def best(self, question: str) -> list[tuple[int, float]]:
        """(index of the text, score) of the best, best first.

        Texts without any word of the question are left out, so there may be fewer than ``k``.
        """
        asked = _words(question)
        scores = self._index.get_scores(asked) if asked else []
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[: self._k]
        return [(i, float(scores[i])) for i in ranked if scores[i] > 0]


class Dense:
    """The ``k`` texts whose embeddings are nearest to a question's.

    Args:
        texts: to search in; embedded once.
        k: results.
        embed: n texts to unit vectors (n, d), such as ``SentenceTransformer(...).encode`` with
            ``normalize_embeddings``; default: the bundled MiniLM.

    Raises:
        ValueError: without texts, or for k below 1.
    """

    def __init__(
        self,
        texts: Sequence[str],
        *,
        k: int,
        embed: Callable[[Sequence[str]], NDArray[np.floating[Any]]] | None = None,
    ) -> None:
        if not texts or k < 1:
            raise ValueError("a retriever needs at least one text and k >= 1")
        if embed is None:
            from franq_guard.faithfulness.small.minilm import Embedder

            embed = Embedder()
        self._embed, self._k = embed, k
        self._vectors = embed(texts)

    def best(self, question: str) -> list[tuple[int, float]]:
        """(index of the text, cosine) of the nearest, nearest first."""
        scores = self._vectors @ self._embed([question])[0]
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[: self._k]
        return [(i, float(scores[i])) for i in ranked]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
