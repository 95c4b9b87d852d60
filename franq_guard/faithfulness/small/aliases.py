"""Writes the names of a claim in the form that the passages have: in full, or by their initials.

"The Food and Drug Administration" is "the FDA", "the United States" are "the USA", yet they share
no word, so that encoder and look-ups would take them for others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.rewritten import Change, rewritten
from franq_guard.faithfulness.small.words import STOPWORDS
from franq_guard.records import Span

_STATES: Final = re.compile(r"(?<!\w)(?:United States(?: of America)?|USA|U\.S\.A\.)(?!\w)")
"""Names of one country; of its other ones, "US" and "U.S.", the network knows what they mean."""
_ACRONYM: Final = re.compile(r"\b(?:[A-Z]{3,6}|EU|UN)\b")
"""Of two letters mostly something else: "MA", "FM"."""
_LITTLE: Final = word_set("of and the for in on to")
"""Words within a name that its initials leave out."""
_WORD: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?![^\W\d_])")
_NEXT: Final = re.compile(r" (?:and )?[A-Z]")
_MOST: Final = 6
"""Initials."""


def names_as_in(text: str, claim: str) -> str:
    """Return a claim with its names in the form that a text has, where it lacks the claim's own.

    The network knows the other direction, from initials to the whole name.

    Args:
        text: all that may support the claim.
        claim: whose names are looked up.
    """
    own = set(_STATES.findall(claim))
    if own and (there := _states(text)) and own.isdisjoint(there):
        claim = _STATES.sub(there[0].removesuffix("."), claim)
    known = _acronyms(text)
    found = list(_names(claim)) if known else []
    changes: list[Change] = []
    for span, initials in found:
        name = claim[slice(*span)]
        shortened = initials in known and initials not in claim and name.lower() not in text.lower()
        if shortened and (not changes or changes[-1][0][1] <= span[0]):
            changes.append((span, initials))
    return rewritten(claim, changes).text


@lru_cache(maxsize=256)
def _states(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_STATES.findall(text)))


@lru_cache(maxsize=256)
def _acronyms(text: str) -> frozenset[str]:
    return frozenset(_ACRONYM.findall(text))


def _names(claim: str) -> Iterator[tuple[Span, str]]:
    """The capitalised words in a row that may be a whole name, with their initials."""
    words = list(_WORD.finditer(claim))
    for n, first in enumerate(words):
        initials, end = "", first.start()
        for word in words[n:]:
            if claim[end : word.start()] not in ("", " ", "-") or len(initials) == _MOST:
                break
            if _begins_name(word[0]):
                initials += word[0][0]
                if not _NEXT.match(claim, word.end()):
                    yield (first.start(), word.end()), initials
            elif not initials or word[0] not in _LITTLE:
                break
            end = word.end()


def _begins_name(word: str) -> bool:
    return word[0].isupper() and len(word) > 1 and word.lower() not in STOPWORDS
