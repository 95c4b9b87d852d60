"""The claims of a row of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from franq_guard.claims.blocks import Block
from franq_guard.claims.rules.enclosed import around, enclosed, hide, statements
from franq_guard.claims.rules.nonclaims import reason
from franq_guard.claims.rules.render import as_sentence, plain
from franq_guard.claims.spans import subtract
from franq_guard.records import Claim, Span

__all__ = ["row_claims", "without_refusal"]

_DASHES = " -–—/"
"""What a cell without a value holds."""


def row_claims(answer: str, block: Block, head: Sequence[str]) -> Iterator[Claim]:
    """One claim for each cell after the first one, which names what the row is about.

    A cell of several sentences is one claim for each; as a first cell it names nothing then.

    Args:
        answer: with blanks for citations.
        block: the row.
        head: the names of its columns.
    """
    cells = [(k, cell) for k, cell in enumerate(block.cells) if cell[0] < cell[1]]
    if not cells:
        return
    start, end = cells[0][1]
    bare = (answer[start:end].strip(), ((start, end),))  # an address is no sentence, but names
    first, *others = list(_sentences(answer, (start, end))) or [bare]
    key, spans = first[0], first[1]
    if others or len(cells) == 1:
        for text, sentence_spans in (first, *others):
            yield Claim(as_sentence(text), sentence_spans)
        key, spans = "", ()
    for k, cell in cells[1:]:
        name = head[k] if k < len(head) else ""
        for value, value_spans in _sentences(answer, cell):
            text = as_sentence(": ".join(filter(None, (key, name, value))))
            why = None if value.strip(_DASHES) else "no statement"
            yield Claim(text, (*spans, *value_spans), not_a_claim=why)
            spans = ()


def without_refusal(claim: Claim) -> Claim:
    """The claim of a cell; "not mentioned" states nothing."""
    return claim if (why := reason(claim.text)) != "refusal" else replace(claim, not_a_claim=why)


def _sentences(answer: str, cell: Span) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """The sentences of a cell: text and spans."""
    found = statements(answer, *cell)
    parts = [inner for span in found for inner in (span, *enclosed(answer, *span))]
    for part in parts:
        hidden = around(answer, part, parts)
        text = plain(hide(answer, hidden)[slice(*part)]).strip()
        yield text, tuple(subtract((part,), hidden))
