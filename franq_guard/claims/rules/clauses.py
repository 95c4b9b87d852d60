"""A sentence into the clauses that each state one thing."""

from __future__ import annotations

from collections.abc import Callable

from franq_guard.claims.rules.asides import without_asides
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.coordination import coordinated, independent
from franq_guard.claims.rules.enumeration import enumerated
from franq_guard.claims.rules.lexer import lex

_STAGES: tuple[Callable[[Clause], list[Clause]], ...] = (
    independent,
    without_asides,
    coordinated,
    enumerated,
)
_MAX_WORDS = 150
"""A longer "sentence" is no prose that rules could read: it stays whole (and time stays linear)."""


def clauses(answer: str, start: int, end: int) -> list[Clause]:
    """The clauses of the sentence ``answer[start:end]``, by their first own word."""
    words = tuple(lex(answer, start, end))
    found = [Clause(words, words)]
    if len(words) <= _MAX_WORDS:
        for stage in _STAGES:
            found = [part for clause in found for part in stage(clause)]
    return sorted(found, key=lambda c: c.own[0].index)
