"""Finds a claim that says of two things what the sentence says of them the other way round.

"Bolt bought Acme" beside "Acme bought Bolt" or "Bolt was bought by Acme": all words are there, and
an encoder gives both nearly the same score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import takewhile
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.differences.opposites import opposite_key
from franq_guard.faithfulness.small.words import NEGATIONS, STOPWORDS, stem

_LINES: Final = files(__package__).joinpath("roles.txt").read_text("utf-8").splitlines()
"""A relation each: "buy" has its first side before it and its second behind it, words after "|" the
other way round. Of "sell>to" the side behind follows "to"."""
_VERB: Final = re.compile(r"[a-z]{3,}ed")
"""Any other verb counts between two names, but for those that both do to each other."""
_MUTUAL: Final = word_set(
    "married remarried divorced joined faced debated resembled matched equalled equaled bordered "
    "adjoined touched intersected crossed overlapped accompanied contacted kissed hugged embraced "
    "engaged opposed rivalled rivaled partnered tied merged allied"
)
_PIECE: Final = re.compile(r"\w+(?:[.,]\d+)*|['’]\w+|[^\w\s.]|\.(?!\s[a-z])")
"""Words and signs, without the full stop of "Bolt Ltd. was"."""
_BE: Final = word_set("be was were is are been being")
_LITTLE: Final = word_set(
    "has have had having will would can could may might must should did does do not also later "
    "then first soon once still already never always often a an the only"
)
"""Words that may stand before a verb or a noun, or between it and "be"."""
_ENDS: Final = word_set(
    ", ; : ( ) . ? ! — – and but or that which who whom whose because when while if where before "
    "after although though as since than"
)
"""Where a side ends at the latest."""
_FULL: Final = word_set("; . ? !")
_RELATIVE: Final = word_set("who which that")
_PREPOSITIONS: Final = word_set(
    "in on at for from with to into by over under about during through until against between among "
    "without within near via after"
)
_TWISTS: Final = NEGATIONS | word_set("'t ’t only unless until")
_POSSESSIVE: Final = ("'s", "’s", "'", "’")
_REACH: Final = 6
"""At most so many words are between a verb and "by", or another preposition of its own."""

Words = Sequence[str]


class Role(NamedTuple):
    """A relation, by its first or only word, and the stems of what is on its two sides."""

    relation: str
    first: frozenset[str]
    second: frozenset[str]


class _Form(NamedTuple):
    relation: str
    turned: bool = False
    preposition: str = ""
    named: bool = False  # names alone count


def _key(word: str) -> str:
    return opposite_key(stem(word.lower()))


def _known() -> dict[str, list[_Form]]:
    found: dict[str, list[_Form]] = {}
    for line in _LINES:
        for turned, side in enumerate(line.split("|")):
            for form in side.split():
                word, _, preposition = form.partition(">")
                known = _Form(line.split()[0], bool(turned), preposition)
                found.setdefault(_key(word), []).append(known)
    return found


_FORMS: Final = _known()


def turned_round(claim: str, sentence: str, context: str) -> bool:
    """Whether the sentence has a relation of the claim with its two sides in each other's places.

    Of labelled pairs (training and fitting folds) in which no two words are exchanged, so do 64
    unsupported ones and 2 supported ones.

    Args:
        claim: a sentence.
        sentence: the one of the context nearest to it.
        context: what may say elsewhere that it is so in both ways.
    """
    turned = any(
        _crossed(own, other) and not any(_agree(own, one) for one in roles(context))
        for own in roles(claim)
        for other in roles(sentence)
    )
    return turned and not (twists(claim) or twists(sentence))


def twists(text: str) -> bool:
    """Whether a text negates or has "only": "not before May" is "only after May"."""
    return not _TWISTS.isdisjoint(_PIECE.findall(text.lower()))


def _crossed(one: Role, other: Role) -> bool:
    return (
        one.relation == other.relation
        and not one.first.isdisjoint(other.second)
        and not one.second.isdisjoint(other.first)
        and one.first.isdisjoint(other.first)
        and one.second.isdisjoint(other.second)
    )


def _agree(one: Role, other: Role) -> bool:
    return one.relation == other.relation and not (
        one.first.isdisjoint(other.first) or one.second.isdisjoint(other.second)
    )


@lru_cache(maxsize=512)
def roles(text: str) -> tuple[Role, ...]:
    """The relations that a text states of two sides each."""
    return tuple(_read(_PIECE.findall(text)))


def _read(pieces: Words) -> Iterator[Role]:
    for at, word in enumerate(pieces):
        for form in _forms(word):
            sides = _sides(pieces, at, form.preposition)
            first, second = (_stems(side, named=form.named) for side in sides or ((), ()))
            if first and second:
                yield Role(form.relation, *((second, first) if form.turned else (first, second)))


def _forms(word: str) -> Sequence[_Form]:
    if not word.islower():
        return ()
    if _key(word) in _FORMS:
        return _FORMS[_key(word)]
    return [_Form(word, named=True)] if _VERB.fullmatch(word) and word not in _MUTUAL else ()


def _sides(pieces: Words, at: int, preposition: str) -> tuple[Words, Words] | None:
    """What is before and after a word, of a passive the other way round."""
    start = at
    while start and (pieces[start - 1] in _LITTLE or pieces[start - 1].endswith("ly")):
        start -= 1
    be = start > 0 and pieces[start - 1].lower() in _BE
    joins = start > 0 and pieces[start - 1] == "," and pieces[at].endswith("ing")
    before = _opening(pieces, start) if joins else _before(pieces, start - be)
    if preposition:
        place = _find(pieces, at, preposition)
        if place is None:
            return _of_possessor(pieces, start) if preposition == "of" else None
        return before, _after(pieces, place + 1)
    by = _find(pieces, at, "by")
    if by is not None and (be or by == at + 1):
        return _after(pieces, by + 1), before
    return None if be and not pieces[at].endswith("ing") else (before, _after(pieces, at + 1))


def _of_possessor(pieces: Words, end: int) -> tuple[Words, Words] | None:
    """The sides of "Ada is Otto's pupil" ("the pupil of Otto"), by where the noun begins."""
    be = next((n for n in reversed(range(end)) if pieces[n].lower() in _BE), None)
    if be is None or pieces[end - 1] not in _POSSESSIVE:
        return None
    return _before(pieces, be), _head(pieces[be + 1 : end - 1], skipped=0)


def _find(pieces: Words, at: int, word: str) -> int | None:
    for place in range(at + 1, min(at + 1 + _REACH, len(pieces))):
        if pieces[place] == word:
            return place
        if pieces[place] in _ENDS:
            return None
    return None


def _before(pieces: Words, end: int) -> Words:
    """The words before a place, or before its "who", without what a preposition joins to them."""
    if end and pieces[end - 1] in _RELATIVE:
        end -= 2 if list(pieces[max(0, end - 2) : end - 1]) == [","] else 1
    start = end
    while start and pieces[start - 1].lower() not in _ENDS:
        start -= 1
    return _head(pieces[start:end], skipped=1)


def _opening(pieces: Words, end: int) -> Words:
    """The names that the sentence begins with: "Bolt won the cup, beating Acme"."""
    ends = (n + 1 for n in reversed(range(end)) if pieces[n] in _FULL)
    return list(takewhile(str.istitle, pieces[next(ends, 0) : end]))


def _after(pieces: Words, start: int) -> Words:
    """The words from a place on, as far as the next preposition."""
    end = start
    while end < len(pieces) and pieces[end] not in _ENDS:
        end += 1
    return _head(pieces[start:end], skipped=0)


def _head(words: Words, skipped: int) -> Words:
    last = (n for n, word in enumerate(words) if n >= skipped and word in _PREPOSITIONS)
    return words[: next(last, len(words))]


def _stems(words: Words, *, named: bool) -> frozenset[str]:
    return frozenset(
        _key(word)
        for word in words
        if word[0].isalpha() and len(word) > 1 and word.lower() not in STOPWORDS
        if word[0].isupper() or not named
    )
