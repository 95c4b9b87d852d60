"""Tells whether two passages are about two grades of an offer: "Harvest" and "Harvest Plus".

A name that is a part of another may be short for it, as "Norda" for "Norda Foods". Both are taken
for two grades only if what the longer one adds

- is a word that makers add to a name for another grade of a thing ("Plus", "Long Range"), or
- stands with a word for an offer ("the Saver fare", "the Saver Comfort fare").

And where a text has both names, the shorter one must come first: a short form comes after.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import dropwhile, product, takewhile
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.claims.rules.words import PREPOSITIONS
from franq_guard.faithfulness.small.words import STOPWORDS
from franq_guard.records import Passage
from franq_guard.signals.topics import nearest, read

__all__ = ["are_grades"]

_GRADES: Final = word_set(
    "plus pro max mini lite ultra premium deluxe basic standard advanced extended annual business"
    " enterprise xl long range"
)
"""Not those that firms and persons have in their names, too, as "Express" or "Junior"."""
_OFFERS: Final = word_set(
    "plan tariff fare ticket pass edition version package subscription licence license membership"
    " tier bundle"
)
_WORD: Final = r"(?:[A-Z]|\d)\w*(?:\.\d+)*"
_NAME: Final = re.compile(rf"\b{_WORD}(?:[ -]{_WORD})*(?: (?:{'|'.join(sorted(_OFFERS))})\b)?")
_SPACE: Final = re.compile("[ -]")
_BEGINNINGS: Final = STOPWORDS | PREPOSITIONS
"""A sentence that begins with a name often has one of them before it."""

Words = tuple[str, ...]


class _Name(NamedTuple):
    """The words of a name, in lower case; those for an offer apart."""

    words: Words
    offer: frozenset[str]


def are_grades(claim: str, stating: Passage, other: Passage, *, said: str = "") -> bool:
    """Whether the claim and ``stating`` are about one grade, and ``other`` is about another.

    Args:
        claim: a sentence.
        stating: the passage that states it.
        other: the passage that seems to contradict it.
        said: what was said before the claim.
    """
    texts = (f"{said} {claim}", _until(claim, stating), _until(claim, other))
    about, own, others = map(_names, texts)
    for one, two in product(set(own), set(others)):
        if _differ_in_grade(one, two):
            pair = one.words, two.words
            meant = [_meant(names, pair) for names in (about, own, others)]
            if meant == [one.words, one.words, two.words]:
                return True
    return False


def _until(claim: str, passage: Passage) -> str:
    """The title and the sentences up to the one nearest to the claim."""
    found = read(passage.text)[: nearest(claim, passage.text) + 1]
    return ". ".join([passage.title, *(one.text for one in found)])


def _names(text: str) -> list[_Name]:
    return [name for match in _NAME.finditer(text) if (name := _name(match.group())).words]


def _name(phrase: str) -> _Name:
    words = _SPACE.split(phrase.lower())
    named = tuple(dropwhile(_BEGINNINGS.__contains__, (w for w in words if w not in _OFFERS)))
    return _Name(named, _OFFERS.intersection(words))


def _differ_in_grade(one: _Name, two: _Name) -> bool:
    pairs = zip(one.words, two.words, strict=False)
    equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    added = {*one.words[equal:], *two.words[equal:]}
    return bool(equal and added) and (added <= _GRADES or bool(one.offer & two.offer))


def _meant(names: Sequence[_Name], pair: Collection[Words]) -> Words | None:
    """Which of two names is the last; None for one that may be short for the other before it."""
    found = [name.words for name in names if name.words in pair]
    if not found:
        return None
    first, last = found[0], found[-1]
    is_short = last != first and last == first[: len(last)]
    return None if is_short else last
