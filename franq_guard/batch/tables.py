"""Checks the rows of one pyarrow table: one row in, one row out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from franq_guard.batch.schema import results_table
from franq_guard.guard import Guard
from franq_guard.records import GuardedAnswer, Trace
from franq_guard.rows.fields import KNOWN, Fields, plain_name
from franq_guard.rows.lines import RowError, trace_or_error

__all__ = ["check_batch", "checked_rows", "rows_of"]

_READ = (
    *("id", "prompt", "prompt_seen", "contrast", "claims", "samples", "tokens", "source", "writer"),
)
"""The columns besides question, passages and answer that a trace is read from."""


def check_batch(
    table: pa.Table,
    *,
    guard: Guard | None = None,
    fields: Mapping[str, str] | None = None,
    batch_size: int = 8,
) -> pa.Table:
    """Check each row of a table of answers.

    A row that cannot be read or checked is an error in its place (column ``error``).

    Args:
        table: columns as in ``franq.trace/1``: ``question`` (string), ``passages`` (list of
            strings, or of structs with ``text``, ``title``, ``id``), ``answer`` (string); ``id``,
            ``prompt``, ``tokens``, ``claims`` and the others are optional. The names of RAGAS,
            LangSmith and LettuceDetect are understood. Other columns are not read.
        guard: what checks; None: ``Guard.offline()``, whose models are then loaded for this call.
            Give one to check several tables.
        fields: your column names, such as ``{"question": "user.text"}``.
        batch_size: answers scored together.

    Returns:
        A table with the columns :data:`~franq_guard.batch.RESULTS` and as many rows, in the same
        order.

    Raises:
        ValueError: if ``fields`` or ``batch_size`` is invalid, or two columns have one name.
        TypeError: if ``table`` is no table of pyarrow.
    """
    if not isinstance(table, (pa.Table, pa.RecordBatch)):
        raise TypeError(
            f"a pyarrow.Table is wanted, not {type(table).__name__}: pa.Table.from_pylist(rows) "
            "makes one of dictionaries, pa.Table.from_pandas(frame) of a DataFrame"
        )
    names = Fields(fields)
    rows = enumerate(rows_of(table, names.columns), start=1)
    traces = [trace_or_error(number, row, names) for number, row in rows]
    return results_table(checked_rows(guard or Guard.offline(), traces, batch_size=batch_size))


def rows_of(table: pa.Table, columns: frozenset[str]) -> Iterator[dict[str, Any]]:
    """The rows as plain values; a null is a missing value.

    Columns that no field is read from (an embedding may be long) are there by name, as None.

    Args:
        table: the rows.
        columns: the columns to read besides the known ones.

    Raises:
        ValueError: if two of the columns to read have one name.
    """
    wanted = columns | {*KNOWN, *_READ} | {n.partition(".")[0] for of in KNOWN.values() for n in of}
    read = [name for name in table.column_names if {name, plain_name(name)} & wanted]
    if (name := next((name for name in read if read.count(name) > 1), None)) is not None:
        raise ValueError(f"{read.count(name)} columns are called {name!r}")
    others = dict.fromkeys(name for name in table.column_names if name not in read)
    for row in table.select(read).to_pylist():
        yield {key: _known(value) for key, value in row.items() if value is not None} | others


def checked_rows(
    guard: Guard, rows: Sequence[Trace | RowError], *, batch_size: int = 8
) -> list[GuardedAnswer | RowError]:
    """One result for each row, in order; an exception becomes the error of the row it belongs to.

    Args:
        guard: what checks.
        rows: what was read; errors are passed through.
        batch_size: answers scored together.

    Raises:
        ValueError: if ``batch_size`` is less than 1.
    """
    if batch_size < 1:
        raise ValueError("batch_size must be at least 1")
    traces = [row for row in rows if isinstance(row, Trace)]
    answers: Iterable[GuardedAnswer | RowError]
    try:
        answers = list(guard.check_many(traces, batch_size=batch_size))
    except Exception:  # a guard of the user's own may raise anything: find the row it is about
        answers = [_alone(guard, trace) for trace in traces]
    found = iter(answers)
    return [next(found) if isinstance(row, Trace) else row for row in rows]


def _alone(guard: Guard, trace: Trace) -> GuardedAnswer | RowError:
    try:
        return guard.check_trace(trace)
    except Exception as error:
        return RowError(0, f"{type(error).__name__}: {error}", trace.id)


def _known(value: object) -> object:
    """The value without the nulls that a struct has for its missing fields, and bytes as text.

    Some programs (Impala, older Spark) write text into Parquet without saying that it is text.
    """
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items() if item is not None}
    return [_known(item) for item in value] if isinstance(value, list) else value
