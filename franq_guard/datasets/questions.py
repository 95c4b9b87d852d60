"""Questions with passages and gold answers (``rag_qa`` JSONL), and the split in train and test.

A row is ``{id, dataset, question, answers, passages: [{text, title?, is_gold?, src?}]}``; other
fields are ignored. ``is_gold`` says that the passage answers the question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from franq_guard.datasets.jsonl import numbered_lines, text_of
from franq_guard.records import Passage


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``gold`` is parallel to ``passages``; ``answers`` holds at least one alias.

    Raises:
        ValueError: if ``gold`` and ``passages`` differ in length.
    """

    id: str
    dataset: str
    question: str
    answers: tuple[str, ...]
    passages: tuple[Passage, ...]
    gold: tuple[bool, ...]

    def __post_init__(self) -> None:
        if len(self.gold) != len(self.passages):
            raise ValueError(
                f"question {self.id!r}: {len(self.passages)} passages but {len(self.gold)} gold"
                " marks; give one mark per passage"
            )


def read_questions(paths: Iterable[str | Path]) -> list[Question]:
    """All questions of the JSONL files (compressed where a name ends in ``.gz``), in file order.

    Raises:
        ValueError: naming file and line where a row is broken or repeats an earlier row's id.
        OSError: a file cannot be opened.
    """
    found: dict[str, Question] = {}
    for path in map(Path, paths):
        for number, line in numbered_lines(path):
            try:
                question = _question(json.loads(line))
                if question.id in found:
                    raise ValueError(f"the id {question.id!r} occurs twice; ids must be unique")
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            found[question.id] = question
    return list(found.values())


def draw(
    questions: Iterable[Question], *, train: int, test: int, seed: int = 0
) -> tuple[list[Question], list[Question]]:
    """``train`` and ``test`` questions of every data set, disjoint; data sets in order of name.

    Questions are ranked by a digest of seed and id; the training part is taken from one end, the
    test part from the other. So new rows replace only few old ones, a larger training part contains
    the smaller one, and no question moves from one part to the other as long as the data set has
    enough questions for both.

    Raises:
        ValueError: if a count is negative, or a data set has fewer than ``train + test`` questions.
    """
    if train < 0 or test < 0:
        raise ValueError(f"train and test must not be negative, they are {train} and {test}")
    by_name: dict[str, list[Question]] = {}
    for question in questions:
        by_name.setdefault(question.dataset, []).append(question)
    drawn: tuple[list[Question], list[Question]] = ([], [])
    for name, members in sorted(by_name.items()):
        if len(members) < train + test:
            raise ValueError(
                f"{name} has {len(members)} questions, {train} + {test} are asked for; "
                "ask for fewer or add data"
            )
        ranked = sorted(members, key=lambda q: digest(seed, q.id))
        drawn[0].extend(ranked[:train])
        drawn[1].extend(ranked[::-1][:test])
    return drawn


def top(question: Question, k: int) -> Question:
    """The question with its first ``k`` passages.

    Raises:
        ValueError: if ``k`` is negative.
    """
    if k < 0:
        raise ValueError(f"k must not be negative, it is {k}")
    return replace(question, passages=question.passages[:k], gold=question.gold[:k])


def gold_lost(questions: Iterable[Question], k: int) -> int:
    """How many questions have a gold passage, but none among the first ``k``."""
    return sum(any(q.gold) and not any(top(q, k).gold) for q in questions)


def digest(seed: int, *parts: str) -> str:
    """A hex number that depends only on ``seed`` and ``parts``, for a reproducible random order."""
    return hashlib.sha256(json.dumps([seed, *parts]).encode()).hexdigest()


def _question(row: object) -> Question:
    if not isinstance(row, dict):
        raise ValueError(f"a row must be a JSON object, not {type(row).__name__}")
    answers, passages = _list(row, "answers"), _list(row, "passages")
    if not answers or not all(isinstance(a, str) and a.strip() for a in answers):
        raise ValueError("'answers' must hold at least one string, and no empty one")
    return Question(
        id=text_of(row, "id"),
        dataset=text_of(row, "dataset"),
        question=text_of(row, "question"),
        answers=tuple(answers),
        passages=tuple(_passage(p) for p in passages),
        gold=tuple(p.get("is_gold") is True for p in passages),
    )


def _passage(item: object) -> Passage:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise ValueError("each of 'passages' must be an object with a string 'text'")
    source = {"src": item["src"]} if item.get("src") is not None else {}
    return Passage(text=item["text"], title=str(item.get("title") or ""), metadata=source)


def _list(row: dict[str, Any], key: str) -> Sequence[Any]:
    value = row.get(key)
    if not isinstance(value, list):
        raise ValueError(f"{key!r} must be a list" if key in row else f"no {key!r}")
    return value
