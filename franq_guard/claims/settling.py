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
from dataclasses import dataclass
from itertools import takewhile

from franq_guard.claims.blocks import ENDS, NOTHING, WRAP_WIDTH, Block, blocks
from franq_guard.claims.sentences import sentences

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
_ON_ONE_LINE = re.compile(rf"[ \t]+(?=[^\W_])[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]{{{WRAP_WIDTH}}}")


def settled(text: str, *, language: str = "en", known: int = 0) -> int:
    """Where the last sentence, heading, code block or row ends that more text cannot change.

    Up to there :class:`~franq_guard.claims.RuleSplitter` gives the same claims for ``text`` and for
    every text that begins with it. 0: none yet. ``known``: what was said of a beginning of the
    text, which is not looked into again.
    """
    found = blocks(text)
    end = 0
    for i, block in enumerate(found):
        if _is_over(text, block, found[i + 1] if i + 1 < len(found) else None):
            if block.kind != "table_head":  # it is one by the line below it
                end = block.end
            continue
        ends = _settled_sentences(text, block, language, known)
        return ends[-1] if ends else end
    return end


@dataclass(frozen=True, slots=True)
class Restart:
    """A place from which a text may be split without what stands before it.

    ``is_block``: a block begins there; otherwise a sentence within a paragraph ends there.
    """

    at: int
    is_block: bool


def restart(text: str, end: int) -> Restart | None:
    """The last such place in a text that is settled up to ``end``; None where there is none.

    What is split from there on is what it is in the whole text, however that goes on. Tables and
    code are never entered, list items only at their beginning: their parts need what came before.
    """
    found = blocks(text)
    within = next((i for i, block in enumerate(found) if block.end > end), None)
    if within is None:
        return None
    block = found[within]
    if block.start < end and _may_begin_at(text, block, end):
        return Restart(end, is_block=False)
    if not within or block.kind in {*NOTHING, "row", "table_head"}:
        return None
    before = found[within - 1]
    at = text.rfind("\n", 0, block.start) + 1
    if at < before.end or "|" in text[before.start : before.end]:
        return None  # the line breaks in another way, or a table may go on
    return Restart(at, is_block=True)


def _may_begin_at(text: str, block: Block, end: int) -> bool:
    """Whether the rest of a paragraph is read as one, and its line stays long enough to be wrapped.

    (Whether the next line continues it depends on the length of the line.)
    """
    if block.kind != "paragraph" or "|" in text[block.start : block.end]:
        return False
    if not _ON_ONE_LINE.match(text, end):
        return False
    rest = blocks(text[end:])
    return bool(rest) and rest[0].kind == "paragraph"


def _is_over(text: str, block: Block, after: Block | None) -> bool:
    """Whether the block can neither grow nor become another kind."""
    prose = block.kind in {"paragraph", "item"} and "|" not in text[block.start : block.end]
    rest = text[block.end :].lstrip(" \t\r")
    if prose and rest.startswith("\n") and text[: block.end].endswith(ENDS):
        return True
    if after is None:
        return prose and _BLANK_LINE.match(rest) is not None
    return "\n" in text[after.start :] or (prose and len(text) - after.start >= _LINE_IS_TOLD)


def _settled_sentences(text: str, block: Block, language: str, known: int) -> list[int]:
    """Where the settled sentences of a block end that is still open."""
    if block.kind not in {"paragraph", "item"} or "|" in text[block.start : block.end]:
        return []
    last_line = len(text) - text.rfind("\n", block.start) - 1
    if "\n" in text[block.start :] and last_line < _LINE_IS_TOLD:
        return []
    part = text[block.start : block.end]
    spans = sentences(part, 0, len(part), language=language)
    ends = list(_before_numbering(part, [end for _, end in spans[:-1]]))
    opener = _OPENER.search(part)
    sure = max(known - block.start, opener.end() - LOOK_AHEAD - 1 if opener else len(part))
    closed = _staying(part, [end for end in ends if end > sure], language)
    return [block.start + end for end in ends if end <= sure] + [block.start + e for e in closed]


def _before_numbering(part: str, ends: list[int]) -> Iterator[int]:
    """Those of the ends that are told by what follows, before anything that may be a list."""
    numbering = _NUMBERING.search(part)
    for end in ends:
        if len(part) < end + LOOK_AHEAD or _BOLD.fullmatch(part, 0, end):
            return
        if numbering and numbering.end() <= end + 1:
            return
        yield end


def _staying(part: str, ends: list[int], language: str) -> list[int]:
    """The ends, up to the first that moves when some quotation mark or bracket is closed.

    The sentences are split once for each mark, not for each end: a paragraph may be long.
    """
    for mark in _CLOSERS:
        if not ends:
            break
        stops = {stop for _, stop in sentences(part + mark, 0, len(part + mark), language=language)}
        ends = list(takewhile(stops.__contains__, ends))
    return ends
