"""Turns (claim, chunk) pairs into token ids and overlap marks, and groups them into batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from franq_guard.basics.text import without_surrogates

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Ids = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

CLS: Final = 101
SEP: Final = 102
UNKNOWN: Final = 100
WEIGHTS: Final = 6 * 12 * 384**2
"""Multiply-adds of the encoder per token: each layer has four square matrices and two that are
four times as large."""
MAX_TOKENS: Final = 510
MAX_CLAIM: Final = 254
CHUNK_TOKENS: Final = 200  # a chunk of the context, as `chunks.size` counts
CLAIM_TOKENS: Final = 127  # a piece of a claim
MARK_SPECIAL, MARK_CHUNK, MARK_SHARED, MARK_CLAIM, MARK_FOUND, MARK_RUN = range(6)


@dataclass(frozen=True, slots=True)
class Pair:
    """One input of the encoder: `[CLS] claim [SEP] chunk [SEP]`."""

    ids: Ids
    marks: npt.NDArray[np.int8]
    claim: int  # number of claim tokens; they are at positions 1 to claim

    def __len__(self) -> int:
        return len(self.ids)


def token_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Ids]:
    """Return each text's ids without special tokens; a text without any token becomes [UNK]."""
    encoded = tokenizer.encode_batch_fast(
        [without_surrogates(text) for text in texts], add_special_tokens=False
    )
    return [np.array(e.ids or [UNKNOWN], dtype=np.int32) for e in encoded]


def make_pair(claim: Ids, chunk: Ids) -> Pair:
    """Build one pair; the claim is cut at 254 tokens, the chunk where both together reach 510."""
    claim = claim[:MAX_CLAIM]
    chunk = chunk[: MAX_TOKENS - len(claim) - 3]
    ids = np.concatenate([[CLS], claim, [SEP], chunk, [SEP]]).astype(np.int32)
    marks = np.zeros(len(ids), dtype=np.int8)
    equal = claim[:, None] == chunk[None, :]
    place = 1 + len(claim)
    marks[1:place] = np.where(equal.any(axis=1), MARK_FOUND, MARK_CLAIM)
    marks[1:place][_runs(equal)] = MARK_RUN
    marks[place + 1 : -1] = np.where(equal.any(axis=0), MARK_SHARED, MARK_CHUNK)
    return Pair(ids, marks, len(claim))


def _runs(equal: Mask) -> Mask:
    """True for claim tokens (n,) that have the same neighbour on one side in the chunk, too.

    Args:
        equal: whether token i of the claim is token j of the chunk (n, m).
    """
    inside = np.zeros(len(equal), dtype=bool)
    both = (equal[:-1, :-1] & equal[1:, 1:]).any(axis=1)
    inside[:-1] |= both
    inside[1:] |= both
    return inside


def by_budget(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield indices in batches of similar length whose padded size stays within `budget` tokens."""
    batch: list[int] = []
    for index in np.argsort(lengths, kind="stable")[::-1].tolist():
        if batch and (len(batch) + 1) * lengths[batch[0]] > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def pad(pairs: Sequence[Pair]) -> tuple[Ids, Ids, Mask, Mask]:
    """Return ids, marks, attention mask and claim mask, each (len(pairs), longest)."""
    width = max(map(len, pairs))
    ids = np.zeros((len(pairs), width), dtype=np.int32)
    marks = np.zeros((len(pairs), width), dtype=np.int32)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair)] = pair.ids
        marks[row, : len(pair)] = pair.marks
    places = np.arange(width)[None, :]
    mask = places < np.array([len(p) for p in pairs])[:, None]
    claim = (places >= 1) & (places <= np.array([p.claim for p in pairs])[:, None])
    return ids, marks, mask, claim
