"""How much of an answer that is still being written is split for good.

A sentence is settled when nothing that may follow can move its end any more:

- ``LOOK_AHEAD`` more characters of its paragraph follow it (abbreviations, numbers, notes and
  ellipses are told from what comes next), or its paragraph is over: a blank line, a line break
  after a full stop, the next list item;
- no quotation mark or bracket that opened before its end could still be closed behind it: between
  the two, full stops end nothing. Tried by closing each;
- no inline numbering, such as "(1)", stands in its paragraph: a second number makes it a list.

A heading, code block or table row is settled when the line after it is complete, the header of a
table with its first row.

Not foreseen: a line that begins with whole sentences, gets a ``|`` after them and turns out to be
the header of a table, or a row of the table above it. What was settled of it stays prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from franq_guard.claims.blocks import ENDS, Block, blocks
from franq_guard.claims.sentences import sentences
from franq_guard.records import Span

LOOK_AHEAD = 40
"""Characters that decide where the sentence before them ends (``sentencex`` reads 30 bytes)."""
_LINE_IS_TOLD = 16
"""Characters from which a line cannot become a list item, a quotation or a fence any more."""

_CLOSERS = ('"', "'", "`", "''", "``", "’", "”", "“", "»", "«", "›", "‚", "‛", "‟", "》", "」", ")")
_OPENER = re.compile(r"[`\"«‘‚“‛„»‟‹《「(（<{\[]|\B'|''")
_NUMBER = r"(?:\d{1,9}|[A-Za-z]|[ivxlcdmIVXLCDM]{1,9})"
_NUMBERING = re.compile(
    rf"(?:^|[ \t\n])(?:\({_NUMBER}\)|{_NUMBER}\.?\))(?=[ \t\n])"
    rf"|(?:^|\n)[ \t]*(?:{_NUMBER}\.|[*+-])(?=[ \t\n])"
    r"|[•◦▪▫■□●○⁃⁌⁍◆◇★☆➤➢➣▶▸►]"
)
_BOLD = re.compile(r"(?:\*\*|__)[^.!?]*")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def settled(text: str, *, language: str = "en") -> int:
    """Where the last sentence, heading, code block or row ends that more text cannot change.

    Up to there :class:`~franq_guard.claims.RuleSplitter` gives the same claims for ``text`` and for
    every text that begins with it. 0: none yet.
    """
    found = blocks(text)
    end = 0
    for i, block in enumerate(found):
        if _is_over(text, block, found[i + 1] if i + 1 < len(found) else None):
            if block.kind != "table_head":  # it is one by the line below it
                end = block.end
            continue
        for _, stop in _settled_sentences(text, block, language):
            end = stop
        break
    return end


def _is_over(text: str, block: Block, after: Block | None) -> bool:
    """Whether the block can neither grow nor become another kind."""
    prose = block.kind in {"paragraph", "item"} and "|" not in text[block.start : block.end]
    rest = text[block.end :].lstrip(" \t\r")
    if prose and rest.startswith("\n") and text[: block.end].endswith(ENDS):
        return True
    if after is None:
        return prose and _BLANK_LINE.match(rest) is not None
    return "\n" in text[after.start :] or (prose and len(text) - after.start >= _LINE_IS_TOLD)


def _settled_sentences(text: str, block: Block, language: str) -> Iterator[Span]:
    """The settled sentences of a block that is still open."""
    if block.kind not in {"paragraph", "item"} or "|" in text[block.start : block.end]:
        return
    last_line = len(text) - text.rfind("\n", block.start) - 1
    if "\n" in text[block.start :] and last_line < _LINE_IS_TOLD:
        return
    part = text[block.start : block.end]
    spans = sentences(part, 0, len(part), language=language)
    for start, end in spans[:-1]:
        near = end + LOOK_AHEAD
        if len(part) < near or _BOLD.fullmatch(part, 0, end) or _NUMBERING.search(part, 0, end + 1):
            return
        if _OPENER.search(part, 0, near) and not _stays(part, end, language):
            return
        yield block.start + start, block.start + end


def _stays(part: str, end: int, language: str) -> bool:
    """Whether a sentence still ends there when any quotation mark or bracket is closed."""
    closed = (sentences(part + mark, 0, len(part + mark), language=language) for mark in _CLOSERS)
    return all(any(stop == end for _, stop in spans) for spans in closed)
