"""Tells a lower limit ("at least 30", "30 or more") from an upper one ("no more than 30").

All words of "Order at least 30" may stand in "Order no more than 30", and nearly all in "Order up
to 30", so that overlap and encoder take the one for the other.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.amounts.units import CURRENCY_PATTERN, TIMES, unit_of
from franq_guard.faithfulness.small.numerals import SPELLED
from franq_guard.faithfulness.small.words import NEGATIONS, calendar_word

Side = Literal["least", "most", ""]
"""Which limit a number is; "" for none, and where it is not known."""

_MORE: Final = (
    r"(?:more|greater|longer|later|older|higher|larger|bigger|heavier|taller|wider|hotter|faster"
    r"|further)"
)
_LESS: Final = (
    r"(?:less|fewer|shorter|earlier|sooner|younger|lower|smaller|lighter|narrower|colder|slower)"
)
_LEAST: Final = (
    rf"\b{_MORE} than|\b(?:no|not) {_LESS} than|\bat least|\bover|\babove"
    r"|\bexceed(?:s|ed|ing)?|\bminimum(?: of)?"
)
_MOST: Final = (
    rf"\b{_LESS} than|\b(?:no|not) {_MORE} than|\bat most|\bunder|\bbelow"
    r"|\bup to|\bwithin|\b(?:not|never) exceed|\bmaximum(?: of)?"
)
_BEFORE: Final = re.compile(
    rf"(?:(?P<least>{_LEAST})|(?P<most>{_MOST}))\s(?:(?:a total|the age) of |the )?"
    rf"(?:(?i:{CURRENCY_PATTERN})\s?)?$",
    re.IGNORECASE,
)
_NO_NUMBER: Final = rf"\b(?!\s(?:\S*\d|(?:one|{'|'.join(SPELLED)})\b))"
"""In "two tablets at least four hours before" the limit is the next number's."""
_AFTER: Final = re.compile(
    r"(?:[\s-]?[A-Za-z%°]+){0,2}?,? (?:"
    rf"(?P<least>(?:or|and) (?:{_MORE}|above|over|up)\b|(?:at least|minimum){_NO_NUMBER})"
    rf"|(?P<most>(?:or|and) (?:{_LESS}|under|below)\b|at the latest\b"
    rf"|(?:at most|maximum){_NO_NUMBER}))"
)
_BEFORE_AN_EVENT: Final = re.compile(r"(?:[\s-]?[a-z]+){0,3}?\s(?:before|prior to|ahead of)\b")
_AHEAD: Final = re.compile(
    r"(?:[\s-]?[a-z]+){0,3}?\s(?:before(?:hand)?|prior to|ahead|in advance|early)\b"
)
"""After these, an earlier time is the larger number: "at least a day ahead"."""
_LATE: Final = re.compile(r"late|earl|soon", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"[.;:,!?()]\s|[.!?]$")
_DENIES: Final = re.compile(
    rf"(?!no[rt]? (?:{_MORE}|{_LESS})\b)\b(?:{'|'.join(sorted(NEGATIONS))})\b|n[’']t\b",
    re.IGNORECASE,
)
_FURTHEST: Final = 120  # characters that are looked through on each side
_THAN: Final = re.compile(
    rf" (?:{_MORE}|{_LESS}|\w+er) than (?:(?:the|an?|about|around|some) )*(?P<of>\S+)"
)
_AMOUNTS: Final = word_set("half noon midnight dawn dusk today tomorrow dozen one first second end")


class Limit(NamedTuple):
    """Which limit a number is, and whether its clause is denied: "do not take more than two"."""

    side: Side = ""
    denied: bool = False

    def agrees(self, other: Limit) -> bool:
        """Whether both may be said of the same; of a denied one it is not known what it says."""
        return self.denied or other.denied or not self.turns(other)

    def turns(self, other: Limit) -> bool:
        """Whether one is a lower limit and the other an upper one."""
        return {self.side, other.side} == {"least", "most"}


def limit_of(text: str, start: int, end: int, kind: str) -> Limit:
    """Which limit the number at ``text[start:end]`` is.

    Not known is "over" and "under" before a time, which may mean "during", and "up to 24 hours
    before". "No later than two weeks before" is a lower limit.

    Args:
        text: a sentence or several.
        start: of the number.
        end: of the number.
        kind: of what it is, as in :class:`.units.Unit`; "" where that is not known.
    """
    clause = _CLAUSE.split(text[max(0, start - _FURTHEST) : start])[-1]
    rest = _CLAUSE.split(text[end : end + _FURTHEST])[0]
    before = _BEFORE.search(clause)
    if before and kind in TIMES and before.group().lower().startswith(("over", "under")):
        before = None
    found = before or _AFTER.match(text, end, end + _FURTHEST)
    if found is None:
        return Limit()
    said = found.group().lower()
    if said.startswith("up to") and _BEFORE_AN_EVENT.match(rest):
        return Limit()
    turned = bool(_LATE.search(said) and _AHEAD.match(rest))
    denied = _DENIES.search(clause[: before.start()] if before else clause) or _DENIES.search(rest)
    return Limit("least" if bool(found["least"]) != turned else "most", bool(denied))


def begins_limit(text: str, at: int) -> bool:
    """Whether the "no" or "not" that ends at ``at`` begins a limit, and so negates nothing.

    "No later than Friday" is "by Friday", but "no faster than the old one" denies something.
    """
    match = _THAN.match(text, at)
    return match is not None and _is_amount(match["of"].rstrip(".,;:!?)"))


def _is_amount(word: str) -> bool:
    lower = word.lower()
    return (
        any(map(str.isdigit, word))
        or lower in SPELLED
        or lower in _AMOUNTS
        or unit_of(word) is not None
        or calendar_word(lower) is not None
    )
