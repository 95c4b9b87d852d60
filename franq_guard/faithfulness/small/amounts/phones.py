"""Reads phone numbers: "+1 (555) 123-4567" is "+1 555 123 4567", in whatever groups it is written.

A number with its country code is not equal to one without, since that may be of any country.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from franq_guard.records import Span

_GAP: Final = "[ .\u00a0\u2011\u202f-]"
_PHONE: Final = re.compile(
    rf"(?<![\w+.,/(-])(?:(?P<country>\+\d{{1,3}}|1){_GAP}?(?:\(0\){_GAP}?)?)?"
    rf"(?P<groups>(?:\(\d{{2,5}}\)|\d{{2,5}})(?:{_GAP}{{1,2}}\d{{2,5}}){{1,5}})(?![\w/]|[.,:-]\d)"
    r"|(?<![\w+.,/(-])(?P<whole>\+\d{8,15}|[2-9]\d{9})(?![\w/]|[.,:-]\d)"
)
_NORTH_AMERICAN: Final = (3, 3, 4)
_WITH_COUNTRY: Final = range(8, 16)
"""So many digits has a number with its country code."""
_WITH_AREA: Final = range(9, 12)
"""So many digits has a number that begins with 0."""


def phones(text: str) -> Iterator[tuple[Span, str]]:
    """Where a text has a phone number, and its digits, with "+" before a country's code."""
    for match in _PHONE.finditer(text):
        if match["whole"]:
            yield match.span(), match["whole"]
            continue
        groups = re.findall(r"\d+", match["groups"])
        country, digits = match["country"], "".join(groups)
        american = tuple(map(len, groups)) == _NORTH_AMERICAN
        if country and country != "1":
            if len(country) - 1 + len(digits) in _WITH_COUNTRY:
                yield match.span(), country + digits
        elif american:
            yield match.span(), f"+1{digits}" if country else digits
        elif not country and digits[0] == "0" and len(digits) in _WITH_AREA:
            yield match.span(), digits
