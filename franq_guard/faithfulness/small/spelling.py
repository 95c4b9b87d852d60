"""Writes the numbers and dates of a claim as the passages write them.

"18V", "2.5 million" and "03/03/2015" say what "18 V", "2,500,000" and "3 March 2015" say, but share
no word with them, so encoder and look-ups would take them for other facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

SPELLING: Final = "spelling1"
"""Part of the model's fingerprint; change it with the rules below."""

Value = tuple[object, ...]
"""Its kind and what it says: `("date", 2015, 3, 3)`, `("number", 18)`, `("measure", 18, "V")`."""

_BLANKS: Final = " \u00a0\u2009\u202f"
_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTH: Final = rf"(?P<month>{_MONTHS})[a-z]*\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>\d{4})\b"
_DATES: Final = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY} (?:of )?{_MONTH},? {_YEAR}",
        rf"\b{_MONTH} {_DAY},? {_YEAR}",
        r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b",
        rf"\b(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}",
        rf"\b(?P<day>\d{{1,2}})/(?P<month>\d{{1,2}})/{_YEAR}",
        rf"\b(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})/{_YEAR}",  # either order may be meant
    )
]
_WHOLE: Final = rf"[^\D0]\d{{0,2}}(?:[,'’{_BLANKS}]\d{{3}})+(?!\d)|0(?!\d)|[^\D0]\d*"
_NUMBER: Final = re.compile(
    rf"(?<![\w.,:/–-])(?P<whole>{_WHOLE})(?P<part>[.,]\d+)?"
    r"(?![.,:/–-]?\d)"  # no date, time, score, range or version
    rf"(?:[{_BLANKS}-]?(?P<power>thousand|million|billion|trillion|bn|k)\b"
    rf"|[{_BLANKS}]?(?P<unit>%|per ?cent\b|[A-Za-zµ°]{{1,4}}\b))?"
)
_POWERS: Final = {"k": 3, "thousand": 3, "million": 6, "bn": 9, "billion": 9, "trillion": 12}
_PER_CENT: Final = ("%", "percent", "per cent")


class _Found(NamedTuple):
    """A number or date in a text."""

    start: int
    end: int
    value: Value


def as_written(claim: str, text: str) -> str:
    """Return the claim with each number and date in the spelling of `text`.

    Only where `text` has the same value in another spelling and not in the claim's own: nothing
    else of the claim changes.

    Args:
        claim: whose numbers are looked up.
        text: all that may support it.
    """
    if not any(character.isdigit() for character in claim):
        return claim
    known = _spellings(text)
    places = {(f.start, f.end): f for f in _read(claim) if _other(claim, f, known)}
    for start, end in _apart(sorted(places)):
        claim = claim[:start] + known[places[start, end].value][0] + claim[end:]
    return claim


def _other(claim: str, found: _Found, known: dict[Value, tuple[str, ...]]) -> bool:
    """Whether the text has this value, but in other spellings only."""
    own = _plain(claim[found.start : found.end])
    spellings = known.get(found.value, ())
    return bool(spellings) and all(_plain(spelling) != own for spelling in spellings)


def _plain(spelling: str) -> str:
    return spelling.replace(",", "")  # the look-ups drop it, too


def _apart(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places that do not overlap, the last first; of two that begin together the longer one."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept[::-1]


@lru_cache(maxsize=256)
def _spellings(text: str) -> dict[Value, tuple[str, ...]]:
    found: dict[Value, tuple[str, ...]] = {}
    for start, end, value in _read(text):
        found[value] = (*found.get(value, ()), text[start:end])
    return found


def _read(text: str) -> Iterator[_Found]:
    """The dates and numbers of a text, a number with a unit also without it."""
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = int(match["year"]), _month(match["month"]), int(match["day"])
            yield _Found(*match.span(), ("date", *parts))
    for match in _NUMBER.finditer(text):
        number = _value(match)
        power = match["power"]
        end = match.end() if power else match.end("part") if match["part"] else match.end("whole")
        yield _Found(match.start(), end, ("number", number))
        if unit := match["unit"]:
            unit = "%" if unit in _PER_CENT else unit
            yield _Found(match.start(), match.end(), ("measure", number, unit))


def _month(written: str) -> int:
    return int(written) if written.isdigit() else _MONTHS.index(written[:3].lower()) // 4 + 1


def _value(match: re.Match[str]) -> Decimal:
    whole = re.sub(r"\D", "", match["whole"])
    part = (match["part"] or "").replace(",", ".")
    return Decimal(whole + part).scaleb(_POWERS.get(match["power"] or "", 0))
