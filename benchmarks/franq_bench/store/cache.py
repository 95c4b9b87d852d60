"""Stores the results of expensive steps on disk, so that a run that was killed can continue.

A cache is a folder of append-only JSONL files. Each process writes its own file and reads all
files, so the results of processes that ran in parallel are combined by using one folder. A cache
may contain text of the data: do not publish it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Protocol

from franq_guard.datasets.jsonl import append_row, whole_rows


class Kept(Protocol):
    """JSON values by key: a :class:`Cache`, or a plain dictionary."""

    def __contains__(self, key: object, /) -> bool: ...

    def __getitem__(self, key: str, /) -> Any: ...

    def __setitem__(self, key: str, row: Any, /) -> None: ...


class Cache:
    """Values by key; a line that is incomplete or damaged is ignored and computed again."""

    def __init__(self, folder: Path, *, part: str = "1-of-1") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{part}.jsonl"
        self._rows: dict[str, Any] = {}
        for path in sorted(folder.glob("*.jsonl")):
            self._rows |= {r["key"]: r["row"] for r in whole_rows(path) if {"key", "row"} <= set(r)}

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> Any:
        return self._rows[key]

    def __setitem__(self, key: str, row: Any) -> None:
        """Store a JSON value; it is on disk when this returns."""
        append_row(self._path, {"key": key, "row": row})
        self._rows[key] = row


def content_key(*content: Any) -> str:
    """A digest of JSON values: the cache key of a result that depends on them alone."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
