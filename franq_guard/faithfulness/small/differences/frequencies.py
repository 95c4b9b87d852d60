"""Reads how often something is.

"Every second week", "every 14 days" and "fortnightly" are equal; "every week" is another frequency.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.numerals import CARDINALS, ORDINALS, one_of
from franq_guard.faithfulness.small.rewritten import rewritten
from franq_guard.faithfulness.small.words import stem
from franq_guard.records import Span

_STEPS: Final = {"other": 2} | {
    word: number for word, number in {**CARDINALS, **ORDINALS}.items() if number > 1
}
_EVERY: Final = re.compile(
    rf"\b(?:every|each)(?: (?:(?P<step>{one_of(_STEPS)})|(?P<digits>\d{{1,3}})(?:nd|rd|th)?))?"
    r" (?P<what>[^\W\d_]+)",
    re.I,
)
_ADVERBS: Final = {
    "hourly": ("hour", 1), "daily": ("day", 1), "weekly": ("week", 1), "fortnightly": ("week", 2),
    "monthly": ("month", 1), "quarterly": ("quarter", 1), "yearly": ("year", 1),
    "annually": ("year", 1),
}  # fmt: skip
_ADVERB: Final = re.compile(rf"\b{one_of(_ADVERBS)}\b", re.I)
_ADJECTIVE: Final = re.compile(r"\w+ly\b(?= [a-z])", re.I)
"""An adverb of `_ADVERBS` before the noun that it is an adjective of."""
_EQUAL: Final = {
    ("hour", 24): ("day", 1), ("day", 7): ("week", 1), ("day", 14): ("week", 2),
    ("month", 3): ("quarter", 1), ("month", 12): ("year", 1),
}  # fmt: skip
_UNCOUNTED: Final = word_set("few several couple so one single other now")
"""Behind "every" they are nothing that is counted: "every few days", "every so often"."""


class _Frequency(NamedTuple):
    span: Span
    step: tuple[str, int]
    """What is counted (days, visits), and 1 for every one, 2 for every second one."""
    plain: bool
    """Whether it is told without a number: "every week", "weekly"."""


def other_frequency(claim: str, sentence: str) -> bool:
    """Whether both tell how often something is, by the same thing, and by no equal step.

    "Every Thursday" beside "every other Thursday", "weekly" beside "every two weeks". Of labelled
    pairs (training and fitting folds) whose sentence has two thirds of the claim's other words 12
    unsupported ones are so and one supported one, which another sentence states.
    """
    mine = _by_thing(claim)
    theirs = _by_thing(sentence) if mine else {}
    return any(mine[what].isdisjoint(theirs[what]) for what in mine.keys() & theirs.keys())


def frequencies_as_in(text: str, claim: str) -> str:
    """Return a claim with its frequencies in the words that a text has for the same.

    "Every week" for "each week" is left alone, since the network knows that, and so is "a weekly
    report", where other words would not fit.
    """
    mine = [one for one in _frequencies(claim) if not _ADJECTIVE.match(claim, one.span[0])]
    theirs = _frequencies(text) if mine else []
    changes = []
    for own in mine:
        equal = [one for one in theirs if one.step == own.step]
        if equal and not (own.plain and any(one.plain for one in equal)):
            written = text[slice(*equal[0].span)]
            first = claim[own.span[0]]  # the passage's may be the first word of a sentence
            start = written[0].upper() if first.isupper() else written[0].lower()
            changes.append((own.span, start + written[1:]))
    return rewritten(claim, changes).text


def _by_thing(text: str) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for one in _frequencies(text):
        what, step = one.step
        found.setdefault(what, set()).add(step)
    return found


def _frequencies(text: str) -> list[_Frequency]:
    """In their order."""
    found = []
    for match in _EVERY.finditer(text):
        step, what = match["step"], match["what"].lower()
        if what not in _UNCOUNTED:
            number = _STEPS[step.lower()] if step else int(match["digits"] or 1)
            counted = stem(what), number
            is_plain = not (step or match["digits"])
            found.append(_Frequency(match.span(), _EQUAL.get(counted, counted), is_plain))
    for match in _ADVERB.finditer(text):
        step_of = _ADVERBS[match[0].lower()]
        found.append(_Frequency(match.span(), step_of, step_of[1] == 1))
    return sorted(found)
