"""Reads which weekdays or months a text names in short, by a range, or by all but a few.

"Open on Thursdays" is stated by "open from Tuesday to Saturday", "closed on Mondays" by "open daily
except Mondays": the words differ, so that encoder and look-ups would take them for other facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from franq_guard.faithfulness.small.rewritten import rewritten
from franq_guard.faithfulness.small.words import MONTHS

_WEEK: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY: Final = (
    r"(?:(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b\.?"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b)"
)
_MONTH: Final = (
    r"(?:(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
    r"|(?:January|February|March|April|May|June|July|August|September|October|November|December)\b)"
)
_TO: Final = r"(?: (?:to|through|until|till) | ?[–-] ?)"
_NAME: Final = rf"(?:{_DAY}|{_MONTH})"
_RANGE: Final = re.compile(
    rf"\b(?:[Ff]rom )?(?:({_DAY}){_TO}({_DAY})|({_MONTH}){_TO}({_MONTH})(?! \d))"
)
_DAILY: Final = re.compile(
    rf"\b(?:[Dd]aily|[Ee]very day),? (?:except|but not)(?: for)?(?: on)? ({_DAY})"
    rf"(?: (?:and|or)(?: on)? ({_DAY}))?"
)
_ANY: Final = re.compile(rf"\b{_NAME}")
_BESIDE_NUMBER: Final = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?P<after>{_NAME})|\b(?P<before>{_NAME}),? (?=\d{{1,2}}\b)"
)
_NAMED: Final = re.compile(
    rf"\b(?P<closed>closed )?(?:on|in) (?:an? )?(?P<name>{_NAME})"
    rf"(?!,? \d|,? (?:and|or|to|until|through) {_NAME}|, {_NAME})"
)
_ONLY: Final = re.compile(r"\b(?:only|just|except|first|last|every|next)\b", re.IGNORECASE)
_OPENS: Final = re.compile(r"\bopen(?:s|ed|ing)?\b[^.!?]*$", re.IGNORECASE)
_FURTHEST: Final = 80
"""So many characters before the days are looked through for a word of opening."""


class _Days(NamedTuple):
    """A stretch of a text, in lower case at its start, and what it is about."""

    text: str
    within: frozenset[str]
    """Weekdays or months."""
    outside: frozenset[str]
    """The other weekdays; of a year none, since a season seldom tells when something is closed."""
    opens: bool
    """Whether it tells when something is open."""


def days_as_in(text: str, claim: str) -> str:
    """Return a claim with its weekdays and months in the words that a text has for all of them.

    Only those that the text names in one range, or leaves out as the only ones, and not by
    themselves.

    Args:
        text: all that may support the claim.
        claim: one with "only", "every" or "except" stays as it is.
    """
    claim = _spelled_as_in(text, claim)
    named = [] if _ONLY.search(claim) else list(_NAMED.finditer(claim))
    changes = [(one.span(), written) for one in named if (written := _written(text, one))]
    return rewritten(claim, changes).text


def _spelled_as_in(text: str, claim: str) -> str:
    """The claim with its days and months as a text has them in its dates: "Mon 3 Feb"."""
    changes = []
    for one in _ANY.finditer(claim):
        found = _dated(text).get(one[0][:3].lower())
        if found and one[0] not in text:
            changes.append((one.span(), found))
    return rewritten(claim, changes).text


@lru_cache(maxsize=256)
def _dated(text: str) -> dict[str, str]:
    """How a text writes the days and months beside a number, by their first three letters."""
    found: dict[str, str] = {}
    for match in _BESIDE_NUMBER.finditer(text):
        name = (match["after"] or match["before"]).removesuffix(".")
        found.setdefault(name[:3].lower(), name)
    return found


def _written(text: str, named: re.Match[str]) -> str:
    """What a text has for a day that a claim names; empty if nothing, or if that is not sure."""
    found, alone = _days(text)
    day = named["name"][:3].lower()
    closed = named["closed"] or ""
    within = [closed + days.text for days in found if day in days.within]
    outside = [f"open {days.text}" for days in found if day in days.outside and days.opens]
    written = outside if closed and not within else within
    return written[0] if len(written) == 1 and day not in alone else ""


@lru_cache(maxsize=256)
def _days(text: str) -> tuple[tuple[_Days, ...], frozenset[str]]:
    """What a text names by ranges, and what by itself."""
    rest = _DAILY.sub(" ", _RANGE.sub(" ", text))
    alone = frozenset(name[:3].lower() for name in _ANY.findall(rest))
    return (*_ranges(text), *_daily(text)), alone


def _ranges(text: str) -> Iterator[_Days]:
    for one in _RANGE.finditer(text):
        of = _WEEK if one[1] else MONTHS
        first, last = (of.index(name[:3].lower()) for name in one.groups() if name)
        size = (last - first) % len(of) + 1
        within = frozenset(of[(first + step) % len(of)] for step in range(size))
        yield _found(one, within, frozenset(_WEEK) - within if one[1] else frozenset())


def _daily(text: str) -> Iterator[_Days]:
    for one in _DAILY.finditer(text):
        outside = frozenset(name[:3].lower() for name in one.groups() if name)
        yield _found(one, frozenset(_WEEK) - outside, outside)


def _found(match: re.Match[str], within: frozenset[str], outside: frozenset[str]) -> _Days:
    start = match.start()
    opens = _OPENS.search(match.string, max(0, start - _FURTHEST), start) is not None
    written = re.sub("^(?:From|Daily|Every)", lambda word: word[0].lower(), match[0])
    return _Days(written, within, outside, opens)
