"""Claims that an answer states more than once."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.claims.word_keys import keys
from franq_guard.records import Claim

Statement = tuple[str | None, ...]
"""A claim's context and words, as :func:`statement` compares them."""

_FILLERS = frozenset({"also", "too", "again", "further", "furthermore", "moreover"})


def first_statements(claims: Sequence[Claim]) -> list[int]:
    """For each claim the index of the first one that states the same: its own where none does.

    The same means the same context and the same words in the same order, but for case, punctuation,
    endings and fillers ("also"). A model that loops copies itself with near certainty, and the
    probability of a copy says nothing about the world: a repetition is to be judged where it was
    first stated.
    """
    seen: dict[Statement, int] = {}
    return [seen.setdefault(statement(claim), i) for i, claim in enumerate(claims)]


def statement(claim: Claim) -> Statement:
    """What a claim states: equal for claims that state the same."""
    return (claim.context, *(_words(claim.text) or (claim.text,)))


def _words(text: str) -> tuple[str, ...]:
    return tuple(key.key for key in keys(text) if key.key not in _FILLERS)
