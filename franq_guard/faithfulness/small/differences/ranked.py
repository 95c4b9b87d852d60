"""Finds a claim that calls the first of its kind what is the second or third in its sentence.

"Brack is the largest town" beside "Brack is the second largest town of the county".
"""

from __future__ import annotations

import re
from typing import Final

from franq_guard.faithfulness.small.numerals import ORDINALS
from franq_guard.faithfulness.small.tokens import stated

_SUPERLATIVE: Final = r"(?:\w{2,}est|(?:most|least) \w+)"
_RANK: Final = rf"(?:{'|'.join(w for w, n in ORDINALS.items() if n > 1)}|\d+(?:st|nd|rd|th))"
_RANKED: Final = re.compile(rf"\b{_RANK}[ -](?P<superlative>{_SUPERLATIVE})\b", re.IGNORECASE)
_AFTER: Final = re.compile(r"(?:after|behind) [^,]*, ", re.IGNORECASE)


def outranks(claim: str, sentence: str) -> bool:
    """Whether a claim has a superlative without the rank that its sentence has directly before it.

    The sentence must have all words of the claim, or it may be about another thing. What it has
    behind the superlative may be of a higher rank: "the second largest after Lindmoor". ("One of
    the largest" told as "the largest" is left alone: 2 unsupported labelled pairs and 2 supported.)

    Args:
        claim: a sentence.
        sentence: the one of the context nearest to it.
    """
    return set(stated(claim)) <= set(stated(sentence)) and any(
        _first_of(found["superlative"], claim, _higher(sentence, found.end()))
        for found in _RANKED.finditer(sentence)
        if sentence.lower().count(found["superlative"].lower()) == 1
    )


def _higher(sentence: str, end: int) -> str:
    """Where things of a higher rank may stand: behind the superlative, or "After saffron, ..."."""
    before = _AFTER.match(sentence)
    return (before[0] if before else "") + sentence[end:]


def _first_of(superlative: str, claim: str, higher: str) -> bool:
    place = re.search(rf"\b{re.escape(superlative)}\b", claim, re.IGNORECASE)
    if place is None or re.search(rf"\b{_RANK}\W|\bone of\b|\bamong\b", claim, re.IGNORECASE):
        return False
    return set(stated(claim[: place.start()])).isdisjoint(stated(higher))
