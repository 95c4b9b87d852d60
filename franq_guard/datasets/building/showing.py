"""Chooses the passages the writing model sees: retrieved, or with and without the right one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from franq_guard.datasets.building.questions import MadeQuestion
from franq_guard.datasets.comparable_words import texts
from franq_guard.datasets.grading import states
from franq_guard.datasets.questions import digest
from franq_guard.records import Passage

Showing = Literal["gold", "withheld", "near", "retrieved"]
"""``gold``: the passage that the question was made from and the best others; ``withheld``: the best
others without it; ``near``: the best passages that do not state a correct answer; ``retrieved``:
the best passages, whatever they state."""

Show = Literal["mixed", "retrieved"]
"""``mixed``: half ``gold``, a quarter ``withheld``, a quarter ``near``, to see good and bad
retrieval; ``retrieved``: always what the search finds, as an application would show it."""

_SHARES: tuple[tuple[Showing, float], ...] = (("gold", 0.5), ("withheld", 0.25), ("near", 0.25))
_SEARCHED = 20


class Search(Protocol):
    """A retriever over the documents' passages."""

    def best(self, question: str) -> list[tuple[int, float]]:
        """(index of a passage, score), best first."""
        ...


def showing_for(question: MadeQuestion, seed: int, show: Show = "mixed") -> Showing:
    """What a question gets; with ``mixed`` the choice depends only on question and seed."""
    if show == "retrieved":
        return "retrieved"
    if question.own is not None or question.passage is None or not question.answers:
        return "gold"
    drawn = int(digest(seed, "showing", question.id)[:8], 16) / 16**8
    for showing, share in _SHARES:
        drawn -= share
        if drawn < 0:
            return showing
    return _SHARES[-1][0]


def shown(
    question: MadeQuestion,
    passages: Sequence[Passage],
    search: Search,
    showing: Showing,
    *,
    k: int,
) -> tuple[int, ...]:
    """Indices of the passages to show, at most ``k``; the right one is at a random position.

    A question that came with its own passages is shown those instead.
    """
    if question.own is not None:
        return question.own
    found = [i for i, _ in search.best(question.question)[: _SEARCHED + k]]
    others = [i for i in found if i != question.passage]
    if showing == "near":
        others = [i for i in others if not _states(passages[i], question)]
    if showing == "retrieved":
        return tuple(found[:k])
    if showing != "gold" or question.passage is None:
        return tuple(others[:k])
    chosen = others[: k - 1]
    place = int(digest(0, "place", question.id)[:8], 16) % (len(chosen) + 1)
    return (*chosen[:place], question.passage, *chosen[place:])


def _states(passage: Passage, question: MadeQuestion) -> bool:
    answers = [answer for answer in question.answers if texts(answer)]
    return bool(answers) and states(passage.text, answers)
