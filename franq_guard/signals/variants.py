"""Tells whether two sentences are about variants of a thing: "the red line", "the blue line"."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from franq_guard.faithfulness.small.tokens import tokens
from franq_guard.signals.topics import content

__all__ = ["are_variants"]

_PARALLEL: Final = 0.5
"""Sentences with this share of their content words in common, in the same order, run parallel."""
_PLACES: Final = 2
_STEM: Final = 4
"""Letters at the beginning of two forms of one word: "stored", "storage"."""


def are_variants(claim: str, sentence: str) -> bool:
    """Whether the two run parallel and differ in two places at least: in what is meant, and told.

    "Dogs are allowed on the south beach." and "Dogs are not allowed on the north beach." do not
    disagree. On one thing parallel sentences differ in one place alone: "It has a red door." and
    "It has a green door." The price: "Staff get 25 days." is not taken for a disagreement with
    "Employees get 23 days."

    Args:
        claim: what is stated elsewhere.
        sentence: the one that shares most words with it.
    """
    own, other = content(claim), content(sentence)
    places = SequenceMatcher(None, own, other, autojunk=False).get_opcodes()
    equal = sum(b - a for kind, a, b, _, _ in places if kind == "equal")
    replaced = [
        kind for kind, a, b, c, d in places if kind == "replace" and _differ(own[a:b], other[c:d])
    ]
    differing = len(replaced) + (_denies(claim) != _denies(sentence))
    return equal >= _PARALLEL * max(len(own), len(other)) and differing >= _PLACES


def _denies(text: str) -> bool:
    return any(token.kind == "negation" for token in tokens(text))


def _differ(own: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a word of the first has no other form in the second."""
    return not all(any(_alike(word, form) for form in other) for word in own)


def _alike(one: str, other: str) -> bool:
    size = min(_STEM, len(one), len(other))
    return one.isalpha() and size > 1 and one[:size] == other[:size]
