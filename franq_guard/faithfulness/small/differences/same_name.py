"""Tells whether two names are the same one in other forms."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from franq_guard.faithfulness.small.words import calendar_word, stem

_ALIKE: Final = 4
"""Two names with so many equal letters at the start are the same name: China and Chinese."""
_FIRST_NAMES: Final = (
    "alex alexander alexandra", "andy drew andrew", "ben benjamin", "bill billy will william",
    "bob bobby rob robert", "charlie chuck charles", "cathy kate kathy catherine katherine",
    "chris christopher christina", "dan danny daniel", "dave david", "dick rick richard",
    "ed eddie ned ted edward", "fred freddie frederick", "gene eugene", "greg gregory",
    "hank harry henry", "jack johnny john", "jeff geoff jeffrey geoffrey", "jenny jennifer",
    "jerry gerald", "jim jimmy james", "joe joseph", "ken kenneth", "larry lawrence",
    "liz beth betty elizabeth", "maggie meg peggy margaret", "matt matthew", "mike mick michael",
    "nick nicholas", "pat patrick patricia", "pete peter", "ron ronald", "sam samuel samantha",
    "steve steven stephen", "sue susan", "ted theodore", "tim timothy", "tom thomas",
    "tony anthony", "vicky victoria", "walt walter",
)  # fmt: skip


def _same_person() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _FIRST_NAMES:
        stems = {stem(name) for name in group.split()}
        for name in stems:
            found.setdefault(name, set()).update(stems)
    return {name: frozenset(others) for name, others in found.items()}


_SHORT_NAMES: Final = _same_person()
"""The stem of a first name -> those of the names that the same person may go by: Bob, Robert."""


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
    if b in _SHORT_NAMES.get(a, ()):
        return True
    shortest = min(len(a), len(b))
    if shortest < _ALIKE:
        return False
    return a[:_ALIKE] == b[:_ALIKE] or SequenceMatcher(None, a, b, autojunk=False).ratio() >= 0.75
