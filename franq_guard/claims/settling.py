"""How much of an answer that is still being written is already split for good.

A sentence is settled when no later text can change where it ends:

- ``LOOK_AHEAD`` more characters of its paragraph follow it (abbreviations, numbers, notes and
  ellipses are recognised by what comes next), or its paragraph has ended: by a blank line, a line
  break after a full stop, or the next list item;
- no quotation mark or bracket that opened before its end can still be closed after it, since
  sentences do not end inside quotes and brackets. This is tested by closing each of them;
- there is no inline numbering, such as "(1)", in its paragraph: a second number makes it a list;
- it is not "Yes." or "It does.": the sentence after it, which must be settled, decides about it.

A heading, code block or table row is settled when the line after it is complete, the header of a
table with its first row, reasoning when anything follows its closing tag. Nothing is settled while
all of the text may be a JSON object or array, nor the list after a line "Sources:" before its end,
nor what follows a tag within a line, such as "<think>", until its closing tag comes.

Not handled: a line that begins with whole sentences, continues with a ``|`` and turns out to be the
header of a table, or a row of the table above it. What was settled of it remains prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from franq_guard.basics.template_marks import FIRST, as_tags
from franq_guard.basics.text import with_line_feeds
from franq_guard.claims.blocks import (
    ENDS,
    NOTHING,
    WRAP_WIDTH,
    Block,
    blocks,
    closing_sources,
    in_formula,
    is_bold_field,
    title_words,
)
from franq_guard.claims.fences import has_fence
from franq_guard.claims.forms import OPENS_JSON, may_become_json, open_tag
from franq_guard.claims.sentences import sentences
from franq_guard.records import Span

LOOK_AHEAD = 40
"""How many characters after a sentence decide where it ends (``sentencex`` reads 30 bytes)."""
_KIND_IS_KNOWN = 16
"""A line of this length can no longer become a list item, a quotation or a fence."""

_CLOSERS = (
    '"', "'", "`", "''", " ''", "``", "’", "”", "“", "»", "«", "›", "‚", "‛", "‟", "》", "」", ")",
)  # fmt: skip
_OPENER = re.compile(r"[`\"«‘‚“‛„»‟‹《「(（<{\[]|\B'|''")
_NUMBER = r"(?:\d{1,9}|[A-Za-z]|[ivxlcdmIVXLCDM]{1,9})"
_NUMBERING = re.compile(
    rf"(?:^|[ \t\n])(?:\({_NUMBER}\)|{_NUMBER}\.?\))(?=[ \t\n])"
    rf"|(?:^|\n)[ \t]*(?:{_NUMBER}\.|[*+-])(?=[ \t\n])"
    r"|[•◦▪▫■□●○⁃⁌⁍◆◇★☆➤➢➣▶▸►]"
)
_BOLD = re.compile(r"(?:\*\*|__)[^.!?]*")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_ON_ONE_LINE = re.compile(rf"[ \t]+(?=[^\W_])[^\n]{{{WRAP_WIDTH}}}")


def settled(
    text: str,
    *,
    language: str = "en",
    known: int = 0,
    waits: Callable[[str], bool] = lambda _: False,
) -> int:
    """The end of the last sentence, heading, code block or row that more text cannot change.

    Up to there :class:`~franq_guard.claims.RuleSplitter` gives the same claims for ``text`` and for
    every text that begins with it. 0: none yet.

    Args:
        text: the answer so far.
        language: of its sentences.
        known: an earlier result for a beginning of the text, which is not examined again.
        waits: whether the sentence that ends a text means what the next one makes of it ("Yes.").
    """
    if may_become_json(text):
        return 0
    text = with_line_feeds(text.removesuffix("\r"))  # which may be half of a CRLF
    text = text[: open_tag(text)]
    found = blocks(text)
    # The next line may be an entry, too, so what they are is known at the end of the list.
    sources = closing_sources(text, found if _kind_is_known(text, found) else found[:-1])
    end = 0
    for i, block in enumerate(found[:sources]):
        if _is_over(text, block, found[i + 1] if i + 1 < len(found) else None):
            # The line below makes a header; what follows "Yes." or a title decides about it.
            is_open = waits(text[block.start : block.end]) or title_words(text, block)
            if block.kind != "table_head" and not is_open:
                end = block.end
            continue
        ends = _settled_sentences(text, block, language, known)
        while ends and waits(text[block.start : ends[-1]]):
            ends.pop()
        return ends[-1] if ends else end
    return end


@dataclass(frozen=True, slots=True)
class Restart:
    """A place from which a text can be split without the text before it.

    ``is_block``: a block begins there; otherwise a sentence within a paragraph ends there.
    """

    at: int
    is_block: bool


def restart(text: str, end: int) -> Restart | None:
    """The last such place in a text that is settled up to ``end``; None if there is none.

    Splitting from there gives the same result as splitting the whole text, whatever follows. The
    place is never inside a table or a fence, and only at the beginning of a list item, because
    their parts depend on the text before; nor before or after what would be JSON by itself.
    """
    if OPENS_JSON.match(text):
        return None
    text = with_line_feeds(text)
    found = blocks(text)
    within = next((i for i, block in enumerate(found) if block.end > end), None)
    if within is None:
        return None
    block = found[within]
    if has_fence(text[: block.start], of_prose=True):
        return None  # what closes it would begin code
    if block.start < end and _may_begin_at(text, block, end):
        return Restart(end, is_block=False)
    if (
        not within
        or block.kind in {*NOTHING, "entry", "row", "table_head"}
        or is_bold_field(text, block)
    ):
        return None
    if title_words(text, block):
        return None  # the line above decides whether it is one
    if text.startswith(FIRST, block.start):
        return None  # a text that begins so may be what a model thinks
    before = found[within - 1]
    at = text.rfind("\n", 0, block.start) + 1
    if at < before.end or "|" in text[before.start : before.end]:
        return None  # a tag that breaks the line, or a table that may continue
    # The end of what began before, if it is a tag or a fence.
    lead = as_tags(text)[at : block.start]
    if OPENS_JSON.match(text, at) or "</" in lead or has_fence(lead):
        return None
    return Restart(at, is_block=True)


def _may_begin_at(text: str, block: Block, end: int) -> bool:
    """Whether the rest of a paragraph, from ``end`` on, is split as in the whole paragraph.

    Its first line must stay long enough to be wrapped: whether the next line continues it depends
    on its length.
    """
    if block.kind != "paragraph" or "|" in text[block.start : block.end]:
        return False
    if not _ON_ONE_LINE.match(text, end):
        return False
    rest = blocks(text[end:])
    return bool(rest) and rest[0].kind == "paragraph"


def _kind_is_known(text: str, found: Sequence[Block]) -> bool:
    """Whether the kind of the last block is known."""
    start = found[-1].start if found else len(text)
    return "\n" in text[start:] or len(text) - start >= _KIND_IS_KNOWN


def _is_over(text: str, block: Block, after: Block | None) -> bool:
    """Whether the block can neither grow nor become another kind."""
    prose = block.kind in {"paragraph", "item"} and "|" not in text[block.start : block.end]
    rest = text[block.end :].lstrip(" \t")
    ends = text[: block.end].endswith(ENDS) and not in_formula(text, block)
    if prose and ends and rest.startswith("\n"):
        return True
    if after is None:
        return prose and _BLANK_LINE.match(rest) is not None
    if block.kind == "reasoning" or "\n" in text[after.start :]:
        return True
    # A line that begins with "```" is no fence if another "`" follows in it.
    return prose and after.kind != "code" and len(text) - after.start >= _KIND_IS_KNOWN


def _settled_sentences(text: str, block: Block, language: str, known: int) -> list[int]:
    """The ends of the settled sentences in a block that may still grow."""
    if block.kind not in {"paragraph", "item"} or "|" in text[block.start : block.end]:
        return []
    last_line = len(text) - text.rfind("\n", block.start) - 1
    if "\n" in text[block.start :] and last_line < _KIND_IS_KNOWN:
        return []
    part = text[block.start : block.end]
    spans = sentences(part, 0, len(part), language=language)
    found = list(_before_numbering(part, spans[:-1]))
    opener = _OPENER.search(part)
    sure = max(known - block.start, opener.end() - LOOK_AHEAD - 1 if opener else len(part))
    staying = _staying(part, [span for span in found if span[1] > sure], language)
    kept = [*(span for span in found if span[1] <= sure), *staying]
    return [block.start + end for _, end in kept]


def _before_numbering(part: str, spans: list[Span]) -> Iterator[Span]:
    """The sentences with enough text after them, before any numbering that may become a list."""
    numbering = _NUMBERING.search(part)
    for start, end in spans:
        if len(part) < end + LOOK_AHEAD or _BOLD.fullmatch(part, 0, end):
            return
        if numbering and numbering.end() <= end + 1:
            return
        yield start, end


def _staying(part: str, spans: list[Span], language: str) -> list[Span]:
    """The sentences, up to the first one that changes if some quotation mark or bracket is closed.

    A mark that closes can cut a sentence in two as well as join two, so starts are compared, too.
    The text is split once for each mark, not for each sentence: a paragraph may be long.
    """
    for mark in _CLOSERS:
        if not spans:
            break
        now = set(sentences(part + mark, 0, len(part + mark), language=language))
        spans = list(takewhile(now.__contains__, spans))
    return spans
