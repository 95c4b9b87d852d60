"""Scores pairs of token sequences: removes duplicates, batches by length, caches results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.deadline import between_batches
from franq_guard.basics.recent import Recent
from franq_guard.basics.threads import threads_for

Ids = NDArray[np.int32]
Rows = NDArray[np.float32]
Encode = Callable[[Sequence[Ids]], Rows]

SPECIALS: Final = 4
"""How many special tokens a pair has: ``<s> A </s></s> B </s>``."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Token ids of one text of a pair, and a digest of them for the cache."""

    ids: Ids
    key: bytes

    @classmethod
    def of(cls, ids: Ids) -> Piece:
        """A piece with the token ids `ids` (t,)."""
        return cls(ids, blake2b(ids.tobytes(), digest_size=16).digest())


Pair = tuple[Piece, Piece]


class PairScorer:
    """Runs an encoder over pairs; an equal pair is not computed again while it is in the cache.

    Args:
        encode: function from rows of token ids, equal lengths adjacent, to float32 (rows, outputs).
        begin: id of ``<s>``.
        end: id of ``</s>``.
        outputs: numbers per pair.
        batch_tokens: most tokens in one forward pass (at least one pair is always run).
        cache_size: most pairs in the cache; the least recently used are removed first.
    """

    def __init__(
        self,
        encode: Encode,
        *,
        begin: int,
        end: int,
        outputs: int,
        batch_tokens: int,
        cache_size: int,
    ) -> None:
        self._encode = encode
        self._begin = np.array([begin], dtype=np.int32)
        self._end = np.array([end], dtype=np.int32)
        self._outputs = outputs
        self._batch_tokens = batch_tokens
        self._cache: Recent[bytes, Rows] = Recent(cache_size)

    def __call__(self, pairs: Sequence[Pair]) -> Rows:
        """The encoder's outputs (n, outputs) for n pairs; thread-safe."""
        keys = [a.key + b.key for a, b in pairs]
        wanted = dict(zip(keys, pairs, strict=True))
        known = self._cache.known(wanted)
        new = [(key, pair) for key, pair in wanted.items() if key not in known]
        for batch in _batches(new, self._batch_tokens):
            between_batches()
            with threads_for():
                outputs = self._encode([self._assemble(pair) for _, pair in batch])
            found = {key: row.copy() for (key, _), row in zip(batch, outputs, strict=True)}
            known |= found
            self._cache.keep(found)
        if not keys:
            return np.empty((0, self._outputs), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def _assemble(self, pair: Pair) -> Ids:
        a, b = pair
        return np.concatenate([self._begin, a.ids, self._end, self._end, b.ids, self._end])


def _batches(
    items: list[tuple[bytes, Pair]], batch_tokens: int
) -> Iterator[list[tuple[bytes, Pair]]]:
    """Batches within the token budget, longest first, so that lack of memory shows at once."""
    batch: list[tuple[bytes, Pair]] = []
    total = 0
    for item in sorted(items, key=_length, reverse=True):
        if batch and total + _length(item) > batch_tokens:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += _length(item)
    if batch:
        yield batch


def _length(item: tuple[bytes, Pair]) -> int:
    a, b = item[1]
    return len(a.ids) + len(b.ids) + SPECIALS
