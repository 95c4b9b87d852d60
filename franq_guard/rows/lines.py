"""Reads lines of JSON (``franq.trace/1`` rows) as :class:`Trace` objects.

A row that cannot be read becomes a :class:`RowError` in its place, so that one broken line does not
stop the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any

from franq_guard.records import Trace
from franq_guard.rows.fields import Fields
from franq_guard.rows.traces import row_id, trace_from_dict

__all__ = ["Prepare", "RowError", "not_utf8", "read_traces", "trace_of_line", "trace_or_error"]

Prepare = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RowError:
    """A row that could not be read or checked; ``line`` counts from 1."""

    line: int
    error: str
    id: str | None = None

    def __str__(self) -> str:
        """Such as "line 7 (id run-3): 'answer' is missing"."""
        return f"line {self.line}{f' (id {self.id})' if self.id else ''}: {self.error}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values, schema ``franq.error/1``."""
        row: dict[str, Any] = {"schema": "franq.error/1", "line": self.line}
        return {**row, **({"id": self.id} if self.id else {}), "error": self.error}


def read_traces(
    lines: Iterable[str], *, prepare: Prepare | None = None
) -> Iterator[Trace | RowError]:
    """Each non-blank line as a trace or an error; a byte order mark is ignored.

    :func:`~franq_guard.rows.traces.trace_from_dict` describes the fields of a row.

    Args:
        lines: JSON Lines, or the lines of one JSON array of rows; in an array, ``line`` of an error
            is the number of the row. A line with bytes that were not UTF-8 (read with
            ``errors="surrogateescape"``) is an error.
        prepare: converts a row before it is read, for example its field names; if it raises
            ``ValueError``, that becomes the row's error.

    Raises:
        TypeError: for the name of a file, or one text, in the place of lines.
    """
    if isinstance(lines, str | bytes | PathLike):
        raise TypeError(
            f"lines are wanted, such as an open file, not {type(lines).__name__}: "
            "read_traces(open(PATH, encoding='utf-8')), or read_traces(text.splitlines())"
        )
    return _traces(lines, prepare)


def _traces(lines: Iterable[str], prepare: Prepare | None) -> Iterator[Trace | RowError]:
    for number, text in _rows(lines):
        if text.strip():
            yield trace_of_line(number, text, prepare)


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The rows, each as one JSON text, with their numbers from 1."""
    numbered = enumerate(lines, start=1)
    for number, line in numbered:
        text = line.removeprefix("\ufeff") if number == 1 else line
        if text.strip() and _goes_on(text):
            yield from _whole(number, [text, *(rest for _, rest in numbered)])
            return
        yield number, text
        if text.strip():
            break
    yield from numbered


def _goes_on(first: str) -> bool:
    """Whether the first non-blank row begins an array, or an object that spans several lines."""
    return first.lstrip().startswith("[") or first.strip() == "{"


def _whole(number: int, lines: list[str]) -> Iterator[tuple[int, str]]:
    """The rows of a JSON array, or one object; invalid JSON becomes one unreadable row."""
    text = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        yield number, text
        return
    # Where all is UTF-8, a lone surrogate in a row was escaped in the JSON: it stays escaped.
    escaped = not_utf8(text) is None
    for at, row in enumerate(read if isinstance(read, list) else [read], start=1):
        yield at, json.dumps(row, ensure_ascii=escaped)


def not_utf8(text: str) -> str | None:
    """Where a text has bytes that were not UTF-8, read as lone surrogates; None if nowhere."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"not UTF-8: byte {len(text[: error.start].encode())} of the row"
    return None


def trace_of_line(number: int, line: str, prepare: Prepare | None = None) -> Trace | RowError:
    """One line of JSON as a trace or an error.

    Args:
        number: of the line, from 1; for the error.
        line: the JSON text of one row.
        prepare: as for :func:`read_traces`.
    """
    if wrong := not_utf8(line):
        return RowError(number, wrong)
    try:
        return trace_or_error(number, json.loads(line), prepare)
    except json.JSONDecodeError as error:
        return RowError(number, f"not JSON: {error}")
    except ValueError as error:  # such as a number of too many digits
        return RowError(number, str(error))
    except RecursionError:
        return RowError(number, "the row is nested too deep")


def trace_or_error(number: int, row: object, prepare: Prepare | None) -> Trace | RowError:
    """One row of a table or a JSON text as a trace or an error; see :func:`trace_of_line`."""
    identifier = None
    try:
        if isinstance(row, dict):
            identifier = prepare.id_of(row) if isinstance(prepare, Fields) else row_id(row)
        return trace_from_dict(prepare(row) if prepare and isinstance(row, dict) else row)
    except ValueError as error:
        return RowError(number, str(error), identifier)
    except RecursionError:
        return RowError(number, "the row is nested too deep", identifier)
