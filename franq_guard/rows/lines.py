"""Lines of JSON in: ``franq.trace/1`` rows to :class:`Trace`.

A row that cannot be read becomes a :class:`RowError` in its place, so that one broken line costs
one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from franq_guard.records import Trace
from franq_guard.rows.traces import row_id, trace_from_dict

__all__ = ["RowError", "read_traces"]


@dataclass(frozen=True, slots=True)
class RowError:
    """A row that could not be read or checked; ``line`` counts from 1."""

    line: int
    error: str
    id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values, schema ``franq.error/1``."""
        row: dict[str, Any] = {"schema": "franq.error/1", "line": self.line}
        return {**row, **({"id": self.id} if self.id else {}), "error": self.error}


def read_traces(lines: Iterable[str]) -> Iterator[Trace | RowError]:
    """Each non-blank line as a trace, or the reason why it is none; a byte order mark is ignored.

    The values that a row may hold: :func:`~franq_guard.rows.traces.trace_from_dict`.
    """
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if text.strip():
            yield _read(number, text)


def _read(number: int, line: str) -> Trace | RowError:
    identifier = None
    try:
        row = json.loads(line)
        identifier = row_id(row) if isinstance(row, dict) else None
        return trace_from_dict(row)
    except ValueError as error:  # json.JSONDecodeError is one
        return RowError(number, str(error), identifier)
    except RecursionError:
        return RowError(number, "the row is nested too deep", identifier)
