"""Reads a pool of passages from a file and searches it for questions that have none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from franq_guard.datasets.grading import states
from franq_guard.datasets.jsonl import numbered_lines
from franq_guard.datasets.questions import Question
from franq_guard.datasets.search import Bm25
from franq_guard.records import Passage

__all__ = ["read_passages", "with_retrieved"]


def read_passages(path: Path) -> list[Passage]:
    """The pool: JSONL of ``{text, title?}``, compressed where the name ends in ``.gz``.

    Raises:
        ValueError: for an invalid line, which the message names, or an empty file.
    """
    found = []
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            found.append(Passage(row["text"], title=row.get("title") or ""))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{path}, line {number}: not a passage {{text, title?}}: {error}"
            ) from None
    if not found:
        raise ValueError(f"{path} holds no passage")
    return found


def with_retrieved(
    questions: Sequence[Question], pool: Sequence[Passage], *, k: int
) -> list[Question]:
    """Questions without passages get the best ``k`` of the pool (BM25); others stay as they are.

    A passage that contains a correct answer, by string matching, counts as gold.
    """
    if all(question.passages for question in questions) or k < 1:
        return list(questions)
    try:
        search = Bm25([f"{p.title}\n{p.text}" for p in pool], k=k)
    except ImportError as error:
        raise ValueError("searching passages needs bm25s: pip install bm25s") from error
    return [q if q.passages else _retrieved(q, pool, search) for q in questions]


def _retrieved(question: Question, pool: Sequence[Passage], search: Bm25) -> Question:
    found = tuple(pool[i] for i, _ in search.best(question.question))
    gold = tuple(states(p.text, question.answers, question=question.question) for p in found)
    return replace(question, passages=found, gold=gold)
