"""Lines and rows of JSONL files, compressed or not."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["append_row", "json_rows", "numbered_lines", "text_of", "whole_rows", "write_rows"]


def json_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file; ``.gz`` is uncompressed.

    Raises:
        ValueError: naming the line that is no JSON object, or the file that is not UTF-8.
        OSError: the file cannot be read.
    """
    for number, line in numbered_lines(Path(path)):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f"{path}, line {number}: expected a JSON object")
        yield row


def text_of(row: Mapping[str, Any], key: str) -> str:
    """The text that a row must have under ``key``.

    Raises:
        ValueError: naming the key, if it is missing, no string or blank.
    """
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key!r} must be a non-empty string" if key in row else f"no {key!r}")
    return value


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, from 1; ``.gz`` is uncompressed.

    Raises:
        ValueError: naming the file, if it is not UTF-8, or compressed but damaged or cut off.
        OSError: the file cannot be read.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig") as file:
            yield from ((i, line) for i, line in enumerate(file, start=1) if line.strip())
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: {error}") from None


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of rows, one a line; its folder is made, and a file of that name replaced.

    Raises:
        ValueError: on NaN or infinity, which JSON does not have.
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n")


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Append one row on a line of its own in a single write, and flush it to the disk.

    After a line that a kill cut short, the row starts on a new line.
    """
    with path.open("ab+") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        ends_torn = file.read(1) not in (b"", b"\n")
        text = json.dumps(row) + "\n"
        file.write(("\n" + text if ends_torn else text).encode())
        file.flush()
        os.fsync(file.fileno())


def whole_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows that :func:`append_row` wrote, without lines that a kill cut short."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row
