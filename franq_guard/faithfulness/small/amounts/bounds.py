"""Writes the exact number of the passages into a claim that only bounds or rounds it.

"It weighs less than 20 kg" follows from "it weighs 14.5 kg", yet encoder and look-ups take 20 for
another number. What is written says more than the claim, so that what supports it supports the
claim. A bound that does not hold stays, and counts against the claim.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.amounts.units import TIMES, UNIT_PATTERN, unit_of
from franq_guard.faithfulness.small.amounts.values import Amount, amounts
from franq_guard.faithfulness.small.numerals import in_digits
from franq_guard.faithfulness.small.words import NEGATIONS, STOPWORDS, calendar_word, stem, words
from franq_guard.records import Span

_BOUND: Final = re.compile(
    r"\b(?:(?:(?P<just>just|slightly|a little)\s)?"
    r"(?:(?P<less>less than|fewer than|under|below)|(?P<more>more than|over|above))"
    r"|(?P<least>at least)|(?P<near>nearly|almost)"
    r"|(?P<about>about|around|roughly|approximately|some))\s"
    rf"(?P<one>an?\s(?P<unit>{UNIT_PATTERN}))?",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(
    r"\b(?:(?P<less>before)|(?P<more>after)|in the) (?P<year>1\d{3}|20\d\d)(?P<decade>s)?"
    r"(?=[.,;!?)]|$)",
    re.IGNORECASE,
)
_DURING: Final = ("over ", "under ")
# A text with such a word may state a limit, a case or a sum, and these follow from no other one.
_NOT_PLAIN: Final = re.compile(
    r"\b(?:must|needs?|needed|requir\w+|should|shall|may(?!,?\s\d)|might|can|could|would|will|minimum|maximum"
    r"|limit\w*|allow\w*|permit\w*|eligib\w+|if|when|whenever|unless|only|who|which|that|whose"
    rf"|every|each|any|all|both|total|until|since|than|or|{'|'.join(NEGATIONS)})\b|\?|n[’']t\b",
    re.IGNORECASE,
)
# Beside a number: it is a bound itself, or a part of a range, sum or comparison.
_BOUNDED: Final = word_set(
    "least most under below over above up between and within before after about around nearly "
    "almost roughly approximately some another further additional extra first last"
)
_GOES_ON: Final = re.compile(
    r"\s?(?:[-–+±×x/(]|(?:more|less|fewer|times|ago|plus|each|per|\w+er)\b"
    r"|(?:to|and|or)\s(?:\d|more|less|fewer|above|over|under|below|\w+er\b))"
)
_PASSED_OVER: Final = STOPWORDS | _BOUNDED | {"than"}
"""Words that may stand between a number and the word after which it stands."""
_MOST: Final = 0.5
"""A sentence without more of the claim's content words may be of something else."""
_DIRECTION: Final = word_set("by to from")
_HAS: Final = word_set("has have had is are was were")
_WORD: Final = re.compile(r"[^\W\d_]+")
_TOKEN: Final = re.compile(r"\w+")
_END: Final = re.compile(r"[.!?:;](?=\s|$)|\n")
_MARKS: Final = tuple(".!?:;")
_FURTHEST: Final = 400
"""So many characters before a number tell after which word it stands."""


class _Place(NamedTuple):
    """Where a number stands: after which content word, and whether something rose "by" or "to" it.

    ``near`` are the words between the two. The word is "" after "it has", "there are" and the like.
    """

    word: str
    direction: str
    near: frozenset[str]
    opens: bool


class _Stated(NamedTuple):
    """An amount of a text, and whether a plain statement says it."""

    amount: Amount
    place: _Place | None
    plain: bool


class _Bound(NamedTuple):
    """A part of a claim that bounds a number."""

    start: int
    end: int
    kind: str
    match: re.Match[str]
    limit: Decimal


def exact(claim: str, text: str) -> str:
    """Return the claim with the number of `text` in the place of each bound that holds for it.

    Only where a plain statement with most of the claim's words has an amount of that kind after
    the same word, and `text` no other one there, nor the claim's own number.

    Args:
        claim: whose bounds are looked up.
        text: all that may support it.
    """
    for bound in sorted((*_bounds(claim), *_years(claim)), key=lambda one: -one.start):
        place = _place(claim, bound.start)
        rest = claim[: bound.start] + claim[bound.end :]
        if place is None or place.opens or place.near & _BOUNDED or not _plain(rest, bound.start):
            continue
        found = _of_the_same(bound, place, text)
        if len({one.amount.number for one in found}) != 1 or not all(one.plain for one in found):
            continue
        amount = found[0].amount
        sentence = _sentence_of(found[0], text)
        alike = _alike(rest[slice(*_sentence(rest, bound.start))], sentence)
        if alike and _holds(bound, amount) and not _stands(claim[bound.start : bound.end], text):
            said = text[amount.start : amount.end]
            said = f"in {said}" if bound.kind == "year" else said
            claim = claim[: bound.start] + said + claim[bound.end :]
    return claim


def _bounds(claim: str) -> Iterator[_Bound]:
    known = None
    for match in _BOUND.finditer(claim):
        known = known or {amount.start: amount for amount in amounts(claim)}
        amount = known.get(match.end())
        if match["one"] and (unit := unit_of(match["unit"])):
            amount = Amount(match.start("one"), match.end(), unit.size, unit.kind)
        if amount is None or _GOES_ON.match(claim, amount.end):
            continue
        if not (amount.kind in TIMES and match.group().lower() in _DURING):
            yield _Bound(match.start(), amount.end, amount.kind, match, amount.number)


