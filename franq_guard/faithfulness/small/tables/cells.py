"""Finds claims that take a value from another cell of a table than the one they are about.

All numbers of a table stand near each other and near all its labels, so that a claim about one row
seems to be stated by the number of another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from franq_guard.faithfulness.small.tables.rows import Row, tables
from franq_guard.faithfulness.small.tables.sections import Section, sections
from franq_guard.faithfulness.small.words import STOPWORDS, words
from franq_guard.records import Span

_NUMBER: Final = re.compile(
    r"(?<![A-Za-z])[A-Za-z]++-?\d\w*|\d+(?:[.,:]\d+)*"
)  # B-204, 1,200, 18:00
_BETWEEN: Final = re.compile(r", (?:and |or )?| and | or ")
_ITEMS: Final = re.compile(r"[^\W\d][^\s,]*(?: [^\s,]+){0,3}(?:, [^\s,]+(?: [^\s,]+){0,3})+")
_LIST: Final = frozenset({", "})  # stands for the words of a line that is a list
_ALIKE: Final = 5
"""Words of labels and headers are the same if so many letters at their beginning are."""
_FILLERS: Final = frozenset(word[:_ALIKE] for word in STOPWORDS)
"""A claim with "from" or "to" does not mean the column of that name."""
_MOST: Final = 2 / 3
"""A row or column is named by so many of its words."""
_ANSWERS: Final = frozenset({"yes", "no"})
"""No words that a claim takes from a cell: of the column "active" it says "is active"."""
_MOST_ROWS: Final = 500
"""A claim is looked up in so many rows of a table, or lines of sections, at most."""


class _Cell(NamedTuple):
    """What a cell says, and the words that tell which cell it is."""

    row: frozenset[str]
    column: frozenset[str]
    values: frozenset[frozenset[str]]


def misplaced(claim: str, context: str) -> bool:
    """Whether the claim takes a value from another cell of a table than the one it is about.

    A value is a number of a cell, or all words of a cell without numbers. Wherever it stands, the
    claim names another row (or column) instead, and has nothing of what that one has there.

    Args:
        claim: a sentence.
        context: the original text, with its tables as they are.
    """
    grids = _grids(context)
    if not grids:
        return False
    names, said = _shortened(words(claim)), _words(claim)
    wrong, right = set[frozenset[str]](), set[frozenset[str]]()
    for grid in grids:
        for value, is_right in _placed(grid.cells, names, said - grid.elsewhere):
            (right if is_right else wrong).add(value)
    return bool(wrong - right)  # another table may have it in its place


def _placed(
    cells: Sequence[_Cell], names: frozenset[str], values: frozenset[str]
) -> Iterator[tuple[frozenset[str], bool]]:
    """The values of a table that a claim has, and whether one of their cells suits it."""
    places: dict[frozenset[str], list[_Cell]] = {}
    for cell in cells:
        for value in cell.values:
            if value <= values:
                places.setdefault(value, []).append(cell)
    named = [cell for cell in cells if _mostly(cell.row, names) or _mostly(cell.column, names)]
    others = [cell for cell in named if not all(value <= values for value in cell.values)]
    for value, there in places.items():
        yield value, not all(any(_rather(other, cell, names) for other in others) for cell in there)


def _rather(cell: _Cell, other: _Cell, names: frozenset[str]) -> bool:
    """Whether a claim names the row or column of a cell rather than that of another one."""
    if cell.row == other.row:
        return not cell.column <= _FILLERS and _named(cell.column, other.column, names)
    return cell.column == other.column and _named(cell.row, other.row, names)


def _named(one: frozenset[str], other: frozenset[str], names: frozenset[str]) -> bool:
    """Whether a claim has what one name has beyond the other, and nothing of the reverse."""
    if one == other or not one or not other:
        return False
    return one - other <= names and not (other - one) & names and _mostly(one, names)


def _mostly(name: frozenset[str], names: frozenset[str]) -> bool:
    return len(name & names) >= _MOST * len(name)


class _Grid(NamedTuple):
    """The cells of a table, and words and numbers that the text has outside of it, too."""

    cells: tuple[_Cell, ...]
    elsewhere: frozenset[str]


@lru_cache(maxsize=64)
def _grids(context: str) -> tuple[_Grid, ...]:
    """The tables of a text, and its sections with parallel lines, as cells."""
    spans = [span for span, _ in tables(context)]
    prose = "\n".join(context[a:b] for a, b in _between(spans, len(context)))
    groups = sections(prose)
    by_line = [_words(line) for line in prose.splitlines()] if spans or groups else []
    counts = Counter(word for found in by_line for word in found)
    grids = [_Grid(_of_table(rows), frozenset(counts)) for _, rows in tables(context)]
    for group in groups:
        inside = Counter(
            word for section in group for place in section.places for word in by_line[place]
        )
        outside = frozenset(word for word in inside if counts[word] > inside[word])
        grids.append(_Grid(tuple(_of_sections(group)), outside))
    return tuple(grid for grid in grids if grid.cells)


def _between(spans: Sequence[Span], end: int) -> Iterator[Span]:
    edges = [0, *(edge for span in spans for edge in span), end]
    return zip(edges[::2], edges[1::2], strict=True)


def _of_table(rows: Sequence[Row]) -> tuple[_Cell, ...]:
    """The cells that have a value: no words or numbers of the labels and headers themselves."""
    rows = rows[:_MOST_ROWS]
    naming = _words(" ".join((*rows[0].heads, *(row.cells[row.label] for row in rows))))
    return tuple(
        _Cell(_names(row.cells[row.label]), _names(head), _values(cell, naming))
        for row in rows
        for at, (head, cell) in enumerate(zip(row.heads, row.cells, strict=True))
        if at != row.label and cell
    )


def _of_sections(group: Sequence[Section]) -> Iterator[_Cell]:
    """What at least two sections have in nearly the same words but for numbers, or list."""
    columns: dict[frozenset[str], list[tuple[str, str]]] = {}
    told = ((section.label, line) for section in group for line in section.lines)
    for label, line in islice(((a, b) for a, b in told if _tells(b)), _MOST_ROWS):
        said = _LIST if _ITEMS.fullmatch(line) else _names(_NUMBER.sub(" ", line))
        column = next((known for known in columns if _parallel(said, known)), said)
        columns.setdefault(column, []).append((label, line))
    labels = _words(" ".join(section.label for section in group))
    for column, lines in columns.items():
        if len({label for label, _ in lines}) > 1:
            for label, line in lines:
                for cell in _BETWEEN.split(line) if column is _LIST else (line,):
                    yield _Cell(_names(label), column, _values(cell, labels))


def _tells(line: str) -> bool:
    return bool(_NUMBER.search(line) or _ITEMS.fullmatch(line))


def _parallel(one: frozenset[str], other: frozenset[str]) -> bool:
    fewest = min(len(one), len(other))
    return len(one & other) >= fewest / 2 if fewest else one == other


def _values(cell: str, naming: frozenset[str]) -> frozenset[frozenset[str]]:
    numbers = _numbers(cell)
    if numbers:
        return frozenset(frozenset({number}) for number in numbers - naming)
    said = _words(cell)
    return frozenset() if said <= _ANSWERS or said & naming else frozenset({said})


def _numbers(text: str) -> frozenset[str]:
    """The numbers and times of a text; not those in words, which may count something else."""
    return frozenset(number.replace(",", "").lower() for number in _NUMBER.findall(text))


def _words(text: str) -> frozenset[str]:
    """The numbers and the content words of a text, without the s of a plural."""
    plain = (word for word in words(text) if not word[0].isdigit() and word not in STOPWORDS)
    return _numbers(text) | frozenset(word.removesuffix("s") for word in plain)


def _names(text: str) -> frozenset[str]:
    """The words of a label or header; stop words only where it has no others."""
    found = words(text)
    return _shortened([word for word in found if word not in STOPWORDS] or found)


def _shortened(found: Sequence[str]) -> frozenset[str]:
    """Words cut so that "departs" is "departure"."""
    return frozenset(word.removesuffix("s")[:_ALIKE] for word in found)
