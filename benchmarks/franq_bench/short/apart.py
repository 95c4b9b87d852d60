"""Answers and statistics made in other processes: which are missing, and what comes back.

An engine sends :class:`Item` records to its processes, calls :func:`made` there and gives the rows
that come back to :func:`store`, in the process that has the cache. Nothing else passes between
them, so that the machines of a cluster need no common folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from franq_bench.short.answers import Answered, Settings, answer_key
from franq_bench.short.generate import answers_of
from franq_bench.short.statistics import statistics_key, statistics_of
from franq_bench.store.cache import Kept
from franq_guard.datasets.questions import Question
from franq_guard.language_model.base import LanguageModel
from franq_guard.signals.request import Models
from franq_guard.uncertainty.statistics import needed

__all__ = ["Item", "Row", "Stores", "check_used", "made", "missing", "store"]

Stores = dict[str, Kept]
"""Where ``answers`` and ``statistics`` are kept, by these names."""
Row = dict[str, str]
"""``store`` (a name of :data:`Stores`), ``key``, and ``row``, a JSON text."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question that lacks something.

    Attributes:
        at: its place in the list of questions.
        answered: its answer as JSON, if that is there; else empty.
    """

    at: int
    answered: str = ""


def missing(
    questions: Sequence[Question], models: Models, settings: Settings, stores: Stores
) -> list[Item]:
    """The questions without an answer, or without statistics of it, in their order."""
    model: LanguageModel = needed(models.language_model, "language_model")
    found = []
    for at, question in enumerate(questions):
        key = answer_key(model, question, settings)
        if key not in stores["answers"]:
            found.append(Item(at))
            continue
        row = stores["answers"][key]
        if statistics_key(question, Answered.from_json(row), models) not in stores["statistics"]:
            found.append(Item(at, json.dumps(row)))
    return found


def made(item: Item, question: Question, models: Models, settings: Settings) -> list[Row]:
    """Answer the question if it is not answered, measure it, and return what is new."""
    model: LanguageModel = needed(models.language_model, "language_model")
    answers: dict[str, Any] = {}
    measured: dict[str, Any] = {}
    if item.answered:
        answers[answer_key(model, question, settings)] = json.loads(item.answered)
    found = answers_of(model, [question], settings, answers)
    statistics_of([question], found, models, measured)
    new = {"answers": {} if item.answered else answers, "statistics": measured}
    return [
        {"store": name, "key": key, "row": json.dumps(row)}
        for name, rows in new.items()
        for key, row in rows.items()
    ]


def store(rows: Iterable[Row], stores: Stores) -> None:
    """Keep rows that came back; each is on disk before the next is taken."""
    for row in rows:
        stores[row["store"]][row["key"]] = json.loads(row["row"])


def check_used(before: Sequence[Item], left: Sequence[Item]) -> None:
    """Look whether what came back is what was missing.

    It is kept under the names of the models that made it: those of another machine may differ (a
    folder of the same name with other weights), and then this process would make all of it again.

    Args:
        before: what was missing before the first rows were stored.
        left: what is missing since then.

    Raises:
        ValueError: if nothing more is there than before.
    """
    if len(left) == len(before):
        raise ValueError(
            "what the other processes make is of other models than those of this one: give every "
            "machine the same files under the same names"
        )
