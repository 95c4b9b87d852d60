"""Cuts contexts and claims into pairs that the encoder reads, and chooses what is worth reading.

The encoder's time grows with every (claim, text) pair. Most texts that were retrieved have little
to do with a given claim, and counting shared words tells which at a thousandth of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from franq_guard.faithfulness.small.chunks import chunks, pieces
from franq_guard.faithfulness.small.comparing.compared import compared
from franq_guard.faithfulness.small.encoder_input import CHUNK_TOKENS, CLAIM_TOKENS
from franq_guard.faithfulness.small.features import overlap
from franq_guard.faithfulness.small.plain import as_seen
from franq_guard.faithfulness.small.spelling import as_written
from franq_guard.faithfulness.small.tables.rows import tables
from franq_guard.faithfulness.small.written_out import written_out
from franq_guard.records import Span

Texts = tuple[str, ...]

NEAREST: Final = 2
"""How many sentences of the context are compared with a claim at most."""
MOST: Final = 64
"""How many chunks of the context are read beside a claim at most, some 12,000 tokens."""
SHARE: Final = 0.4
"""A text is read if its overlap with the claim is at least this share of the highest one."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A context cut into what the model reads: chunks of about equal length, and sentences.

    ``source`` is the context as one sees it (:func:`.plain.as_seen`); the others are
    written out. ``rows`` are the sentences that are a row of a table.
    """

    source: str
    whole: str
    chunks: Texts
    sentences: Texts
    rows: frozenset[str]

    @classmethod
    def of(cls, texts: Texts) -> Cut:
        """Cut each text separately, so that no chunk spans two passages.

        What was retrieved twice is read once, be it a passage or a sentence of overlapping ones.
        """
        texts = tuple(dict.fromkeys(map(as_seen, texts)))
        written = [written_out(text).text for text in texts]
        return cls(
            "\n\n".join(texts),
            "\n".join(written),
            tuple(chunk for text in texts for chunk in chunk_texts(text)),
            tuple(dict.fromkeys(text[a:b] for text in written for a, b in stretches(text))),
            frozenset(row.sentence() for text in texts for _, rows in tables(text) for row in rows),
        )


def read_together(contexts: Sequence[Texts], claims: Sequence[str]) -> list[tuple[int, str, Cut]]:
    """Return the sentences of all claims, each with its claim's index and what it is read beside.

    A claim is first written as its context writes numbers (:func:`.spelling.as_written`). One whose
    context has no text is left out.
    """
    cut = {context: Cut.of(context) for context in dict.fromkeys(map(tuple, contexts))}
    cuts = [cut[tuple(context)] for context in contexts]
    spelled = [as_written(claim, c.whole) for claim, c in zip(claims, cuts, strict=True)]
    parts = {claim: claim_pieces(claim) for claim in dict.fromkeys(spelled)}
    return [
        (index, part, _beside(part, context))
        for index, (context, claim) in enumerate(zip(cuts, spelled, strict=True))
        for part in parts[claim]
        if context.chunks
    ]


def _beside(part: str, context: Cut) -> Cut:
    """What a claim is read beside: the context, or itself if the cells of a table prove it.

    "Line 4 departs earlier than line 2" stands nowhere, yet the table says so.
    """
    return Cut.of((part,)) if compared(part, context.source) else context


def claim_pieces(claim: str) -> list[str]:
    """The sentences of a claim; those that are too long for the encoder are cut into pieces.

    One without a letter or digit ("🎉.") states nothing: it would only raise or lower the mean.
    """
    found = [claim[a:b] for a, b in pieces(claim, CLAIM_TOKENS)]
    return [piece for piece in found if any(map(str.isalnum, piece))] or found


def stretches(text: str) -> tuple[Span, ...]:
    """The sentences of a text; those that are too long for the encoder are cut into pieces."""
    return pieces(text, CHUNK_TOKENS)


def chunk_texts(context: str) -> list[str]:
    """The chunks of a text, written out."""
    written = written_out(context).text
    return [written[a:b] for a, b in chunks(written, CHUNK_TOKENS)]


def worth_reading(claim: str, texts: Sequence[str], share: float = SHARE) -> list[int]:
    """Return the indices of the texts that share enough words with the claim, in order.

    Enough is measured by the text that shares most, so at least one is always read if there is any.
    Where no text stands out, as with a claim that none of them states, all are read, but never more
    than the `MOST` that share most: a whole book must not take minutes.

    Args:
        claim: what the texts may state.
        texts: chunks of passages.
        share: of the highest overlap.
    """
    if len(texts) < 2:
        return list(range(len(texts)))
    values = [overlap(claim, text) for text in texts]
    least = share * max(values)
    enough = [i for i, value in enumerate(values) if value >= least]
    return sorted(sorted(enough, key=lambda i: -values[i])[:MOST])


def nearest(claim: str, texts: Sequence[str], share: float = SHARE) -> list[int]:
    """Return the indices of the texts that share most words with the claim, best first.

    At most `NEAREST`, and only those that are worth reading beside the best.
    """
    values = [overlap(claim, text) for text in texts]
    rank = sorted(range(len(texts)), key=lambda i: (-values[i], i))[:NEAREST]
    return [i for i in rank if values[i] >= share * values[rank[0]]]
