"""Lines and rows of JSONL files, compressed or not."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["json_rows", "numbered_lines"]


def json_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file; ``.gz`` is uncompressed.

    Raises:
        ValueError: naming the line that is no JSON object.
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


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, from 1; ``.gz`` is uncompressed."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        yield from ((i, line) for i, line in enumerate(file, start=1) if line.strip())
