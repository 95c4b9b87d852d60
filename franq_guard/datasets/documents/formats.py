"""Reads the text of a document: plain text, Markdown, HTML, PDF, or JSON Lines of passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path

from franq_guard.basics.text import encoding_of
from franq_guard.basics.words import word_set
from franq_guard.datasets.jsonl import json_rows

_BLOCKS = word_set(
    "address article aside blockquote br caption dd div dl dt figcaption footer h1 h2 h3 h4 h5 h6"
    " header hr li main nav ol p pre section table td th tr ul"
)
_HIDDEN = word_set("script style template noscript svg title")
_HEADINGS = frozenset(f"h{n}" for n in range(1, 7))


def sections(file: Path) -> Iterator[str]:
    """The sections of a document: the text between two headings, of a page, or of a row.

    Text is UTF-8, or UTF-16 with a byte order mark. A heading stays at the start of its section.

    Raises:
        ValueError: a file that cannot be read, named.
        ModuleNotFoundError: a PDF where ``pypdf`` is not installed.
    """
    return _READERS[file.suffix.lower()](file)


def _plain(file: Path) -> Iterator[str]:
    with file.open("rb") as stream:
        encoding = encoding_of(stream.read(2))
    try:
        yield file.read_text(encoding=encoding)
    except UnicodeDecodeError as error:  # what it means instead is not known: "é" may be lost
        raise ValueError(f"{file} is not UTF-8 (byte {error.start}): save it as UTF-8") from None


def _markdown(file: Path) -> Iterator[str]:
    yield from re.split(r"^(?=#{1,6} )", next(_plain(file)), flags=re.MULTILINE)


def _html(file: Path) -> Iterator[str]:
    text = _Text()
    text.feed(next(_plain(file)))
    text.close()
    yield from "".join(text.parts).split("\f")


def _pdf(file: Path) -> Iterator[str]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        for page in PdfReader(file).pages:
            yield page.extract_text()
    # The other two: encrypted with AES, which takes another package, and an unknown compression.
    except (PyPdfError, DependencyError, NotImplementedError) as error:
        raise ValueError(f"{file} cannot be read as PDF: {error}") from None


def _rows(file: Path) -> Iterator[str]:
    for number, row in enumerate(json_rows(file), start=1):
        if not isinstance(row.get("text"), str):
            raise ValueError(f"{file}, row {number}: a document needs a string 'text'")
        title = str(row.get("title") or "").strip()
        yield f"{title}\n\n{row['text']}" if title else row["text"]


_READERS: Mapping[str, Callable[[Path], Iterator[str]]] = {
    ".txt": _plain,
    ".md": _markdown,
    ".markdown": _markdown,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
    ".jsonl": _rows,
}
SUFFIXES = tuple(_READERS)
"""File names that :func:`sections` can read."""


class _Text(HTMLParser):
    """The visible text of a page, with a form feed before every heading."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in _HIDDEN
        if tag in _BLOCKS:
            self.parts.append("\f" if tag in _HEADINGS else "\n\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in _HIDDEN))
        if tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data.replace("\f", " "))
