"""Whether a claim computed its number from others, or states what a rule means for it.

Such a number replaces none of the passages, though it stands nowhere in them.

"A guest who stays five nights gets the discount" beside "stays of more than three nights": the
claim states a case of a rule. "Ten hours longer" beside "18 hours, the other one 8": it computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from itertools import permutations
from typing import Final

_CASE: Final = re.compile(
    r"^(?:With|For|Had|At|Leaving|Without|An? \w+ (?:of|for|that|with))\b|\b(?:[Ii]f|[Ww]hen)\b"
)
_MOST: Final = 8
"""Of more numbers than this, some sum is any number by chance."""
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
