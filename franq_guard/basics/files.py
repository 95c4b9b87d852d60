"""Small operations on files that several rooms need."""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path


def sha256(path: Path) -> str:
    """The SHA-256 of a file as hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
