"""A folder of text files as passages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from franq_guard.claims.sentences import sentences
from franq_guard.records import Passage

SUFFIXES = (".txt", ".md", ".markdown")


def read_folder(folder: Path, *, words: int = 100) -> tuple[Passage, ...]:
    """Every text file under ``folder`` cut into passages of at most about ``words`` words.

    Cuts fall between sentences; a longer sentence is a passage of its own. Bytes that are not UTF-8
    become U+FFFD. ``title`` is the file's path below ``folder``, ``id`` adds the passage's number.

    Raises:
        ValueError: if ``folder`` is no folder or holds no text.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
    passages = tuple(p for f in files for p in _read(f, f.relative_to(folder).as_posix(), words))
    if not passages:
        raise ValueError(f"no text found: {folder} holds no non-empty {', '.join(SUFFIXES)} file")
    return passages


def _read(file: Path, name: str, words: int) -> Iterator[Passage]:
    text = file.read_text(encoding="utf-8", errors="replace")
    for number, stretch in enumerate(_chunks(text, words), start=1):
        yield Passage(text=stretch, title=name, id=f"{name}#{number}")


def _chunks(text: str, words: int) -> Iterator[str]:
    chunk: list[str] = []
    size = 0
    for start, end in sentences(text, 0, len(text)):
        sentence = re.sub(r"\s+", " ", text[start:end]).strip()
        length = len(sentence.split())
        if chunk and size + length > words:
            yield " ".join(chunk)
            chunk, size = [], 0
        if sentence:
            chunk.append(sentence)
            size += length
    if chunk:
        yield " ".join(chunk)
