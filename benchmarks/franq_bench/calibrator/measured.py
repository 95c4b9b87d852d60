"""What the rows of own answers were measured with, kept beside them.

Their answers take an hour to make again, so the rows may be older than the code that uses them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from franq_guard.guard import Guard

__all__ = ["FILE", "read", "write"]

FILE: Final = "measured.json"
_KEYS: Final = ("faithfulness", "claims")


def write(folder: Path, guard: Guard) -> None:
    """Keep the fingerprints of the guard that measured the rows of ``folder``."""
    found = {key: guard.fingerprint[key] for key in _KEYS}
    (folder / FILE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def read(folder: Path) -> dict[str, str]:
    """The fingerprints of ``faithfulness`` and ``claims``.

    Raises:
        FileNotFoundError: the rows come without them.
    """
    found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return {key: found[key] for key in _KEYS}
