"""Finds a claim that is a stretch of a sentence, with two parts of it in each other's places.

"From Rome to Oslo" beside "from Oslo to Rome": here little words count, too, so that the parts may
be of several words and close to each other. (`exchanged` looks at the other words alone, wherever
they stand, and at single ones.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.words import STOPWORDS

_WORD: Final = re.compile(r"\w+(?:[.,:/’'-]\w+)*|[%€$£]")
_FEWEST: Final = 4
_MOST: Final = 60
"""Words of a claim."""
_LONGEST: Final = 5
"""Words of a part."""
_ALIKE: Final = word_set(
    "is are was were be been being a an the also and or equals means near beside alongside with "
    "similar identical equal next close different married engaged related known called named as"
)
"""Words between two parts that may change places: "the Ousk is the longest river"."""
_ADJUNCTS: Final = word_set("in on at by during from since until for within throughout across")
_JOINS: Final = word_set("and or")


class _Word(NamedTuple):
    text: str
    tells: bool
    """It is no little word: "a" is one, but the "A" of "Team A" is not."""
    comma: bool
    """A comma follows."""


class _Parts(NamedTuple):
    before: Sequence[_Word]
    first: Sequence[_Word]
    between: Sequence[_Word]
    second: Sequence[_Word]
    after: Sequence[_Word]


def swapped(claim: str, sentence: str) -> bool:
    """Whether a claim has a stretch of the sentence's words, with two parts in each other's places.

    Of labelled pairs (training and fitting folds) 152 unsupported ones have, 6 of other people's
    sets among them, and one supported one, whose label looks wrong.

    Args:
        claim: a sentence.
        sentence: the one of the context nearest to it.
    """
    mine, theirs = _words(claim), _words(sentence)
    if not _FEWEST <= len(mine) <= _MOST or len(mine) > len(theirs):
        return False
    return any(_matter(parts) for parts in _found(mine, theirs))


def _words(text: str) -> list[_Word]:
    return [_word(one, text) for one in _WORD.finditer(text)]


def _word(found: re.Match[str], text: str) -> _Word:
    word = found.group().lower()
    letter = found.start() > 0 and re.fullmatch("[A-HJ-Z]", found.group()) is not None
    return _Word(word, letter or word not in STOPWORDS, text[found.end() : found.end() + 1] == ",")


def _found(claim: Sequence[_Word], sentence: Sequence[_Word]) -> Iterator[_Parts]:
    own, other = [word.text for word in claim], [word.text for word in sentence]
    if not set(own) <= set(other):
        return
    ordered = sorted(own)
    for at in range(len(other) - len(own) + 1):
        stretch = other[at : at + len(own)]
        if stretch != own and sorted(stretch) == ordered:
            yield from _read(claim, own, stretch)


def _read(claim: Sequence[_Word], own: list[str], stretch: list[str]) -> Iterator[_Parts]:
    """The two parts of a claim that has the words of a stretch in another order."""
    differing = [n for n, (mine, its) in enumerate(zip(own, stretch, strict=True)) if mine != its]
    start, end = differing[0], differing[-1] + 1
    for first, second in product(range(1, _LONGEST + 1), repeat=2):
        a, b = start + first, end - second
        if a < b and stretch[start:end] == own[b:end] + own[a:b] + own[start:a]:
            yield _Parts(claim[:start], claim[start:a], claim[a:b], claim[b:end], claim[end:])


def _matter(parts: _Parts) -> bool:
    """Whether it says something else that the two parts changed places."""
    between = [word.text for word in parts.between]
    if _ALIKE.issuperset(between) or _lists(parts) or _moves_adjuncts(parts):
        return False
    return all(any(word.tells for word in part) for part in (parts.first, parts.second))


def _lists(parts: _Parts) -> bool:
    """Whether they are items of one list: "pumps, valves and pipes"."""
    ends = parts.first[-1].comma or parts.between[0].text in _JOINS
    last = parts.between[-1]
    return ends and (last.comma or last.text in _JOINS)


def _moves_adjuncts(parts: _Parts) -> bool:
    """Whether they say when and where, at both ends: "On Monday they met in Rome" is no swap."""
    if parts.after or len(parts.before) > 1:
        return False
    opens = (*parts.before, *parts.first)[0].text
    closes = {parts.between[-1].text, parts.second[0].text}
    return opens in _ADJUNCTS and not closes.isdisjoint(_ADJUNCTS)