def _years(claim: str) -> Iterator[_Bound]:
    for match in _YEAR.finditer(claim):
        if match["less"] or match["more"] or (match["decade"] and match["year"][-1] == "0"):
            yield _Bound(*match.span(), "year", match, Decimal(match["year"]))


def _holds(bound: _Bound, amount: Amount) -> bool:
    number, limit, said = amount.number, bound.limit, bound.match.groupdict()
    close = not said.get("just") or _rounds(number, limit, bound.kind)
    if said["less"]:
        return number < limit and close
    if said["more"]:
        return number > limit and close
    if said.get("decade"):
        return limit <= number <= limit + 9
    if said["least"]:
        return number > limit
    below = number < limit or not said["near"]
    return below and number != limit and _rounds(number, limit, bound.kind)


def _rounds(number: Decimal, limit: Decimal, kind: str) -> bool:
    """Whether the limit is the number in round, and at most 5 % away.

    "About 400" may be 412, since its last digit counts hundreds; "about 650" may be 640, of which
    it keeps all but the last digit. A year is never rounded to hundreds.
    """
    half = _half(number) if kind == "year" else max(_half(number), _half(limit) / 10)
    return abs(number - limit) <= min(number / 20, half)


def _half(number: Decimal) -> Decimal:
    """Half of what the last digit but one counts, zeros at the end left out: of 312 it is 5."""
    exponent = number.normalize().as_tuple().exponent
    return Decimal(5).scaleb(int(exponent))


@lru_cache(maxsize=256)
def _stated(text: str) -> tuple[_Stated, ...]:
    """The amounts of a text, each with where it stands and whether it is plainly stated."""
    found: list[_Stated] = []
    for amount in amounts(text):
        place = _place(text, amount.start)
        plain = place is not None and not place.near & _BOUNDED
        plain = plain and not _GOES_ON.match(text, amount.end) and _plain(text, amount.start)
        if place and amount.kind == "year":
            dated = "on" in place.near and any(map(calendar_word, place.near))
            plain = plain and ("in" in place.near or dated)
        found.append(_Stated(amount, place, plain))
    return tuple(found)


def _of_the_same(bound: _Bound, place: _Place, text: str) -> list[_Stated]:
    """The amounts of a text that may be the claim's: of that kind, after the same word.

    Where "it" has or "there are" so many, the word before says nothing; then the only amount of
    such things is meant.
    """
    of_kind = [one for one in _stated(text) if one.amount.kind == bound.kind]
    after = [one for one in of_kind if one.place and one.place[:2] == place[:2]]
    if after or not bound.kind.startswith("of ") or not place.near & _HAS:
        return after
    only = len(of_kind) == 1 and of_kind[0].place
    return of_kind if only and only.near & _HAS and "" in (only.word, place.word) else []


def _stands(bound: str, text: str) -> bool:
    """Whether the text has the number of a bound itself."""
    known = set(words(text))
    return any(word in known for word in words(bound) if word[0].isdigit())


def _alike(claim: str, sentence: str) -> bool:
    """Whether a sentence has most of a claim's content words, and all of its names and numbers."""
    known = set(map(stem, words(sentence)))
    own = {word for word in _TOKEN.findall(in_digits(claim).text) if word.lower() not in STOPWORDS}
    missing = {word for word in own if stem(word.lower()) not in known}
    named = any(word != word.lower() or not word.isalpha() for word in missing)
    return not named and len(missing) <= _MOST * len(own)


def _plain(text: str, at: int) -> bool:
    return _is_plain(text, *_sentence(text, at))


@lru_cache(maxsize=256)  # a long sentence may have many numbers
def _is_plain(text: str, start: int, end: int) -> bool:
    return not _NOT_PLAIN.search(text, start, end)


def _sentence(text: str, at: int) -> Span:
    ends = _ends(text)
    behind = bisect_right(ends, at)
    return _start(text, at), ends[behind] - 1 if behind < len(ends) else len(text)


def _sentence_of(stated: _Stated, text: str) -> str:
    """The sentence of an amount; with the one before if only that says of what it is."""
    start, end = _sentence(text, stated.amount.start)
    if stated.place and not stated.place.word and start:
        start = _start(text, start - 1)
    return text[start:end]


def _start(text: str, at: int) -> int:
    """Where the sentence of a place begins; a mark beside the place ends the one before."""
    if text.endswith(_MARKS, 0, at):
        return at
    ends = _ends(text)
    before = bisect_right(ends, at)
    return ends[before - 1] if before else 0


@lru_cache(maxsize=256)
def _ends(text: str) -> tuple[int, ...]:
    """Behind which characters a sentence of a text ends."""
    return tuple(match.end() for match in _END.finditer(text))


def _place(text: str, at: int) -> _Place | None:
    start = max(_start(text, at), at - _FURTHEST)
    said = [match.group().lower() for match in _WORD.finditer(text, start, at)]
    near: list[str] = []
    while said and (said[-1] in _PASSED_OVER or calendar_word(said[-1])):
        near.append(said.pop())
    direction = next((word for word in near if word in _DIRECTION), "")
    if not said:
        return _Place("", direction, frozenset(near), opens=False) if _HAS & set(near) else None
    case = len(said) == 1 and not _HAS & set(near)  # "orders over 50 euros"
    opens = case or said[-1].endswith("ing")
    return _Place(stem(said[-1]), direction, frozenset(near), opens)
