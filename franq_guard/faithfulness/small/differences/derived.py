"""Whether a claim computed its number from others, or states what a rule means for it.

Such a number replaces none of the passages, though it stands nowhere in them.

"A guest who stays five nights gets the discount" beside "stays of more than three nights": the
claim states a case of a rule. "Ten hours longer" beside "18 hours, the other one 8": it computes,
and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from itertools import permutations
from typing import Final

from franq_guard.faithfulness.small.amounts.units import CURRENCY_PATTERN
from franq_guard.faithfulness.small.numerals import CARDINAL_PATTERN, in_digits
from franq_guard.faithfulness.small.tokens import tokens

_CASE: Final = re.compile(
    r"^(?:With|For|Had|At|Leaving|Without|An? \w+ (?:of|for|that|with))\b|\b(?:[Ii]f|[Ww]hen)\b"
)
_MOST: Final = 8
"""Of more numbers than this, some sum is any number by chance."""
_COMPARED: Final = (
    "more less fewer longer shorter older younger later earlier higher lower taller deeper wider "
    "narrower dearer cheaper heavier lighter larger bigger smaller faster slower warmer colder "
    "cooler hotter better worse further farther ahead behind above below apart before after under "
    "over"
).replace(" ", "|")
_NUMBER: Final = rf"(?:\d[\d,]*(?:\.\d+)?|(?i:\b{CARDINAL_PATTERN})\b)"
_MONEY: Final = rf"(?:(?i:{CURRENCY_PATTERN})\s?)?"
_DIFFERENCE: Final = re.compile(
    rf"\b[Bb]y (?:(?:about|around|some|almost|nearly|only|just|exactly) )?{_MONEY}(?P<by>{_NUMBER})"
    rf"|(?P<than>{_NUMBER})(?:[\s-]?%|[\s-](?!or\b)[^\W\d]\w*){{0,2}}? (?:{_COMPARED})\b"
    rf"|\bdifference of {_MONEY}(?P<of>{_NUMBER})"
)
"""A number that says by how much two others differ."""
_FOR: Final = re.compile(
    rf"\b[Ff]or (?:(?:about|almost|nearly|exactly) )?({_NUMBER})[ -]years?\b(?! old)"
)
_YEARS: Final = re.compile(r"\b([12]\d{3})(?: ?[–-] ?| (?:to|and|until|till) )([12]\d{3})\b")
_DIGITS: Final = 1000
"""What has more digits is no number, such as the hash 12e4567890, and cannot be computed with."""


def states_a_case(claim: str) -> bool:
    """Whether a claim may say what a rule means for one number."""
    return bool(_CASE.search(claim))


def computed(number: str, others: Iterable[str]) -> bool:
    """Whether a number is the sum, difference, product or quotient of two others."""
    wanted, known = _read([number]), _read(others)
    if not wanted or len(known) > _MOST:
        return False
    return any(
        wanted[0] in (x + y, x - y, x * y) or (y and wanted[0] * y == x)
        for x, y in permutations(known, 2)
    )


def stated_differences(claim: str, others: Iterable[str]) -> frozenset[str]:
    """The numbers that a claim gives as a difference, and by which two others do differ.

    "Profit fell by 14 million", "Seven months longer". As tokens have them. Of labelled claims of
    answers (training and fitting folds) 143 supported and 30 unsupported ones have such a number;
    where it counts as unknown, 47 and 7 of these reach the shipped cut, else 115 and 19.

    Args:
        claim: a sentence.
        others: the numbers of the sentence nearest to it.
    """
    known = _read(others)
    if len(known) > _MOST:
        return frozenset()
    apart = {abs(x - y) for x, y in permutations(known, 2)} - {0}
    said = (match[match.lastgroup or 0] for match in _DIFFERENCE.finditer(in_digits(claim).text))
    told = (token.text for number in said for token in tokens(number))
    return frozenset(number for number in told if set(_read([number])) & (apart - {*known}))


def stated_years(claim: str, sentence: str) -> frozenset[str]:
    """The numbers of years that a claim gives, and that a range of the sentence does have.

    "For eight years" beside "from 1998 to 2006". As tokens have them.
    """
    years = [token.text for found in _FOR.findall(in_digits(claim).text) for token in tokens(found)]
    ranges = _YEARS.findall(sentence) if years else []
    return frozenset(str(int(last) - int(first)) for first, last in ranges).intersection(years)


def _read(numbers: Iterable[str]) -> list[Decimal]:
    found = []
    for number in dict.fromkeys(numbers):
        try:
            value = Decimal(number)
        except InvalidOperation:
            continue
        if value.adjusted() < _DIGITS:
            found.append(value)
    return found
