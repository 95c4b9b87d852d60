"""The things that a table names, and its columns: what a claim that compares them is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.comparing.quantities import Quantity, column
from franq_guard.faithfulness.small.comparing.scales import (
    DEGREES,
    NO_NEGATIVES,
    RANKS,
    Degree,
    base_form,
)
from franq_guard.faithfulness.small.tables.rows import Row, tables
from franq_guard.faithfulness.small.tables.sections import ASIDE
from franq_guard.faithfulness.small.words import STOPWORDS

_MOST: Final = 500
"""A table with more rows or columns is left out: of a part of it nothing is the most."""
_TITLE: Final = 300  # characters
_TOKEN: Final = re.compile(r"[^\W_]+(?:[.,:]\d+)*|[,;()]")
_TAIL: Final = re.compile(r"\s*(?:[(\[/]|, | per | an? | in (?=\S+$)).*", re.IGNORECASE)
"""What a header says beyond what is counted: "Weight (kg)", "Price per night"."""
_FILLERS: Final = frozenset(
    map(
        base_form,
        word_set(
            "number no top total max maximum min minimum average mean overall amount list listed "
            "net gross operating own current entry standard monthly annual yearly daily highest "
            "lowest"
        ),
    )
)
"""Words that a header may have and a claim may leave out."""
_SUMS: Final = frozenset(
    map(
        base_form,
        word_set("total subtotal sum all overall average mean median combined other others"),
    )
)
"""A row or column with such a name is no thing among the others."""
_LEAST_YEAR: Final = 1000
"""A number of so much may name a row alone; a smaller one needs the header before it."""


class Token(NamedTuple):
    """A word, number or mark of a claim, in lower case, and where it stands."""

    text: str
    start: int
    end: int


class Thing(NamedTuple):
    """Tokens of a claim that name a row."""

    start: int
    end: int
    row: int


def split(claim: str) -> list[Token]:
    """Return the words, numbers, commas and brackets of a claim."""
    return [Token(match.group().lower(), *match.span()) for match in _TOKEN.finditer(claim)]


@dataclass(frozen=True)
class Column:
    """What a table says of each of its things under one header."""

    head: str
    cells: tuple[str, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """The base forms of the words that a claim must have that names the column."""
        found = _words(_TAIL.sub("", self.head)) or _words(self.head)
        return found - _FILLERS or found

    @cached_property
    def words(self) -> frozenset[str]:
        """The base forms of the words of the header."""
        return frozenset(base_form(token.text) for token in split(self.head))

    @cached_property
    def quantities(self) -> list[Quantity | None]:
        """What the cells say, None for those that are not surely read."""
        return column(self.head, self.cells)

    def is_more(self, degree: Degree) -> bool:
        """Whether a higher number is surely more: not of a rank, nor of the size of a loss."""
        negative = any(quantity.amount < 0 for quantity in self.quantities if quantity)
        return not self.names & RANKS and not (negative and degree.scale in NO_NEGATIVES)


@dataclass(frozen=True)
class Grid:
    """The things of a table, each with a name, and the columns that tell something of them."""

    names: tuple[str, ...]
    kind: str  # what the things are: the header above their names
    columns: tuple[Column, ...]
    title: str  # the line before the table
    turned: bool  # the things are the headers

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Words for all the things: of the header above the names, and what all names have."""
        every = frozenset.intersection(*(frozenset(words) for words in self._named))
        return frozenset(map(base_form, every)) | _words(self.kind)

    @cached_property
    def heads(self) -> frozenset[str]:
        """The base forms of the words of all headers."""
        return frozenset(word for column in self.columns for word in column.words)

    @cached_property
    def cell_words(self) -> frozenset[str]:
        """The base forms of the words of all cells."""
        cells = " ".join(cell for column in self.columns for cell in column.cells)
        return frozenset(base_form(token.text) for token in split(cells))

    def is_alike(self, column: Column) -> bool:
        """Whether the things can be compared in a column.

        In a row "18 | 14 | 2 | 2" of games played, won, drawn and lost no number is more than
        another one. A row of one unit can be compared, and numbers can where each header has
        several units below it.
        """
        kinds = {quantity.kind for quantity in column.quantities if quantity}
        if not self.turned or (len(kinds) == 1 and kinds != {"number"}):
            return True
        return kinds == {"number"} and any(
            len({quantity.kind for quantity in below if quantity}) > 1
            for below in zip(*(other.quantities for other in self.columns), strict=True)
        )

    @cached_property
    def _named(self) -> list[list[str]]:
        plain = [ASIDE.sub("", name) or name for name in self.names]
        return [[_singular(token.text) for token in split(name)] for name in plain]

    @cached_property
    def _rows(self) -> dict[str, frozenset[int]]:
        """Which names have a word."""
        found: dict[str, set[int]] = {}
        for row, words in enumerate(self._named):
            for word in words:
                found.setdefault(word, set()).add(row)
        return {word: frozenset(rows) for word, rows in found.items()}

    def things(self, tokens: Sequence[Token]) -> list[Thing]:
        """The rows that a claim names, by words that no other row's name has together."""
        found: list[Thing] = []
        at = 0
        while at < len(tokens):
            end, rows = self._run(tokens, at)
            run = [_singular(token.text) for token in tokens[at:end]]
            row = self._meant(run, rows)
            if row is not None and self._is_name(run, tokens[:at]):
                found.append(Thing(at, end, row))
            at = max(end, at + 1)
        return found

    def _run(self, tokens: Sequence[Token], at: int) -> tuple[int, frozenset[int]]:
        """Where the words end that are in one name together, and which names have them."""
        end, rows = at, self._rows.get(_singular(tokens[at].text), frozenset())
        if tokens[at].text in STOPWORDS:
            return at, frozenset()
        left = rows
        while left:
            end, rows = end + 1, left
            word = _singular(tokens[end].text) if end < len(tokens) else ""
            left = rows & self._rows.get(word, frozenset())
        return end, rows

    def _meant(self, run: Sequence[str], rows: frozenset[int]) -> int | None:
        exact = [row for row in sorted(rows) if self._named[row] == run]
        found = exact or sorted(rows)
        return found[0] if len(found) == 1 else None

    def _is_name(self, run: Sequence[str], before: Sequence[Token]) -> bool:
        """Whether words are a name: no number alone, and no words that compare or head a column."""
        if all(word.isdecimal() for word in run):
            headed = bool(before) and base_form(before[-1].text) in _words(self.kind)
            return list(run) in self._named and (headed or Decimal(run[0]) >= _LEAST_YEAR)
        said = [word for word in run if word not in STOPWORDS]
        whole = list(run) in self._named
        return whole or any(
            word not in DEGREES and base_form(word) not in self.heads for word in said
        )


