"""Tells whether two names are the same one in other forms."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from franq_guard.faithfulness.small.words import SHORT_NAMES, calendar_word

_ALIKE: Final = 4
"""Two names with so many equal letters at the start are the same name: China and Chinese."""


def same_name(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two names are the same: similar spelling, written as one word, or initials."""
    days = [{calendar_word(word) for word in side} - {None} for side in (left, right)]
    if all(days):  # Tuesday is like Thursday
        return bool(days[0] & days[1])
    first, second = "".join(left), "".join(right)
    if first in second or second in first:  # South East, Southeast
        return True
    initials = ["".join(word[0] for word in side) for side in (left, right)]
    if first == initials[1] or second == initials[0]:  # UK, United Kingdom
        return True
    fewer, more = sorted((left, right), key=len)
    return all(any(_alike(one, other) for other in more) for one in fewer)


def _alike(a: str, b: str) -> bool:
    if b in SHORT_NAMES.get(a, ()):
        return True
    shortest = min(len(a), len(b))
    if shortest < _ALIKE:
        return False
    return a[:_ALIKE] == b[:_ALIKE] or SequenceMatcher(None, a, b, autojunk=False).ratio() >= 0.75
