"""Finds a claim that says of an exception what its sentence says of the rest.

"Haggling is allowed at the fish counters" beside "Haggling is allowed except at the fish counters":
all words are there, and a network gives such a claim nearly the score of the true one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.differences.opposites import opposed
from franq_guard.faithfulness.small.tokens import stated

_EXCEPTS: Final = re.compile(
    r"\b(?:except(?:ing)?(?: for)?|apart from|other than|excluding|with the exceptions? of|but not"
    r"|unlike)\s+([^,.;:()]+)",
    re.IGNORECASE,
)
"""Words that except what follows them."""
_ADDS: Final = re.compile(r", (?:when|where|which|who|whose|whom)\b[^.;]*", re.IGNORECASE)
"""What a sentence says of the exception alone: "except on Sundays, when it stays shut"."""
_AND: Final = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
_DENIES: Final = re.compile(
    r"\b(?:not|no|never|nor|neither|none|nothing|nobody|cannot|without|except|excepting|excluding"
    r"|apart|other than|unlike|exceptions?|only|alone|instead|rather|closed|shut|exempt|unless)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
"""With such a word a claim may say what the exception does, and a sentence the opposite of it."""
_HOW: Final = word_set("all always every everything everyone only also quite very too")
"""Excepted words that leave open for what: "many, but not all"."""


def excepted(claim: str, sentence: str) -> bool:
    """Whether a claim is about what the sentence excepts, and says of it what holds for the rest.

    Of labelled pairs whose sentence has nearly all of the claim's other words 16 unsupported ones
    are so and one supported one. (Of pairs that were made by taking words out none and 4.)

    Args:
        claim: a sentence.
        sentence: the one of the context nearest to it.
    """
    own = frozenset(() if _DENIES.search(claim) else stated(claim))
    return any(
        exception <= own and not exception <= rest and own.isdisjoint(more - rest)
        for exception, rest, more in _exceptions(sentence)
    ) and not opposed(claim, sentence)


def _exceptions(sentence: str) -> Iterator[tuple[frozenset[str], frozenset[str], frozenset[str]]]:
    """The words of each exception, of the sentence without it, and of what it adds about it.

    None of a sentence that denies something elsewhere.
    """
    for found in _EXCEPTS.finditer(sentence):
        more = _ADDS.match(sentence, found.end())
        end = more.end() if more else found.end()
        rest = f"{sentence[: found.start()]} {sentence[end:]}"
        for one in () if _DENIES.search(rest) else _AND.split(found[1]):
            words = stated(one)
            if words and words[0] not in _HOW:
                added = stated(more[0]) if more else ()
                yield frozenset(words), frozenset(stated(rest)), frozenset(added)
