"""The JSONL files of a data folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def files(paths: Sequence[Path]) -> list[Path]:
    """Return the JSONL files in `paths`; for a folder, the ones it contains."""
    found: list[Path] = []
    for path in paths:
        inside = (
            sorted(p for p in path.iterdir() if ".jsonl" in p.name) if path.is_dir() else [path]
        )
        found += inside
    return found
