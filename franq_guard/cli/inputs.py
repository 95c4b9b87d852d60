"""Reads the rows of a file that the user names, whatever its format."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from franq_guard.basics.text import encoding_of
from franq_guard.cli.console import fail, needing
from franq_guard.records import Trace
from franq_guard.rows.lines import Prepare, RowError, read_traces, trace_of_line
from franq_guard.rows.sheets import read_sheet, records

__all__ = ["rows_in", "total_rows"]

_SHEETS = (".csv", ".tsv")
_WORKBOOKS = (".xls", ".xlsx", ".ods")
_FOLDER = (
    "it is a folder: name a file in it; franq check-dataset reads folders of Parquet and JSON Lines"
)
_SAVED = (
    "datasets.load_from_disk(FOLDER).to_json('rows.jsonl') in Python writes it as rows to check"
)


@contextmanager
def rows_in(
    file: Path, prepare: Prepare, *, columns: Iterable[str] = ()
) -> Iterator[Iterator[Trace | RowError]]:
    """The rows of a file, each as a trace or an error; ``-`` is standard input.

    JSON Lines or a JSON array, CSV, TSV, Parquet; ``.gz`` is unpacked. Text is UTF-8 or UTF-16,
    with or without byte order mark; a row that is not is an error.

    Args:
        file: of rows; one that cannot be read ends the program.
        prepare: converts a row before it is read; see :func:`~franq_guard.rows.read_traces`.
        columns: of a Parquet file, to read besides the known ones.
    """
    kind = _kind(file)
    if kind == ".parquet":
        yield _parquet(file, prepare, frozenset(columns))
    elif kind in _SHEETS:
        with _text(file) as lines:
            yield _sheet(file, lines, prepare)
    else:
        with _text(file) as lines:
            yield read_traces(lines, prepare=prepare)


def total_rows(file: Path) -> int | None:
    """The number of rows in a file; None if it cannot be known beforehand.

    That is so for standard input, a JSON array and JSON that spans several lines.
    """
    if not file.is_file():
        return None
    kind = _kind(file)
    if kind == ".parquet":
        with _readable_parquet(file):
            from franq_guard.batch.inputs import parquet_length

            return parquet_length(str(file))
    with _text(file) as lines:
        if kind in _SHEETS:
            return max(0, sum(1 for _ in records(lines)) - 1)
        stated = (line for line in lines if line.strip())
        first = next(stated, "")
        if first.lstrip().startswith("[") or first.strip() == "{":
            return None
        return bool(first) + sum(1 for _ in stated)


def _kind(file: Path) -> str:
    """The end of its name, without .gz."""
    return Path(file.stem if file.suffix.lower() == ".gz" else file.name).suffix.lower()


@contextmanager
def _text(file: Path) -> Iterator[Iterator[str]]:
    """The lines of a text file, with their ends."""
    if str(file) == "-":
        if sys.stdin is None:
            fail("standard input is closed: nothing can be read from it")
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape")
        yield iter(sys.stdin)
        return
    if file.suffix.lower() in _WORKBOOKS:
        fail(f"{file} is a workbook: save the sheet as CSV UTF-8, which is read")
    if file.is_dir():
        saved = (file / "dataset_info.json").exists()
        fail(f"cannot read {file}: {_SAVED if saved else _FOLDER}")
    opened: Callable[..., IO[Any]] = gzip.open if file.suffix.lower() == ".gz" else open
    try:
        encoding = "utf-8-sig"
        if file.is_file():  # of a pipe nothing can be read twice
            with opened(file, "rb") as start:
                encoding = encoding_of(start.read(2))
        # Cells of a table keep the line ends that they hold.
        newline = "" if _kind(file) in _SHEETS else None
        stream = opened(file, "rt", encoding=encoding, errors="surrogateescape", newline=newline)
    except (OSError, EOFError, zlib.error) as error:
        fail(f"cannot read {file}: {getattr(error, 'strerror', None) or error}")
    with stream:
        yield _to_its_end(file, stream)


def _to_its_end(file: Path, lines: Iterable[str]) -> Iterator[str]:
    try:
        yield from lines
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:  # cut off
        raise OSError(f"{file}: {error}") from None


def _sheet(file: Path, lines: Iterator[str], prepare: Prepare) -> Iterator[Trace | RowError]:
    try:
        yield from read_sheet(records(lines), prepare=prepare)
    except ValueError as error:
        fail(f"{file}: {error}; its first line must have the names of the columns")


def _parquet(file: Path, prepare: Prepare, columns: frozenset[str]) -> Iterator[Trace | RowError]:
    with _readable_parquet(file):
        from franq_guard.batch.inputs import read_parquet

        for number, row in read_parquet(str(file), columns):
            yield trace_of_line(number, row.decode(), prepare)


@contextmanager
def _readable_parquet(file: Path) -> Iterator[None]:
    """A file that cannot be read in the block ends the program."""
    with needing("pip install 'franq-guard[batch]'", what=f"{file}"):
        try:
            yield
        except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors, too
            fail(f"cannot read {file}: {getattr(error, 'strerror', None) or error}")
