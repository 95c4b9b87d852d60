"""Small operations on files that several rooms need."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from errno import EACCES, EBUSY, EPERM, EROFS
from hashlib import file_digest
from pathlib import Path

_NOT_BESIDE = (EACCES, EPERM, EROFS, EBUSY)


def sha256(path: Path) -> str:
    """The SHA-256 of a file as hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, text: str) -> None:
    """Write a text file (UTF-8) so that nobody finds half of it, not even after a kill.

    It is written beside ``path`` and then renamed. A link stays a link: the file that it leads to
    is replaced, and keeps its permissions. A device or a pipe is written to as it is, and so is a
    file that nothing can be put in the place of: its folder allows no writing, or it is mounted.

    Raises:
        OSError: if it cannot be written.
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
    except OSError as error:
        if error.errno not in _NOT_BESIDE:
            raise
        path.write_text(text, encoding="utf-8")
    finally:
        with suppress(OSError):
            part.unlink()
