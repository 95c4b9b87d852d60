"""The pieces of claims, and what each is read beside."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.faithfulness.small.comparing.compared import compared
from franq_guard.faithfulness.small.cut import Cut, Texts, claim_pieces
from franq_guard.faithfulness.small.spelling import as_written

__all__ = ["asked"]


def asked(contexts: Sequence[Texts], claims: Sequence[str]) -> list[tuple[int, str, Cut]]:
    """The pieces of each claim: its index, the piece, and what it is read beside, if anything."""
    cut = {context: Cut.of(context) for context in dict.fromkeys(map(tuple, contexts))}
    cuts = [cut[tuple(context)] for context in contexts]
    spelled = [as_written(claim, c.whole) for claim, c in zip(claims, cuts, strict=True)]
    parts = {claim: claim_pieces(claim) for claim in dict.fromkeys(spelled)}
    return [
        (index, part, _evidence(part, context))
        for index, (context, claim) in enumerate(zip(cuts, spelled, strict=True))
        for part in parts[claim]
        if context.chunks
    ]


def _evidence(part: str, context: Cut) -> Cut:
    """What a claim is read beside: the context, or itself if the cells of a table prove it.

    "Line 4 departs earlier than line 2" stands nowhere, yet the table says so.
    """
    return Cut.of((part,)) if compared(part, context.source) else context
