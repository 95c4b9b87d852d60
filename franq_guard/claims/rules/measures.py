"""Amounts with a joint inside them, which no list is: "one hundred and five", "2 m and 30 cm"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from franq_guard.basics.words import word_set
from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.rules.lexicon import lines

_KINDS = {
    "time": "millisecond second sec minute min hour hr h s ms day week fortnight month year yr"
    " decade century centuries",
    "length": "millimetre millimeter mm centimetre centimeter cm decimetre decimeter dm metre meter"
    " m kilometre kilometer km mile mi yard yd foot feet ft inch inches furlong fathom league",
    "area": "acre hectare ha rood",
    "weight": "microgram µg mcg milligram mg gram gramme g kilo kilogram kilogramme kg tonne ton t"
    " ounce oz pound lb stone hundredweight carat",
    "volume": "millilitre milliliter ml centilitre centiliter cl decilitre deciliter dl litre liter"
    " l teaspoon tsp tablespoon tbsp cup pint quart gallon gal bushel barrel",
    "money": "$ £ € ¥ dollar cent dime nickel quarter pound penny pennies pence shilling crown"
    " guinea farthing euro eur usd gbp franc mark yen rupee paisa paise peso ruble rouble kopeck"
    " krone kroner krona kronor øre öre",
    "angle": "degree ° minute ′ second ″",
    "data": "byte kilobyte kb megabyte mb gigabyte gb terabyte tb",
}
"""Singular names and symbols of units, by what they measure."""
_UNITS = {
    unit: frozenset(kind for kind, units in _KINDS.items() if unit in units.split())
    for units in _KINDS.values()
    for unit in units.split()
}
_BEFORE_UNITS = word_set("square sq cubic nautical fluid light short long metric us")
_SCALES = word_set("hundred thousand million billion trillion dozen score")
_FRACTIONS = word_set("half halves third thirds quarter quarters fifth fifths tenth tenths")
_TENS = word_set("twenty thirty forty fifty sixty seventy eighty ninety")
_NUMBERS = (
    frozenset(word for line in lines("numbers") for word in line.split()[1:]) | _TENS | _SCALES
)
_HEDGES = word_set(
    "about around approximately roughly nearly almost over under just only exactly some another"
    " at least most up to more less than the a an first last next other further full whole"
)
_JOINED = re.compile(r"[\d.,]+([^\W\d_]+|°)\Z")
"""A number and its unit in one word: "30cm"."""


def one_amount(members: Sequence[Sequence[Word]], cores: Sequence[Sequence[Word]]) -> bool:
    """Whether the members are parts of one number or of one measure.

    "one thousand, two hundred and twelve metres", "an hour and a half", "2 m and 30 cm tall".
    ``cores``: the members, the last one without the words after it.
    """
    if any(a[-1].low in _SCALES and _is_amount(b[0]) for a, b in pairwise(members)):
        return True
    if any(x.low in _FRACTIONS for x in cores[-1][:2]) and _kinds(cores[0], is_last=False):
        return True
    kinds = [_kinds(core, is_last=core is cores[-1]) for core in cores]
    return bool(frozenset.intersection(*kinds))


def _is_amount(word: Word) -> bool:
    """Whether it is a number, in digits or in words: "105", "twenty-one", "fifth", "half"."""
    parts = set(word.low.split("-")) - {"and"}
    if len(parts) > 1:
        parts -= {"a"}  # "two-and-a-half"
    return word.is_number or parts <= _NUMBERS | _FRACTIONS


def _kinds(core: Sequence[Word], *, is_last: bool) -> frozenset[str]:
    """What "about two and a half metres" measures; empty if it is no number with its unit.

    Only the last part of a measure has words after its unit: "2 m and 30 cm tall".
    """
    ends = range(1 if is_last else len(core), len(core) + 1)
    parts = [core[:end] for end in ends]
    return frozenset(kind for part in parts if _counted(part) for kind in _unit(part))


def _unit(words: Sequence[Word]) -> frozenset[str]:
    """What the unit measures: the last word, or the sign before or in the number."""
    last = words[-1].low
    glued = _JOINED.match(last)
    unit = glued[1] if glued else last if not words[-1].is_number else words[-2:][0].text
    kinds = _UNITS.get(unit, frozenset())
    return kinds or _UNITS.get(unit.removesuffix("s"), frozenset())


def _counted(words: Sequence[Word]) -> bool:
    """Whether all words before the unit belong to its number, and there is one."""
    if len(words) == 1:
        return bool(_JOINED.match(words[0].low))
    signs = {x.low for x in words if not x.is_word}
    allowed = _HEDGES | _BEFORE_UNITS
    body = [x for x in words if x.is_word]
    inner = body if body and body[-1].is_number else body[:-1]
    counts = [x for x in inner if _is_amount(x) or x.low in {"a", "an", "few", "several"}]
    return (
        signs <= _UNITS.keys()
        and bool(counts)
        and all(x in counts or x.low in allowed for x in inner)
    )
