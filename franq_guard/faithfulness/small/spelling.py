"""Writes the numbers, dates and measures of a claim as the passages write them.

"18V", "2.5 million", "03/03/2015" and "three years" say what "18 V", "2,500,000", "3 March 2015"
and "36 months" say, but share no word with them, so encoder and look-ups would take them for other
facts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from franq_guard.faithfulness.small.aliases import names_as_in
from franq_guard.faithfulness.small.amounts.bounds import exact
from franq_guard.faithfulness.small.amounts.days import days_as_in
from franq_guard.faithfulness.small.amounts.eras import eras_as_in
from franq_guard.faithfulness.small.amounts.values import Found, Value, read
from franq_guard.faithfulness.small.differences.frequencies import frequencies_as_in
from franq_guard.faithfulness.small.plain import plain
from franq_guard.faithfulness.small.signs import limits_as_in
from franq_guard.records import Span

SPELLING: Final = "spelling21"
"""Part of the model's fingerprint; change it with any rule of how texts and facts are read."""


def as_written(claim: str, text: str) -> str:
    """Return the claim with each number, date, measure and name in the spelling of `text`.

    Only where `text` has the same in another spelling and not in the claim's own, or where a bound
    holds for its number (:func:`.bounds.exact`): nothing else of the claim changes, but that it is
    plain (:func:`.plain.plain`). What may be two values of the text stays as it is.

    Args:
        claim: whose numbers and names are looked up.
        text: all that may support it.
    """
    text = plain(text).text
    claim = plain(limits_as_in(text, claim)).text
    for reader in (frequencies_as_in, days_as_in, eras_as_in, names_as_in):
        claim = reader(text, claim)
    found = list(read(claim))
    known = _spellings(text) if found else {}
    places: dict[Span, set[str]] = {}
    for one in found:
        if _other(claim, one, known):
            places.setdefault((one.start, one.end), set()).add(known[one.value][0])
    for start, end in _apart([place for place, spelled in places.items() if len(spelled) == 1]):
        claim = claim[:start] + places[start, end].pop() + claim[end:]
    return exact(claim, text)


def _other(claim: str, found: Found, known: dict[Value, list[str]]) -> bool:
    """Whether the text has this value, but in other spellings only."""
    own = _folded(claim[found.start : found.end])
    spellings = known.get(found.value, ())
    return bool(spellings) and all(_folded(spelling) != own for spelling in spellings)


def _folded(spelling: str) -> str:
    """A spelling without what is no difference to the look-ups: "a three-year term"."""
    return spelling.lower().replace(",", "").replace("-", " ").removesuffix("s")


def _apart(places: list[Span]) -> list[Span]:
    """Places that do not overlap, the last first; of two that begin together the longer one."""
    kept: list[Span] = []
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept[::-1]


@lru_cache(maxsize=256)
def _spellings(text: str) -> dict[Value, list[str]]:
    found: dict[Value, dict[str, None]] = {}
    for start, end, value in read(text):
        found.setdefault(value, {})[text[start:end]] = None
    return {value: list(spellings) for value, spellings in found.items()}