@lru_cache(maxsize=64)
def grids(context: str) -> tuple[Grid, ...]:
    """Return the tables of a text, each read by rows and, with named columns, by columns."""
    found: list[Grid] = []
    for (start, _), rows in tables(context):
        before = context[max(0, start - _TITLE) : start].rstrip()
        if max(len(rows), len(rows[0].heads)) <= _MOST:
            found += _of(rows, before[before.rfind("\n") + 1 :])
    return tuple(found)


def _of(rows: Sequence[Row], title: str) -> Iterator[Grid]:
    label, heads = rows[0].label, rows[0].heads
    rows = [row for row in rows if not _words(row.cells[label]) & _SUMS]
    others = [at for at in range(len(heads)) if at != label and not _words(heads[at]) & _SUMS]
    names = tuple(row.cells[label] for row in rows)
    if len(set(names)) == len(names) > 1:
        by_row = [Column(heads[at], tuple(row.cells[at] for row in rows)) for at in others]
        yield Grid(names, heads[label], tuple(by_row), title, turned=False)
    turned = tuple(heads[at] for at in others)
    if all(turned) and len(set(turned)) == len(turned) > 1:
        by_column = [
            Column(row.cells[label], tuple(row.cells[at] for at in others)) for row in rows
        ]
        yield Grid(turned, "", tuple(by_column), title, turned=True)


def _words(text: str) -> frozenset[str]:
    found = [token.text for token in split(text) if token.text[0].isalnum()]
    return frozenset(base_form(word) for word in found if word not in STOPWORDS)


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word
