"""Reads the tables of a passage: each row with its header, also as a sentence.

"| Iceland | 7 days |" says nothing without the header, which stands lines above it.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from franq_guard.faithfulness.small.tables.measured import with_units
from franq_guard.faithfulness.small.tables.objects import Record
from franq_guard.faithfulness.small.tables.records import onward, records
from franq_guard.records import Span

# |---|:-:|. The many ++ and *+ here: a run is never read twice, however long it is.
_RULE: Final = re.compile(r"\s*+\|?(?:\s*+:?-++:?\s*+\|)*\s*+:?-++:?\s*+\|?\s*+")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_TAB: Final = re.compile(r"\t")
_TIGHT: Final = re.compile(r"[,;](?!\s)")  # a comma of a sentence has a blank behind it
_LINE: Final = re.compile(r"^[ \r]*+[^ \r\n][^\n]*", re.MULTILINE)
"""A line that is not empty; one of tabs has cells."""
_LINK: Final = re.compile(r"\[([^\]]{1,300})\]\([^)]{0,2000}\)")
_MARKS: Final = re.compile(r"\*+|`|\\(?=\|)|[†‡]|\[\d+\]$")
_NAMING: Final = ("name", "title")
"""Keys of what names a record; an id may stand before it."""
_LONGEST: Final = 4000
"""A line of more characters is no row."""
_FEWEST_LINES: Final = 3
"""Of a table without a rule below its header."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, and what stands above its cells."""

    span: Span
    cells: tuple[str, ...]
    heads: tuple[str, ...]
    label: int  # the column that names the row

    def sentence(self) -> str:
        """The row in words: "Destination Iceland: Up to 2 kg €14.20, Delivery time 7 days."""
        said = [f"{head} {cell}".strip() for head, cell in zip(self.heads, self.cells, strict=True)]
        others = [text for at, text in enumerate(said) if at != self.label and self.cells[at]]
        return f"{said[self.label]}: {', '.join(others)}." if others else f"{said[self.label]}."


@lru_cache(maxsize=256)
def tables(text: str) -> tuple[tuple[Span, tuple[Row, ...]], ...]:
    """Return the characters and the rows of each table of a text.

    A table is a run of lines with cells between pipes, tabs, or commas or semicolons without blanks
    behind them: a header with a rule below it, or at least three lines of equally many cells.
    Records with the same keys are a table, too.
    """
    return tuple(_tables(text))


def _tables(text: str) -> Iterator[tuple[Span, tuple[Row, ...]]]:
    lines = [line.span() for line in _LINE.finditer(text)]
    at = 0
    while at < len(lines):
        start, end = lines[at]
        # Records first: the commas of compact JSON would be those of a table.
        found = [_of_records(group) for group in records(text, lines, at)]
        for rows in found:  # words may stand before a list of them, and behind it
            before = text[start : rows[0].span[0]]
            start, end = start + len(before.rstrip().removesuffix("[")), rows[-1].span[1]
            yield (start, min(len(text), end + 1)), rows
            start = end + 1
        if not found and (block := _block(text, lines, at)):
            end = block[-1].span[1]
            if rows := _rows(block):
                yield (start, min(len(text), end + 1)), rows
        at = bisect_right(lines, (end, end))


class _Line(NamedTuple):
    span: Span
    cells: tuple[str, ...]
    is_rule: bool


def _block(text: str, lines: Sequence[Span], at: int) -> list[_Line]:
    """The lines of a table that begins with one of them, as far as it goes."""
    found: list[_Line] = []
    cut = _cutter(text[slice(*lines[at])])
    if cut is None:
        return []
    for start, end in onward(lines, at):
        if end - start > _LONGEST:
            break
        line = text[start:end]
        rule = "|" in line and bool(_RULE.fullmatch(line))
        cells = _cells(line, cut)
        adjacent = not found or start == found[-1].span[1] + 1
        if not adjacent or (not rule and found and len(cells) != len(found[0].cells)):
            break
        found.append(_Line((start, end), cells, rule))
    return found


def _cutter(line: str) -> re.Pattern[str] | None:
    """What stands between the cells of a line; None if it has none."""
    if len(line) > _LONGEST:
        return None
    for cut, least in ((_PIPE, 1), (_TAB, 1), (_TIGHT, 2)):
        if len(cut.findall(line.strip().strip("|"))) >= least:
            return cut
    return None


def _cells(line: str, cut: re.Pattern[str]) -> tuple[str, ...]:
    if cut is _TIGHT:
        delimiter = max(",;", key=line.count)
        # csv takes a lone return for the end of a line, and refuses what stands behind it.
        found = next(csv.reader([line.replace("\r", " ")], delimiter=delimiter))
    elif cut is _PIPE:
        inner = line.strip().removeprefix("|")
        inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
        found = cut.split(inner)
    else:
        found = cut.split(line)
    return tuple(map(_plain, found))


def _plain(cell: str) -> str:
    """What a cell says, without the marks of a link, of bold letters or of a footnote."""
    return _MARKS.sub("", _LINK.sub(r"\1", cell)).strip()


def _rows(lines: Sequence[_Line]) -> tuple[Row, ...]:
    ruled = len(lines) > 1 and lines[1].is_rule
    if not ruled and len(lines) < _FEWEST_LINES:
        return ()
    body = [line for line in lines if not line.is_rule]
    if not body:
        return ()
    heads = body[0].cells if ruled or _is_header([line.cells for line in body]) else ()
    below = body[1:] if heads else body
    if not below:
        return ()
    heads, told = with_units(heads or ("",) * len(below[0].cells), [line.cells for line in below])
    label = _label(told)
    return tuple(
        Row(line.span, cells, heads, label) for line, cells in zip(below, told, strict=True)
    )


def _of_records(found: Sequence[Record]) -> tuple[Row, ...]:
    """Records as rows: their keys are the header, the name or the first value is the label."""
    heads = tuple(dict.fromkeys(key for record in found for key in record.values))
    label = next((at for at, head in enumerate(heads) if head.lower() in _NAMING), 0)
    return tuple(
        Row(record.span, tuple(_plain(record.values.get(key, "")) for key in heads), heads, label)
        for record in found
    )


def _is_header(body: Sequence[tuple[str, ...]]) -> bool:
    """Whether a column has a number in every line but the first one."""
    return any(
        not any(map(str.isdigit, column[0]))
        and all(any(map(str.isdigit, cell)) for cell in column[1:])
        for column in zip(*body, strict=True)
    )


def _label(body: Sequence[tuple[str, ...]]) -> int:
    """The column that names the rows: the first one with another text in each, unless it counts."""
    for at, column in enumerate(zip(*body, strict=True)):
        places = [str(place) for place in range(1, len(column) + 1)]
        counts = len(places) > 1 and [cell.strip(". ") for cell in column] == places
        if all(column) and len(set(column)) == len(column) and not counts:
            return at
    return 0
