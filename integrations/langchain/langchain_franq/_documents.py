"""Documents as passages, and the documents in what the steps of a chain returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.documents import Document

from franq_guard import Passage
from franq_guard.capture.evidence import passages_of, usual_passages


def passage_of(document: Document) -> Passage:
    """A Document as a Passage; ``title`` and ``id`` are taken from its metadata if present."""
    return (passages_of(document) or [Passage(document.page_content)])[0]


def document_of(passage: Passage) -> Document:
    """A Passage as a Document; its title is in the metadata."""
    about = {**passage.metadata, "title": passage.title}
    return Document(passage.text, id=passage.id, metadata=about)


def step_passages(output: Any) -> list[Passage]:
    """The passages that a step of a chain returned, as a function may search by itself.

    These are documents wherever they are, also with their scores, what is beside them in a list,
    and what is under a usual key.
    """
    if isinstance(output, (list, tuple)) and any(isinstance(item, Document) for item in output):
        return passages_of(output)
    usual = usual_passages(output) if isinstance(output, dict) else []
    return passages_of([*usual, *documents_in(output)])


def documents_in(value: Any) -> Iterator[Document]:
    """The documents in what a step was given or returned, wherever they are in it."""
    if isinstance(value, Document):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from documents_in(inner)
