"""Reads HTML in a passage: what a reader of the page does not see becomes blanks.

Many loaders hand over a page as it is. Each character keeps its place, so that every stretch found
in the result is the same stretch of the passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from franq_guard.records import Span

_HIDDEN: Final = (
    (re.compile(r"<script\b[^<>]*>", re.I), re.compile(r"</script\s*>", re.I)),
    (re.compile(r"<style\b[^<>]*>", re.I), re.compile(r"</style\s*>", re.I)),
    (re.compile(r"<!--"), re.compile(r"-->")),
)
"""What begins and what ends that which no browser shows."""
_PAGE: Final = re.compile(
    r"^[ \t]*<(?:!doctype|!--|(?:html|head|body|title|meta|link|script|style|div|p|h[1-6]|ul|ol|li"
    r"|table|thead|tbody|tr|td|th|section|article|main|nav|header|footer)(?=[\s>]))",
    re.I | re.M,
)
"""A line that begins with a tag: the text is a page, not prose about tags."""
_TABLE: Final = re.compile(r"<table\b[^<>]*>", re.I)
_END_OF_TABLE: Final = re.compile(r"</table\s*>", re.I)
_ROW: Final = re.compile(r"<tr\b[^<>]*>", re.I)
_CELL: Final = re.compile(r"<t[dh]\b[^<>]*>", re.I)
_HEAD_CELL: Final = re.compile(r"<th\b", re.I)
_DATA_CELL: Final = re.compile(r"<td\b", re.I)
_TAG: Final = re.compile(
    r"</?(?:html|head|body|title|meta|link|div|p|br|hr|h[1-6]|ul|ol|li|dl|dt|dd|section|article"
    r"|main|nav|header|footer|blockquote|table|caption|colgroup|col|thead|tbody|tfoot|tr|td|th|pre)"
    r"(?:\s[^<>]*)?/?>|<!doctype\b[^<>]*>",
    re.I,
)
_INLINE: Final = re.compile(
    r"</?(?:a|b|i|u|em|strong|span|small|mark|font|abbr|cite|code|img)(?:\s[^<>]*)?/?>", re.I
)
_BLANK: Final = re.compile(r"\S")
_BREAK: Final = re.compile(r"[\n\r|]")


@lru_cache(maxsize=256)
def without_markup(text: str) -> str:
    """Return a page with blanks for its scripts, styles, comments and tags, of the same length.

    A tag of a block ends a line, and a row of a table becomes a line with pipes between its cells.
    A text in which no line begins with a tag is returned as it is, and so is Markdown that shows
    code: there the tags may be what it is about.
    """
    if "<" not in text or "```" in text or not _PAGE.search(text):
        return text
    text = _without_hidden(text)
    return _INLINE.sub(_blanks, _TAG.sub(_line, _with_tables(text)))


def _without_hidden(text: str) -> str:
    for opens, closes in _HIDDEN:
        parts, at = [], 0
        for start, end in _pairs(text, opens, closes):
            parts += [text[at:start], "\n".ljust(end - start)]
            at = end
        text = "".join([*parts, text[at:]])
    return text


def _pairs(text: str, opens: re.Pattern[str], closes: re.Pattern[str]) -> Iterator[Span]:
    """From each beginning to its end; what is never closed is left, since it may be cut off."""
    start = opens.search(text)
    while start is not None:
        end = closes.search(text, start.end())
        if end is None:
            return
        yield start.start(), end.end()
        start = opens.search(text, end.end())


def _with_tables(text: str) -> str:
    """The text with the rows of each table as lines, their cells between pipes."""
    parts, at = [], 0
    for start, end in _pairs(text, _TABLE, _END_OF_TABLE):
        parts += [text[at:start], _rows(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _rows(table: str) -> str:
    """The table, with a rule below a first row of nothing but header cells."""
    starts = [row.start() for row in _ROW.finditer(table)]
    if not starts:
        return table
    edges = [*starts, len(table)]
    lines = [_row(table[a:b]) for a, b in zip(starts, edges[1:], strict=True)]
    if len(lines) > 1:
        first = table[edges[0] : edges[1]]
        if _HEAD_CELL.search(first) and not _DATA_CELL.search(first):
            lines[1] = "\n|-\n" + lines[1][4:]  # in place of "<tr>"
    # The last character is that of "</table>".
    return _TAG.sub(_blanks, table[: starts[0]]) + "".join(lines)[:-1] + "\n"


def _row(row: str) -> str:
    """One row as one line; the line break before it takes the place of its "<"."""
    cells = _CELL.sub(lambda cell: "|".ljust(len(cell.group())), _BREAK.sub(" ", row))
    return "\n" + _TAG.sub(_blanks, cells)[1:]


def _line(tag: re.Match[str]) -> str:
    return "\n".ljust(len(tag.group()))


def _blanks(found: re.Match[str]) -> str:
    return _BLANK.sub(" ", found.group())
