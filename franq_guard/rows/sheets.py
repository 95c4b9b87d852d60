"""Reads tables of text, such as CSV from a spreadsheet, as :class:`Trace` objects."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from franq_guard.records import Trace
from franq_guard.rows.lines import Prepare, RowError, not_utf8, trace_or_error

__all__ = ["cells_of_any_length", "delimiter_of", "read_sheet", "records"]

_LABELS = {"is_true", "is_faithful"}
_TRUTH = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
"""pandas writes 1.0 and 0.0 where other labels of the column are missing."""
Record = tuple[int, list[str] | csv.Error]
"""The number of a row, and its cells, or why they cannot be told apart."""


def delimiter_of(first: str) -> str:
    """What stands between the cells of a table whose first line this is: , or ; or a tab."""
    return max(",;\t", key=first.count)


@contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Python's limit of a cell, 131,072 characters, is too low for long passages."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def records(lines: Iterable[str]) -> Iterator[Record]:
    """The rows of a table, numbered as a spreadsheet numbers them; blank ones are left out.

    Args:
        lines: with their line ends: a cell may hold some (a file opened with ``newline=""``).
    """
    lines = iter(lines)
    first = next(lines, "")
    # Quotes that are not closed would swallow the rows after them: strict makes that an error.
    reader = csv.reader(chain([first], lines), delimiter=delimiter_of(first), strict=True)
    number = 0
    with cells_of_any_length():
        while True:
            number += 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield number, error
                continue
            if any(cell.strip() for cell in cells):
                yield number, cells


def read_sheet(rows: Iterable[Record], *, prepare: Prepare | None) -> Iterator[Trace | RowError]:
    """Each row below the first, which has the names of the columns, as a trace or an error.

    Args:
        rows: see :func:`records`.
        prepare: as for :func:`~franq_guard.rows.read_traces`.

    Raises:
        ValueError: if the first row cannot hold the names, because ``prepare`` does not find the
            fields in them, or if one name stands there twice.
    """
    rows = iter(rows)
    for number, first in rows:
        if isinstance(first, csv.Error):
            raise ValueError(f"row {number}: {first}")
        names = [name.strip() for name in first]
        twice = next((name for name in names if name and names.count(name) > 1), None)
        if twice is not None:  # the last would silently win
            raise ValueError(f"{names.count(twice)} columns are called {twice!r}")
        if prepare is not None:
            prepare(dict.fromkeys(names, ""))
        for row, cells in rows:
            yield _read(row, cells, names, prepare)


def _read(
    number: int, cells: list[str] | csv.Error, names: Sequence[str], prepare: Prepare | None
) -> Trace | RowError:
    if isinstance(cells, csv.Error):
        return RowError(number, f"its cells cannot be told apart: {cells}")
    if not_utf8("".join(cells)):
        return RowError(number, "not UTF-8: in a spreadsheet, save it as CSV UTF-8")
    if any(cells[len(names) :]):
        return RowError(
            number,
            f"it has {len(cells)} cells, but there are {len(names)} columns: a text with commas "
            "(or what else stands between cells) must be in quotes",
        )
    row: dict[str, Any] = dict(zip(names, cells, strict=False))
    row |= {
        key: _TRUTH.get(row[key].strip().lower(), row[key] or None) for key in _LABELS & row.keys()
    }
    return trace_or_error(number, row, prepare)
