"""Reads a decade or century of a claim as the year of the passages that lies in it.

"In the 1980s" and "in the 14th century" follow from "in 1987" and "in 1342", yet encoder and
look-ups take them for other numbers. "The 1300s" are "the 14th century".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from franq_guard.faithfulness.small.numerals import ORDINALS, one_of
from franq_guard.faithfulness.small.rewritten import Change, rewritten

_YEAR: Final = re.compile(r"(?<![\w.,:/–-])(?:1\d{3}|20\d\d)(?![\w]|[.,:/–-]\d)")
_CENTURIES: Final = {word: n for word, n in ORDINALS.items() if 1 < n < 22 and word.isalpha()}
_WITHIN: Final = re.compile(
    r"(?<!beginning )(?<!start )(?<!middle )(?<!end )(?<!half )"
    r"\b(?:in|during|from|since|of|around) $",
    re.IGNORECASE,
)
"""Before an era that something lies in; what is "before the 1960s" or at their "end" is not."""
_ERA: Final = re.compile(
    r"\bthe (?:(?P<part>early|mid|late)[ -])?"
    rf"(?:(?P<decade>(?:1\d|20)\d0)s|(?:(?P<century>\d\d)(?:st|nd|rd|th)|(?P<word>{one_of(_CENTURIES)}))"
    r" century)\b(?! BC)",
    re.IGNORECASE,
)
_PARTS: Final = {"early": range(4), "mid": range(3, 8), "late": range(6, 10), "": range(10)}
"""The tenths of a decade or century."""


def eras_as_in(text: str, claim: str) -> str:
    """Return a claim with each decade or century replaced by the one year of the text within.

    Only if the text names no other year within it, and not the decade or century itself.

    Args:
        text: all that may support the claim.
        claim: whose decades and centuries are looked up.
    """
    changes: list[Change] = []
    for era in (era for era in _ERA.finditer(claim) if _WITHIN.search(claim[: era.start()])):
        first, size = _span(era)
        of_text = [one for one in _eras(text) if _span(one) == (first, size)]
        years = {year for year in _years(text) if first <= int(year) < first + size}
        tenths = _PARTS[(era["part"] or "").lower()]
        year = min(years, default="")
        if len(years) == 1 and not of_text and (int(year) - first) * 10 // size in tenths:
            changes.append((era.span(), year))
        elif of_text and not years and era[0] not in text and not era["part"]:
            changes.append((era.span(), of_text[0][0].lower()))
    return rewritten(claim, changes).text


def _span(era: re.Match[str]) -> tuple[int, int]:
    """The first year and the number of years."""
    if decade := era["decade"]:
        return int(decade), 100 if decade.endswith("00") else 10
    century = int(era["century"] or _CENTURIES[era["word"].lower()])
    return 100 * century - 100, 100


@lru_cache(maxsize=256)
def _years(text: str) -> frozenset[str]:
    return frozenset(_YEAR.findall(text))


@lru_cache(maxsize=256)
def _eras(text: str) -> tuple[re.Match[str], ...]:
    return tuple(_ERA.finditer(text))
