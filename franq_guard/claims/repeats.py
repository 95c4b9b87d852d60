"""Claims that an answer states more than once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from franq_guard.claims.rules.openers import unopened
from franq_guard.claims.rules.words import THIRD_PERSON
from franq_guard.claims.word_keys import keys
from franq_guard.records import Claim

Statement = tuple[str | None, ...]
"""A claim's context and words, as :func:`statement` compares them."""

_FILLERS = frozenset({"also", "too", "again", "further", "furthermore", "moreover"})
_WORD = re.compile(r"[^\W\d_]+")
_NOTE = re.compile(rf"\A(?:{'|'.join(sorted(THIRD_PERSON))}): [^;]*(?:; |$)")
"""What a claim's context says of its pronoun."""


def first_statements(claims: Sequence[Claim]) -> list[int]:
    """For each claim the index of the first claim that states the same, maybe its own.

    The same means the same context and the same words in the same order, ignoring case,
    punctuation, endings, fillers ("also") and openers ("In summary, "). A claim in full has names
    for its pronouns, so "She was born in 1815" may repeat "Ada Lovelace was born in 1815". A model
    is nearly certain of text that it repeats, so the probability of a repetition does not show
    whether it is true; a repeated claim should be judged by its first statement.
    """
    seen: dict[Statement, int] = {}
    return [seen.setdefault(statement(claim), i) for i, claim in enumerate(claims)]


def statement(claim: Claim) -> Statement:
    """A key for what a claim states, equal for claims that state the same."""
    text = unopened(claim.in_full)
    words = _words(text)
    context = claim.context
    if claim.full and context and THIRD_PERSON.isdisjoint(_WORD.findall(text.lower())):
        context = _NOTE.sub("", context) or None  # the name is among the words
    return (context, *(words or (text,)))


def _words(text: str) -> tuple[str, ...]:
    return tuple(key.key for key in keys(text) if key.key not in _FILLERS)
