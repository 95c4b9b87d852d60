"""Reads questions from a file: lines of text, or JSON Lines that may include passages."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from franq_guard.datasets.building.questions import MadeQuestion
from franq_guard.datasets.jsonl import json_rows, numbered_lines
from franq_guard.datasets.questions import digest
from franq_guard.records import Passage
from franq_guard.rows import passages_from

_log = logging.getLogger(__name__)


def read_given(file: Path, *, after: int) -> tuple[list[MadeQuestion], list[Passage]]:
    """The questions of a file, and the passages given with them.

    A ``.txt`` file has one question per line. A row of JSON has ``question`` and optionally
    ``answers`` (correct ones), ``id`` and ``passages`` (``text``, ``title``, ``is_gold``), which
    are shown unchanged. Passage indices begin at ``after``.

    Raises:
        ValueError: for an invalid row, which the message names, or a file without a question.
        OSError: the file cannot be read.
    """
    if file.suffix.lower() == ".txt":
        lines = [" ".join(line.split()) for _, line in numbered_lines(file)]
        found = [MadeQuestion(_id(line), line, "given", None) for line in dict.fromkeys(lines)]
        passages: list[Passage] = []
    else:
        found, passages = [], []
        rows = list(json_rows(file))
        if any("answer" in row and "answers" not in row for row in rows):  # it may be a model's
            _log.warning("'answer' is not read in %s: correct answers go in a list 'answers'", file)
        for number, row in enumerate(rows, start=1):
            try:
                shown = row.get("passages") or []
                if not isinstance(shown, list):  # of a text each character would be a passage
                    raise ValueError("'passages' must be a list")
                own = passages_from(shown)
                found.append(
                    _question(row, range(first := after + len(passages), first + len(own)))
                )
            except (ValueError, TypeError) as error:
                raise ValueError(f"{file}, row {number}: {error}") from None
            passages += own
    if not found:
        raise ValueError(f"{file} holds no question")
    _unique(file, found)
    return found, passages


def _question(row: dict[str, Any], own: Sequence[int]) -> MadeQuestion:
    asked, answers = row.get("question"), row.get("answers") or []
    if not isinstance(asked, str) or not asked.strip():
        raise ValueError("a question needs a non-empty string 'question'")
    if not isinstance(answers, list) or not all(isinstance(a, str) and a.strip() for a in answers):
        raise ValueError("'answers' must be a list of non-empty strings")
    marked = (i for i, p in zip(own, row.get("passages") or [], strict=True) if _gold(p))
    return MadeQuestion(
        str(row.get("id") or _id(asked)),
        asked.strip(),
        "given",
        next(marked, None),
        tuple(answers),
        own=tuple(own) if own else None,
    )


def _gold(passage: object) -> bool:
    return isinstance(passage, dict) and passage.get("is_gold") is True


def _unique(file: Path, found: Sequence[MadeQuestion]) -> None:
    for repeated in _repeats(question.id for question in found):
        raise ValueError(f"{file}: the id {repeated!r} occurs twice; ids must be unique")


def _repeats(values: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            yield value
        seen.add(value)


def _id(question: str) -> str:
    return digest(0, "given", question)[:12]
