"""What stands below each heading, lead-in and list item of an answer, and whether it is left."""

from __future__ import annotations

import re
from collections.abc import Sequence

from franq_guard.claims.blocks import DELIMITER_ROW, UNDERLINE, Block
from franq_guard.claims.forms import SOURCES

__all__ = ["Outline", "end_of_line", "underline"]

_APART = frozenset({"footnote", "entry", "citation"})
"""Kinds of blocks that are below no heading: they belong to the whole answer."""
_BOLD_HEADING, _PARAGRAPH, _LIST = 7, 8, 9
_PART_OF_ITEM = 10**6  # more than any item: it is below the item that it belongs to
_TO_COME = 10**7  # below everything


class Outline:
    """Reads an answer from its last block to its first.

    Each block has a rank: 1 to 6 for "#" to "######", then bold headings, paragraphs, and list
    items by how far they are indented. Below a block is what follows it with a higher rank.

    Args:
        text: the answer, with line feeds for all line ends.
        found: its blocks.
        goes_on: whether more text follows; what is below its last blocks then counts as removed.
    """

    def __init__(self, text: str, found: Sequence[Block], *, goes_on: bool = False) -> None:
        self._text, self._found = text, found
        self._below = [(_TO_COME, False, True)] if goes_on else []  # rank, is left, was removed
        self._rank, self._left, self._lost = 0, False, False

    def is_emptied(self, k: int) -> bool:
        """Whether something below block ``k`` was removed, and nothing is left below it."""
        self._rank, self._left, self._lost = self._rank_of(k), False, False
        while self._below and self._below[-1][0] > self._rank:
            _, left, lost = self._below.pop()
            self._left, self._lost = self._left or left, self._lost or lost
        return self._lost and not self._left

    def add(self, *, is_left: bool) -> None:
        """Whether something is left of the block that :meth:`is_emptied` was last asked of."""
        self._below.append((self._rank, self._left or is_left, self._lost or not is_left))

    def _rank_of(self, k: int) -> int:
        text, block = self._text, self._found[k]
        after = self._found[k - 1].end if k else 0
        if block.kind in _APART or SOURCES.match(text[block.start : block.end]):
            return 0
        if block.kind == "heading":
            line = underline(text, block)
            signs = text.count("#", after, block.start)
            return signs or (_BOLD_HEADING if line is None else 1 + ("=" not in line.group()))
        if block.kind == "item":
            return _LIST + 2 * block.indent + (not block.numbered)  # "1. Red:" may hold "- Old"
        if block.kind in {"table_head", "row"}:
            return _LIST + (block.kind == "row")
        goes_on = k > 0 and self._found[k - 1].kind == "item" and not block.after_blank
        is_indented = text[max(after, block.start - 1) : block.start] in {" ", "\t"}
        return _PART_OF_ITEM if goes_on or is_indented else _PARAGRAPH


def underline(text: str, block: Block) -> re.Match[str] | None:
    """The line below a heading that makes it one, or below the header of a table."""
    pattern = {"heading": UNDERLINE, "table_head": DELIMITER_ROW}.get(block.kind)
    start = end_of_line(text, block.end)
    return pattern.match(text, start, end_of_line(text, start)) if pattern else None


def end_of_line(text: str, at: int) -> int:
    """Where the next line begins."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1
