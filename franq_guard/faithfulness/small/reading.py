"""The logits of (claim piece, text) pairs, with a cache; the encoder reads them in batches."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.deadline import between_batches
from franq_guard.basics.recent import Recent
from franq_guard.basics.threads import threads_for
from franq_guard.faithfulness.small.encoder_input import (
    MAX_CLAIM,
    MAX_TOKENS,
    WEIGHTS,
    Ids,
    Pair,
    by_budget,
    make_pair,
    pad,
    token_ids,
)
from franq_guard.faithfulness.small.features import features

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from franq_guard.faithfulness.small.encoder import Encoder

Logits = tuple[float, float, float]
TextPair = tuple[str, str]
_Key = bytes


class PairReader(ABC):
    """The logits of pairs of texts. Thread-safe.

    The cache maps a digest of the two texts to their logits, so that a pair that was read before (a
    second claim with the same sentence, evidence after a score) is not read again.

    Args:
        room: how many pairs the cache holds; 0 turns it off.
    """

    def __init__(self, *, room: int) -> None:
        if room < 0:
            raise ValueError("cache must be at least 0")
        self._cache: Recent[_Key, Logits] = Recent(room)

    def __len__(self) -> int:
        """How many pairs are in the cache."""
        return len(self._cache)

    def forget(self) -> None:
        """Empty the cache."""
        self._cache.forget()

    def logits(self, pairs: Iterable[TextPair]) -> dict[TextPair, Logits]:
        """Return the logits of each distinct (claim piece, text), from the cache if possible."""
        keys = {pair: _key(pair) for pair in dict.fromkeys(pairs)}
        known = self._cache.known(keys.values())
        new = [pair for pair, key in keys.items() if key not in known]
        found = dict(zip((keys[pair] for pair in new), self._read(new), strict=True))
        self._cache.keep(found)
        known |= found
        return {pair: known[key] for pair, key in keys.items()}

    @abstractmethod
    def _read(self, texts: Sequence[TextPair]) -> list[Logits]:
        """The logits of distinct pairs (claim piece, text), in their order."""


BATCH_TOKENS: Final = 1024
"""Padded tokens per forward pass of the small network."""


class EncoderReader(PairReader):
    """Reads pairs with the small encoder, in batches of similar length.

    Args:
        network: the encoder, in evaluation mode.
        tokenizer: MiniLM's.
        batch_tokens: padded tokens per forward pass; limits the memory used.
        room: how many pairs the cache holds; 0 turns it off.
    """

    def __init__(
        self, network: Encoder, tokenizer: Tokenizer, *, batch_tokens: int, room: int
    ) -> None:
        if batch_tokens < 1:
            raise ValueError("batch_tokens must be positive")
        super().__init__(room=room)
        self._network, self._tokenizer = network, tokenizer
        self._batch_tokens = batch_tokens

    def _read(self, texts: Sequence[TextPair]) -> list[Logits]:
        if not texts:
            return []
        distinct = list(dict.fromkeys(text for pair in texts for text in pair))
        ids = dict(zip(distinct, token_ids(self._tokenizer, distinct), strict=True))
        inputs: list[Pair] = []
        values: list[list[float]] = []
        owners: list[int] = []
        for index, (claim, text) in enumerate(texts):
            overlap = features(claim, text)
            for window in _windows(ids[claim], ids[text]):
                inputs.append(make_pair(ids[claim], window))
                values.append(overlap)
                owners.append(index)
        logits = self._run(inputs, np.array(values, dtype=np.float32))
        return best_windows(logits.tolist(), owners)

    def _run(self, pairs: Sequence[Pair], values: NDArray[np.float32]) -> NDArray[np.float32]:
        import torch

        out = np.empty((len(pairs), 3), dtype=np.float32)
        with torch.inference_mode(), torch.autocast("cpu", enabled=False):
            for batch in by_budget([len(pair) for pair in pairs], self._batch_tokens):
                between_batches()
                ids, marks, mask, claim = map(torch.from_numpy, pad([pairs[i] for i in batch]))
                extra = torch.from_numpy(values[batch])
                with threads_for(ids.numel() * WEIGHTS):
                    out[batch] = self._network(ids, marks, mask, claim, extra).float().numpy()
        return out


class MeanReader(PairReader):
    """Reads pairs with several networks; the logits are their mean log-probabilities.

    Args:
        readers: each keeps a cache of its own.
    """

    def __init__(self, *readers: PairReader) -> None:
        super().__init__(room=0)
        self._readers = readers

    def forget(self) -> None:
        """Empty the caches of all readers."""
        for reader in self._readers:
            reader.forget()

    def _read(self, texts: Sequence[TextPair]) -> list[Logits]:
        found = [reader.logits(texts) for reader in self._readers]
        return [_mean_log_probabilities([logits[text] for logits in found]) for text in texts]


def _mean_log_probabilities(logits: Sequence[Logits]) -> Logits:
    """The mean over networks of the log-probabilities that their logits (networks, 3) stand for."""
    rows = np.array(logits, dtype=np.float64)
    rows -= np.logaddexp.reduce(rows, axis=1, keepdims=True)
    first, second, third = rows.mean(axis=0).tolist()
    return first, second, third


def best_windows(logits: Sequence[Sequence[float]], owners: Sequence[int]) -> list[Logits]:
    """Of each text that was read in windows the logits (3,) of the one that entails most.

    Args:
        logits: of all windows (n, 3).
        owners: the text of each (n,), from 0; none is left out.
    """
    best: dict[int, Logits] = {}
    for owner, row in zip(owners, logits, strict=True):
        if owner not in best or row[0] > best[owner][0]:
            best[owner] = (row[0], row[1], row[2])
    return [best[owner] for owner in sorted(best)]


def _windows(claim: Ids, text: Ids) -> list[Ids]:
    room = MAX_TOKENS - min(len(claim), MAX_CLAIM) - 3
    return [text[i : i + room] for i in range(0, len(text), room)]


def _key(pair: TextPair) -> _Key:
    digest = hashlib.blake2b(digest_size=16)
    for text in pair:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()
