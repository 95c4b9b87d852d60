"""Cuts the documents of a folder into passages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from franq_guard.claims.sentences import sentences
from franq_guard.datasets.documents.formats import SUFFIXES, sections
from franq_guard.records import Passage


def read_folder(folder: Path, *, words: int = 100) -> tuple[Passage, ...]:
    """Every document under ``folder`` cut into passages of at most about ``words`` words.

    Text is cut at headings and between sentences; a longer sentence is a passage of its own. Bytes
    that are not UTF-8 become U+FFFD. ``title`` is the file's path relative to ``folder``; ``id`` is
    that path and the passage's number.

    Raises:
        ValueError: if ``folder`` is not a folder or has no text, or a document cannot be read.
        ModuleNotFoundError: for a PDF where ``pypdf`` is not installed.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
    passages = tuple(p for f in files for p in _read(f, f.relative_to(folder).as_posix(), words))
    if not passages:
        raise ValueError(f"no text found: {folder} holds no non-empty {', '.join(SUFFIXES)} file")
    return passages


def _read(file: Path, name: str, words: int) -> Iterator[Passage]:
    stretches = (chunk for text in sections(file) for chunk in _chunks(text, words))
    for number, stretch in enumerate(stretches, start=1):
        yield Passage(text=stretch, title=name, id=f"{name}#{number}")


def _chunks(text: str, words: int) -> Iterator[str]:
    chunk: list[str] = []
    size = 0
    for start, end in sentences(text, 0, len(text)):
        sentence = re.sub(r"\s+", " ", text[start:end]).strip()
        length = len(sentence.split())
        if chunk and size + length > words:
            yield _joined(chunk)
            chunk, size = [], 0
        if sentence:
            chunk.append(sentence)
            size += length
    if chunk:
        yield _joined(chunk)


def _joined(sentences_of: list[str]) -> str:
    """Join sentences to one text; a heading or list item stays a block of its own."""
    ends = (s + (" " if s[-1] in '.!?:;,…"”’)' else "\n\n") for s in sentences_of)
    return "".join(ends).rstrip()
