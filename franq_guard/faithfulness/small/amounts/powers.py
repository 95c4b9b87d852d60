"""Reads powers of ten: "10^3", "3 × 10⁻⁴", "3e-4".

A raised digit right behind "10" may be the number of a footnote ("10³"), so that it is read only
behind a factor or a sign, or where there are two. "109E-34" is the model of a plane.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from franq_guard.records import Span

_RAISED: Final = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹−", "-+0123456789-")
_DIGITS: Final = "[⁰¹²³⁴-⁹]"
_POWER: Final = re.compile(
    r"(?<![\w.,^/-])(?:(?P<times>\d+(?:\.\d+)?)\s?[×x·⋅*]\s?)?10"
    r"(?:\^(?:\{(?P<braced>[-−+]?\d{1,2})\}|(?P<plain>[-−+]?\d{1,2}))"
    rf"|(?P<raised>[⁻⁺]{_DIGITS}{{1,2}}|{_DIGITS}{{2}}|(?(times){_DIGITS}|(?!)))"
    r")(?![\w^]|\.\d)"
    r"|(?<![\w.,^/-])(?P<number>[1-9](?:\.\d+)?)e(?P<exponent>[-−+]\d{1,2})(?![\w^]|\.\d)"
)
_WORTH_READING: Final = re.compile("[\\^⁰¹²³⁴-⁹]|e[-−+]")


def powers(text: str) -> Iterator[tuple[Span, Decimal]]:
    """Where a text has a power of ten, and the number that it is."""
    if not _WORTH_READING.search(text):
        return
    for match in _POWER.finditer(text):
        exponent = match["braced"] or match["plain"] or match["raised"] or match["exponent"]
        times = Decimal(match["times"] or match["number"] or 1)
        yield match.span(), times.scaleb(int(exponent.translate(_RAISED)))
