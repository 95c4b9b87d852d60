"""Measures how similar a claim and a passage are in meaning: the cosine of their embeddings.

On scientific text the original MiniLM, never trained on claims, works better than our trained
cross-encoder, so the blend uses its cosine as one input. Each distinct text is embedded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.recent import Recent

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""n texts -> unit vectors (n, d)."""


class Nearness:
    """Cosines between texts, with a cache of recent embeddings. Thread-safe.

    Args:
        embed: n texts -> unit vectors (n, d).
        room: how many embeddings the cache holds.
    """

    def __init__(self, embed: Embed, *, room: int) -> None:
        self._embed = embed
        self._cache: Recent[str, NDArray[np.float32]] = Recent(room)

    def forget(self) -> None:
        """Empty the cache."""
        self._cache.forget()

    def best(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """Return, for each (text, others), the highest cosine of the text with one of the others.

        Negative values become 0.
        """
        known = self._vectors(dict.fromkeys(t for text, others in asked for t in (text, *others)))
        return [
            max(0.0, *(float(known[text] @ known[other]) for other in others))
            for text, others in asked
        ]

    def _vectors(self, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        wanted = list(texts)
        known = self._cache.known(wanted)
        new = [text for text in wanted if text not in known]
        if not new:
            return known
        found = dict(zip(new, self._embed(new), strict=True))
        self._cache.keep(found)
        return known | found
