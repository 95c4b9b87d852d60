"""Small operations on files that several rooms need."""

from __future__ import annotations

import os
import shutil
from hashlib import file_digest
from pathlib import Path


def sha256(path: Path) -> str:
    """The SHA-256 of a file as hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, text: str) -> None:
    """Write a text file (UTF-8) so that nobody finds half of it, not even after a kill.

    It is written beside ``path`` and then renamed. A link stays a link: the file that it leads to
    is replaced, and keeps its permissions. A device or a pipe is written to as it is.

    Raises:
        OSError: if it cannot be written; a file that was there is unchanged.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f"{target.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
