"""Cuts the documents of a folder into passages."""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from franq_guard.claims.sentences import sentences
from franq_guard.datasets.documents.formats import SUFFIXES, sections
from franq_guard.records import Passage

_log = logging.getLogger(__name__)


def read_folder(folder: Path, *, words: int = 100) -> tuple[Passage, ...]:
    """Every document under ``folder`` cut into passages of at most about ``words`` words.

    Text is cut at headings and between sentences; a longer sentence is a passage of its own.
    ``title`` is the file's path relative to ``folder``; ``id`` is that path and the passage's
    number. A document that cannot be read, such as one that is not UTF-8, or a folder, is left out
    with a warning; files of other kinds are left out, too, and counted in one.

    Raises:
        ValueError: if ``folder`` is not a folder or has no text, or no document can be read.
        ModuleNotFoundError: for a PDF where ``pypdf`` is not installed.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    passages: list[Passage] = []
    wrong: list[str] = []
    walk = os.walk(folder, onerror=lambda error: wrong.append(_unreadable(error.filename, error)))
    files = sorted(p for at, _, names in walk for name in names if (p := Path(at, name)).is_file())
    for file in files:
        if file.suffix.lower() not in SUFFIXES:
            continue
        try:
            # All of it or nothing: a document that breaks off would be taken for a whole one.
            passages += list(_read(file, file.relative_to(folder).as_posix(), words))
        except OSError as error:
            wrong.append(_unreadable(file, error))
        except ValueError as error:
            wrong.append(str(error))
    if not passages:
        none = f"no text found: {folder} holds no non-empty {', '.join(SUFFIXES)} file"
        raise ValueError(wrong[0] if wrong else none + _of_other_kinds(files))
    for why in wrong:
        _log.warning("a document is left out: %s", why)
    if others := _of_other_kinds(files):
        _log.warning("read were %s files%s", ", ".join(SUFFIXES), others)
    return tuple(passages)


def _unreadable(path: Path | str, error: OSError) -> str:
    return f"{path} cannot be read: {error.strerror or error}"


def _of_other_kinds(files: Iterable[Path]) -> str:
    """How many files have a name that is not read, by its end; hidden ones are nobody's text."""
    kinds = Counter(
        file.suffix.lower() or "without an end of the name"
        for file in files
        if file.suffix.lower() not in SUFFIXES and not file.name.startswith(".")
    )
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"; left out: {told}" if told else ""


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
