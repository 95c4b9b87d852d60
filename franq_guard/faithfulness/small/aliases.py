"""Writes the names of a claim in the form that the passages have: in full, or by their initials.

"The Food and Drug Administration" is "the FDA", "the United States" are "the USA", yet they share
no word, so that encoder and look-ups would take them for others.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from franq_guard.faithfulness.small.words import STOPWORDS

_STATES: Final = re.compile(r"(?<!\w)(?:United States(?: of America)?|USA|U\.S\.A\.)(?!\w)")
"""Names of one country; of its other ones, "US" and "U.S.", the network knows what they mean."""
_ACRONYM: Final = re.compile(r"\b(?:[A-Z]{3,6}|EU|UN)\b")
"""Of two letters mostly something else: "MA", "FM"."""
_LITTLE: Final = "of|and|the|for|in|on|to"
_STOPS: Final = "|".join(sorted(STOPWORDS))


def names_as_in(text: str, claim: str) -> str:
    """Return a claim with its names in the form that a text has, where it lacks the claim's own.

    The network knows the other direction, from initials to the whole name.

    Args:
        text: all that may support the claim.
        claim: whose names are looked up.
    """
    there = _STATES.findall(text)
    if there and not set(there) & set(_STATES.findall(claim)):
        claim = _STATES.sub(there[0].removesuffix("."), claim)
    for initials in _acronyms(text):
        named = None if initials in claim else _spelled_out(initials).search(claim)
        if named and named[0].lower() not in text.lower():
            claim = _spelled_out(initials).sub(initials, claim)
    return claim


@lru_cache(maxsize=256)
def _acronyms(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_ACRONYM.findall(text)))


@lru_cache(maxsize=256)
def _spelled_out(initials: str) -> re.Pattern[str]:
    """Names with these initials, little words between them aside."""
    words = [rf"(?!(?i:{_STOPS})\b){initial}[^\W\d_]+" for initial in initials]
    return re.compile(r"\b" + rf"(?:[ -](?:{_LITTLE}))*[ -]".join(words) + r"\b(?! (?:and )?[A-Z])")
