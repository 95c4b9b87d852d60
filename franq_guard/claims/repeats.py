"""Claims that an answer states more than once."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.claims.word_keys import keys
from franq_guard.records import Claim

Statement = tuple[str | None, ...]
"""A claim's context and words, as :func:`statement` compares them."""

_FILLERS = frozenset({"also", "too", "again", "further", "furthermore", "moreover"})


def first_statements(claims: Sequence[Claim]) -> list[int]:
    """For each claim the index of the first claim that states the same, maybe its own.

    The same means the same context and the same words in the same order, ignoring case,
    punctuation, endings and fillers ("also"). A model is nearly certain of text that it repeats, so
    the probability of a repetition does not show whether it is true; a repeated claim should be
    judged by its first statement.
    """
    seen: dict[Statement, int] = {}
    return [seen.setdefault(statement(claim), i) for i, claim in enumerate(claims)]


def statement(claim: Claim) -> Statement:
    """A key for what a claim states, equal for claims that state the same."""
    return (claim.context, *(_words(claim.text) or (claim.text,)))


def _words(text: str) -> tuple[str, ...]:
    return tuple(key.key for key in keys(text) if key.key not in _FILLERS)
