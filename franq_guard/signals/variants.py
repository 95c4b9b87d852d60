"""Tells whether two sentences are about variants of a thing: "the red line", "the blue line"."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from franq_guard.claims.rules.words import FINITE_AUXILIARIES
from franq_guard.faithfulness.small.numerals import CARDINALS
from franq_guard.faithfulness.small.tokens import tokens
from franq_guard.faithfulness.small.words import STOPWORDS
from franq_guard.signals.topics import Word, content

__all__ = ["are_variants"]

_PARALLEL: Final = 0.5
"""Sentences with this share of their content words in common, in the same order, run parallel."""
_PLACES: Final = 2
"""They differ in so many places at least: in which one is meant, and in what is told of it."""
_STEM: Final = 4
"""Letters at the beginning of two forms of one word: "stored", "storage"."""


def are_variants(claim: str, sentence: str) -> bool:
    """Whether the two run parallel, another attribute stands beside a noun, and more differs.

    "Dogs are allowed on the south beach." and "Dogs are not allowed on the north beach." do not
    disagree. "It has a red door." and "It has a green door." may: the attribute is what is told.

    Args:
        claim: what is stated elsewhere.
        sentence: the one that shares most words with it.
    """
    own, other = content(claim), content(sentence)
    places = SequenceMatcher(None, _stems(own), _stems(other), autojunk=False).get_opcodes()
    equal = sum(b - a for kind, a, b, _, _ in places if kind == "equal")
    replaced = [
        (own[a:b], other[c:d], a > 0 and c > 0)
        for kind, a, b, c, d in places
        if kind == "replace" and _differ(own[a:b], other[c:d])
    ]
    differing = len(replaced) + (_denies(claim) != _denies(sentence))
    return (
        equal >= _PARALLEL * max(len(own), len(other))
        and differing >= _PLACES
        and any(_attributes(*place) for place in replaced)
    )


def _stems(words: Sequence[Word]) -> list[str]:
    return [word.stem for word in words]


def _denies(text: str) -> bool:
    return any(token.kind == "negation" for token in tokens(text))


def _differ(own: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether a word of the first has no other form in the second."""
    return not all(any(_alike(word.stem, form.stem) for form in other) for word in own)


def _alike(one: str, other: str) -> bool:
    size = min(_STEM, len(one), len(other))
    return one.isalpha() and size > 1 and one[:size] == other[:size]


def _attributes(own: Sequence[Word], other: Sequence[Word], inside: bool) -> bool:
    """Whether the words that differ say which one is meant of what both are about.

    That is so directly before the same word ("the south beach"), before a verb ("Tickets for
    students are"), or for a letter after the same word ("Block A"). A count is told and says not
    which, and the first words before a verb may be two names of one thing ("Staff", "Employees").
    """
    one, two = own[-1], other[-1]
    if len(one.stem) == len(two.stem) == 1 and one.stem.isalpha():
        return one.before == two.before
    if any(map(_is_count, (*own, *other))) or one.after != two.after:
        return False
    told = one.after in FINITE_AUXILIARIES or one.plural or two.plural
    return bool(one.after) and (inside if told else one.after not in STOPWORDS)


def _is_count(word: Word) -> bool:
    return word.stem[0].isdigit() or word.stem in CARDINALS
