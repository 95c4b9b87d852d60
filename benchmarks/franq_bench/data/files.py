"""The JSONL files of a data folder, and which of them have questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

SHORT: Final = ("rag_qa_squad.jsonl.gz", "rag_qa_nq.jsonl.gz")
"""Questions with short gold answers; used are those whose gold passage was marked by people."""
LONG: Final = ("rag_qa_long_clapnq.jsonl.gz",)
"""Questions whose gold answers are sentences: only a reader can label answers to them."""


def files(paths: Sequence[Path]) -> list[Path]:
    """Return the JSONL files in `paths`; for a folder, the ones it contains."""
    found: list[Path] = []
    for path in paths:
        inside = path.glob("*.jsonl*") if path.is_dir() else [path]
        found += sorted(p for p in inside if not p.is_dir())
    return found
