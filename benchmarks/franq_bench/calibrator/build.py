"""Questions with three passages, and the bundled model's own answers to them.

The questions are SQuAD's, and those of NQ whose gold passage was marked by people. Only for some of
them is the gold passage shown. Only these rows are used: their licences (CC BY-SA, MIT) are
share-alike or permissive.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from franq_bench.calibrator.label import gradable, matchable
from franq_bench.data.files import LONG, SHORT
from franq_bench.data.folds import Fold, Folds
from franq_guard.datasets.generations import GenerationStore
from franq_guard.datasets.jsonl import json_rows
from franq_guard.guard import Guard
from franq_guard.language_model.base import Prompt
from franq_guard.language_model.prompts import rag_prompt
from franq_guard.records import Passage, Trace

K = 3
GOLD_SHARE = 0.6
MAX_NEW_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Question:
    """One question, the passages shown with it, and its gold answers."""

    id: str
    text: str
    answers: tuple[str, ...]
    passages: tuple[Passage, ...]


def questions(
    folder: Path,
    *,
    limit: int,
    seed: int,
    files: Sequence[str] = SHORT,
    of: tuple[Fold, ...] = ("fitting",),
) -> list[Question]:
    """Draw ``limit`` questions of some folds, the same number from each file.

    Of files other than :data:`.LONG` only the questions are kept whose answers can be graded by
    :mod:`franq_bench.calibrator.label`.

    Raises:
        FileNotFoundError: if a data file is missing.
    """
    chosen: list[Question] = []
    folds = Folds.read(folder)
    for name in files:
        rows = [
            row
            for row in json_rows(folder / name)
            if row["gold_kind"] == "annotated" and row["answers"] and folds.of(row) in of
        ]
        rows = [row for row in rows if name in LONG or gradable(row["answers"])]
        rng = random.Random(f"{seed}/{name}")  # noqa: S311  (a reproducible shuffle)
        rng.shuffle(rows)
        drawn = [_question(row, rng) for row in rows[: limit // len(files)]]
        chosen += [q for q in drawn if name in LONG or matchable(q.answers)]
    return chosen


def _question(row: dict[str, Any], rng: random.Random) -> Question:
    gold = [p for p in row["passages"] if p["is_gold"]]
    others = [p for p in row["passages"] if not p["is_gold"] and not p.get("has_answer")]
    shown = [*(gold[:1] if rng.random() < GOLD_SHARE else []), *others][:K]
    rng.shuffle(shown)
    return Question(
        id=row["id"],
        text=row["question"],
        answers=tuple(row["answers"]),
        passages=tuple(Passage(text=p["text"], title=p["title"]) for p in shown),
    )


def long_prompt(question: Question) -> Prompt:
    """The guard's own prompt."""
    return rag_prompt(question.text, question.passages)


def answer(
    guard: Guard,
    asked: Sequence[Question],
    store: GenerationStore,
    progress: Callable[[int], None],
    *,
    prompt: Callable[[Question], Prompt] = long_prompt,
    max_new_tokens: int = MAX_NEW_TOKENS,
) -> list[Trace]:
    """The bundled model's own answers as traces; answers already stored are reused."""
    model = guard.language_model
    if model is None:
        raise ValueError("the guard has no language model")
    prompts = [model.render(prompt(q)) for q in asked]
    made = store.generate(model, prompts, max_new_tokens=max_new_tokens, progress=progress)
    return [
        Trace(q.text, q.passages, generation, id=q.id)
        for q, generation in zip(asked, made, strict=True)
    ]
