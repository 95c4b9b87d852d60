"""The files of a data set, and their rows as pyarrow tables of one schema, whatever is in them.

Each row becomes one JSON text, so that files with different columns go through an engine together,
and gets a key: a number made of the file's place in the list and the row's place in the file. The
same files give the same keys in every run; a run that goes on relies on it.
"""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from franq_guard.batch.schema import PLACE
from franq_guard.batch.tables import rows_of

__all__ = ["READ", "Source", "parquet_length", "place", "read_parquet", "read_source", "sources_in"]

READ = pa.schema([*PLACE, ("data", pa.binary())])
"""The columns of a row that was read: its place (see :data:`.PLACE`) and its values as JSON.

The JSON is as it stands in the file, and so may be no UTF-8: the row is an error then."""
_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_ENDINGS = (".parquet", *_LINES)
_IN_A_URI = "/!$&'()*+,:;=@~"  # need no escape in a path, besides letters, digits and -._
_ROWS_PER_KEY = 2**40  # more rows than a file has
_CHUNK = 256  # rows read at a time


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its path or URI, and how many rows it has (blank lines are none)."""

    path: str
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return asdict(self)


def place(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or URI (``s3://``, ``gs://``, ``hdfs://``), and the path in it.

    Raises:
        ValueError: if the kind of URI is not known to pyarrow.
    """
    if "://" in path:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(path)
        return found
    return fs.LocalFileSystem(), str(Path(path).absolute())


def sources_in(paths: Iterable[str], *, leaving_out: str = "") -> list[Source]:
    """The files named, and those in the folders named, sorted within each folder.

    Args:
        paths: of files and folders.
        leaving_out: a folder inside them whose files are none of them: that of the results.

    Raises:
        ValueError: if a path does not exist, holds no such file, or is named twice; or if a file
            cannot be read.
    """
    files = [file for path in paths for file in _files(path) if not _below(file, leaving_out)]
    if twice := [file for file, times in Counter(files).items() if times > 1]:
        raise ValueError(f"{min(twice)} is named twice")
    return [Source(file, _count(file)) for file in files]


def _files(path: str) -> list[str]:
    system, inside = place(path)
    uri = "://" in path
    info = system.get_file_info(inside)
    if info.type == fs.FileType.NotFound:
        raise ValueError(f"there is no {path}")
    if info.type == fs.FileType.File:
        if not inside.endswith(_ENDINGS):
            raise ValueError(f"{path} must end with one of {', '.join(_ENDINGS)}")
        return [path if uri else inside]
    listed = system.get_file_info(fs.FileSelector(inside, recursive=True))
    found = sorted(f.path[len(inside) :] for f in listed if f.type == fs.FileType.File)
    found = [name for name in found if name.endswith(_ENDINGS) and not _hidden(name)]
    if not found:
        raise ValueError(f"{path} holds no file that ends with one of {', '.join(_ENDINGS)}")
    start = path.rstrip("/") if uri else inside
    return [start + (quote(name, safe=_IN_A_URI) if uri else name) for name in found]


def _hidden(path: str) -> bool:
    """Whether a file or a folder on the way to it is one that readers of Parquet leave out."""
    return any(part.startswith(("_", ".")) for part in path.split("/"))


def _below(path: str, folder: str) -> bool:
    return bool(folder) and path.startswith(f"{folder}/")


def _count(path: str) -> int:
    try:
        if path.endswith(".parquet"):
            return parquet_length(path)
        with _lines(path) as lines:
            return sum(1 for line in lines if line.strip())
    except (ValueError, OSError) as error:  # pyarrow's own do not say which file it is
        raise ValueError(f"{path} cannot be read: {error}") from None


def parquet_length(path: str) -> int:
    """The number of rows of a Parquet file."""
    system, inside = place(path)
    with system.open_input_file(inside) as stream:
        return int(pq.ParquetFile(stream).metadata.num_rows)


def _lines(path: str) -> io.BufferedReader:
    system, inside = place(path)
    return io.BufferedReader(system.open_input_stream(inside, compression="detect"))


def read_source(
    path: str, number: int, columns: frozenset[str] = frozenset()
) -> Iterator[pa.Table]:
    """The rows of a file as tables with the columns :data:`READ`, some hundred rows each.

    Args:
        path: of the file.
        number: its place in the list of files, from 0.
        columns: of a Parquet file, to read besides the known ones.
    """
    rows = read_parquet(path, columns) if path.endswith(".parquet") else _json_lines(path)
    batch: list[tuple[int, bytes]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _CHUNK:
            yield _table(path, number, batch)
            batch = []
    if batch:
        yield _table(path, number, batch)


def _table(path: str, number: int, rows: Sequence[tuple[int, bytes]]) -> pa.Table:
    at = [row for row, _ in rows]
    keys = [number * _ROWS_PER_KEY + row for row in at]
    return pa.table([keys, [path] * len(at), at, [data for _, data in rows]], schema=READ)


def read_parquet(path: str, columns: frozenset[str]) -> Iterator[tuple[int, bytes]]:
    """The rows of a Parquet file, numbered from 1, as JSON.

    Args:
        path: of the file.
        columns: to read besides the known ones.
    """
    system, inside = place(path)
    at = 0
    with system.open_input_file(inside) as stream:
        for batch in pq.ParquetFile(stream).iter_batches(batch_size=_CHUNK):
            for row in rows_of(pa.Table.from_batches([batch]), columns):
                at += 1
                yield at, json.dumps(row, default=str).encode()


def _json_lines(path: str) -> Iterator[tuple[int, bytes]]:
    with _lines(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, line.removeprefix(BOM_UTF8) if number == 1 else line
