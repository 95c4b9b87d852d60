"""Reads the times of day of a text: "17:30", "5.30 p.m.", "noon", "half past five".

Where nothing says which half of the day is meant, a time in words may be either: "half past five".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from franq_guard.faithfulness.small.numerals import CARDINALS, one_of


class Time(NamedTuple):
    """A time of day in a text, in hours from 0 to 23."""

    start: int
    end: int
    hour: int
    minute: int


_TWELVE: Final = 12
_CLOCK: Final = re.compile(
    r"(?<![\w:.,/])(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s?"
    r"(?P<half>[ap])(?:\.\s?m(?:\.(?=[,;)]|\s+[a-z\d]))?|m\b)",
    re.IGNORECASE,
)
_CLOCK_24: Final = re.compile(r"(?<![\w:.,/])(?P<hour>0\d|1\d|2[0-3]):(?P<minute>[0-5]\d)(?![\d:])")
_EARLY: Final = re.compile(r"(?<![\w:.,/])(?P<hour>[1-9]):(?P<minute>[0-5]\d)(?![\d:])")
_NAMED: Final = {"midnight": 0, "noon": 12, "midday": 12}
_NAMED_TIME: Final = re.compile(rf"\b{one_of(_NAMED)}\b", re.IGNORECASE)

_HOURS: Final = {"one": 1, **{word: n for word, n in CARDINALS.items() if n <= _TWELVE}}
_MINUTES: Final = {
    "half": 30, "a quarter": 15, "quarter": 15, "five": 5, "ten": 10, "twenty": 20,
    "twenty-five": 25,
}  # fmt: skip
_DAYTIMES: Final = {
    "in the morning": range(1, 12),
    "in the afternoon": range(12, 19),
    "in the evening": range(16, 24),
    "at night": (20, 21, 22, 23, 0, 1, 2, 3, 4, 5),
}
_IN_WORDS: Final = re.compile(
    rf"(?<![\w:.,/-])(?:(?P<minutes>{one_of(_MINUTES)}) (?P<side>past|to) )?"
    rf"(?P<hour>{one_of(_HOURS)}|\d{{1,2}})(?:[:.](?P<minute>[0-5]\d)| o['’]clock)?"
    rf"(?:,? (?P<daytime>{one_of(_DAYTIMES)}))?\b(?![:/-]?\d)",
    re.IGNORECASE,
)


def times(text: str) -> Iterator[Time]:
    """The times of a text; one in words may be two.

    "10:00" is ten in the morning, unless another time of the text has "a.m." or "p.m."; so is
    "9:00" nine in the morning where another one is above 12:59.
    """
    in_halves = False
    for match in _CLOCK.finditer(text):
        in_halves = True
        hour = int(match["hour"])
        if 1 <= hour <= _TWELVE:
            hour = hour % _TWELVE + _TWELVE * (match["half"] in "pP")
            yield Time(*match.span(), hour, int(match["minute"] or 0))
    for match in _NAMED_TIME.finditer(text):
        yield Time(*match.span(), _NAMED[match.group().lower()], 0)
    in_24 = False
    for match in _CLOCK_24.finditer(text):
        hour = int(match["hour"])
        in_24 |= hour > _TWELVE
        if not in_halves or hour < 10 or hour > _TWELVE:
            yield Time(*match.span(), hour, int(match["minute"]))
    if in_24 and not in_halves:
        for match in _EARLY.finditer(text):
            yield Time(*match.span(), int(match["hour"]), int(match["minute"]))
    yield from _in_words(text)


def _in_words(text: str) -> Iterator[Time]:
    """Times in words.

    Of labelled claims (training and fitting folds) 31 supported and 9 unsupported ones tell a time
    of their passage so; all of them are written ones.
    """
    for match in _IN_WORDS.finditer(text):
        if not (match["minutes"] or match["daytime"]):
            continue
        said = match["hour"].lower()
        hour, minute = int(_HOURS.get(said, said)), int(match["minute"] or 0)
        if hour > _TWELVE or (match["minutes"] and match["minute"]):
            continue
        if match["minutes"]:
            minute = _MINUTES[match["minutes"].lower()]
            if match["side"].lower() == "to":  # ten to five is 4:50
                hour, minute = hour - 1, 60 - minute
        may_be = _DAYTIMES.get((match["daytime"] or "").lower(), range(24))
        for either in (hour % _TWELVE, hour % _TWELVE + _TWELVE):
            if either in may_be:
                yield Time(*match.span(), either, minute)
