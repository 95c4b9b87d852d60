"""Results of costly steps on disk, by content: a run that was killed goes on where it was.

A cache is a folder of append-only JSONL files. Each process writes a file of its own and reads
those of all, so shards that ran side by side are merged by being in one folder. It may hold text of
the data: keep it out of what is published.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


class Cache:
    """Rows by key. A line torn by a kill, or damaged otherwise, is passed over and made again."""

    def __init__(self, folder: Path, *, part: str = "1-of-1") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{part}.jsonl"
        self._rows: dict[str, Any] = {}
        for path in sorted(folder.glob("*.jsonl")):
            self._read(path)
        if self._path.exists() and not self._path.read_bytes().endswith(b"\n"):
            self._append("\n")

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> Any:
        return self._rows[key]

    def __setitem__(self, key: str, row: Any) -> None:
        """Keep a JSON value; on disk before this returns."""
        self._append(json.dumps({"key": key, "row": row}) + "\n")
        self._rows[key] = row

    def _append(self, text: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(text)

    def _read(self, path: Path) -> None:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    kept = json.loads(line)
                    self._rows[kept["key"]] = kept["row"]
                except (ValueError, KeyError, TypeError):
                    continue


def content_key(*content: Any) -> str:
    """A digest of JSON values: the key of what depends on them and nothing else."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
