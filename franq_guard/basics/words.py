"""How a set of words is written, and the names of months and days, which several rooms need."""

from __future__ import annotations

__all__ = ["CALENDAR", "word_set"]


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of ``text``."""
    return frozenset(text.split())


CALENDAR = word_set(
    "january february march april may june july august september october november december"
    " monday tuesday wednesday thursday friday saturday sunday"
)
"""Months and days: names of no person or thing."""
