"""The bundled demo: a small encyclopaedic corpus and questions to ask about it.

The questions show the three cases the guard tells apart: the answer is in the passages, only part
of it is, or none of it is (the model must know it). Importing this loads neither torch nor a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from franq_guard.records import Passage

__all__ = ["DemoQuestion", "corpus", "questions"]


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """One demo question.

    ``in_corpus`` says whether the passages contain all, part or nothing of the answer; ``note`` is
    what a correct answer says.
    """

    id: str
    question: str
    in_corpus: Literal["yes", "partly", "no"]
    note: str


def corpus() -> tuple[Passage, ...]:
    """Return the passages in file order, each with ``id``, ``title`` and ``metadata["topic"]``."""
    return tuple(
        Passage(row["text"], row["title"], row["id"], {"topic": row["topic"]})
        for row in _rows("corpus.jsonl")
    )


def questions() -> tuple[DemoQuestion, ...]:
    """Return the demo questions in file order."""
    # The literal of in_corpus is checked by the tests: the file ships with the package.
    return tuple(DemoQuestion(**row) for row in _rows("questions.jsonl"))  # type: ignore[arg-type]


def _rows(name: str) -> Iterator[dict[str, str]]:
    """Yield the objects of a JSON-lines file that lies beside this module."""
    text = files(__name__).joinpath(name).read_text(encoding="utf-8")
    # Not splitlines(): it would also split at U+2028 and the like inside a string.
    return (json.loads(line) for line in text.split("\n") if line)
