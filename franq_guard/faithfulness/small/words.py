"""Words as the look-ups compare them: split, stemmed; little words, negations, the calendar."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from franq_guard.basics.words import CALENDAR, word_set
from franq_guard.faithfulness.small.numerals import in_digits

WORD: Final = re.compile(r"\w+(?:[.,]\d+)*")
"""A word, or a number with its separators."""

STOPWORDS: Final = word_set(
    "a an the and or but if of in on at by for to from with as is are was were be been being "
    "am it its this that these those he she they them his her their him i you we us our your "
    "my me who whom which what when where how why do does did done has have had having will "
    "would can could shall should may might must not no nor so than then there here also into "
    "over under about after before between during up down out off s t d ll re ve m"
)
LONGEST_SENTENCE: Final = 150
"""Words; what has more is no sentence but a text without sentence ends."""
NEGATIONS: Final = word_set("not no never none nobody nothing neither nor without cannot hardly")
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CALENDAR: Final = CALENDAR | {word[:3] for word in CALENDAR} | {"sept", "tues"}


def words(text: str) -> list[str]:
    """Return the lower-case words and numbers of `text`.

    Thousands separators are removed, and numbers in words from one hundred up are in digits.
    """
    found = WORD.findall(in_digits(text).text.lower())
    return [w.replace(",", "") if w[0].isdigit() else w for w in found]


@lru_cache(maxsize=1 << 14)  # called most often of all look-ups
def stem(word: str) -> str:
    """Return `word` without a common English ending: a rough stem that matches inflected forms."""
    for ending in ("ing", "ies", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def calendar_word(word: str) -> str | None:
    """Return the first three letters of a lower-case month or weekday, None for another word."""
    return word[:3] if word in _CALENDAR else None
