"""The worst mistakes of a method: false rows with high scores, true rows with low scores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from franq_bench.tables.scores import Score, Scores
from franq_guard.datasets.jsonl import numbered_lines

__all__ = ["FILE", "Answer", "Mistake", "Mistakes", "read_answers", "worst"]

FILE = "answers.jsonl"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked, shown and answered; text of the data, never to be committed.

    ``claims``: by number, (text, is_true, is_faithful).
    """

    question: str
    gold: tuple[str, ...]
    answer: str
    passages: tuple[tuple[str, str], ...]
    claims: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Mistake:
    """A row that a method judged wrongly, with what was said."""

    score: Score
    answer: Answer

    @property
    def claim(self) -> int | None:
        """Which of the answer's claims was judged: the number that follows ``group`` in the id."""
        number = self.score.id.removeprefix(self.score.group or "").lstrip("#/:-.")
        inside = self.score.group is not None and number.isdecimal()
        return int(number) if inside and int(number) < len(self.answer.claims) else None


@dataclass(frozen=True, slots=True)
class Mistakes:
    """A method's worst: ``sure`` (false, most confident first), ``doubted`` (true, least first)."""

    method: str
    sure: tuple[Mistake, ...]
    doubted: tuple[Mistake, ...]


def read_answers(folder: Path) -> dict[tuple[str, str], Answer]:
    """By (data set, id), from ``answers.jsonl``; empty where there is none.

    Raises:
        ValueError: naming the line that does not fit.
    """
    file, found = folder / FILE, {}
    if not file.is_file():
        return {}
    for at, line in numbered_lines(file):
        try:
            row = json.loads(line)
            found[row["dataset"], row["id"]] = _answer(row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"{FILE}, line {at}: {what}") from None
    return found


def worst(
    scores: Scores, answers: Mapping[tuple[str, str], Answer], method: str, *, most: int = 8
) -> Mistakes:
    """The worst mistakes of a method on the test rows whose text is there.

    The text of a claim is that of its answer: the row whose id is the claim's ``group``.

    Args:
        scores: of all data sets.
        answers: as :func:`read_answers` gives them.
        method: ranks the rows; those without a score are left out.
        most: of each kind.
    """
    ranked: list[tuple[float, Mistake]] = []
    for row in scores.rows:
        value = row.scores.get(method)
        answer = answers.get((row.dataset, row.id)) or answers.get((row.dataset, row.group or ""))
        if row.split == "test" and value is not None and answer is not None:
            ranked.append((value, Mistake(row, answer)))
    ranked.sort(key=lambda pair: pair[0])
    rising = [mistake for _, mistake in ranked]
    return Mistakes(
        method,
        sure=tuple([m for m in reversed(rising) if not m.score.is_true][:most]),
        doubted=tuple([m for m in rising if m.score.is_true][:most]),
    )


def _answer(row: dict[str, Any]) -> Answer:
    return Answer(
        question=str(row["question"]),
        gold=tuple(str(gold) for gold in row.get("answers") or ()),
        answer=str(row["answer"]),
        passages=tuple((str(p.get("title") or ""), str(p["text"])) for p in row["passages"]),
        claims=tuple(
            (str(c["text"]), _truth(c.get("is_true")), _truth(c.get("is_faithful")))
            for c in row.get("claims") or ()
        ),
    )


def _truth(value: Any) -> str:
    return {None: "unknown", True: "yes", False: "no"}.get(value, str(value))
