"""Finds the sentences of a passage that can be understood without the rest of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.claims.rules.words import (
    CONTRASTS,
    COORDINATORS,
    FINITE_AUXILIARIES,
    OPENERS,
    SUBORDINATORS,
    THIRD_PERSON,
)
from franq_guard.claims.sentences import sentences
from franq_guard.records import Passage

SHORTEST, LONGEST = 5, 30
"""Fewest and most words of a sentence that a question is made from."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_DEPENDENT = (
    OPENERS
    | COORDINATORS
    | SUBORDINATORS
    | CONTRASTS
    | THIRD_PERSON
    | word_set("this that these those there here such another i we you")
)


class Sentence(NamedTuple):
    """A sentence and the index of its passage."""

    passage: int
    text: str


def standing_alone(passages: list[Passage]) -> Iterator[Sentence]:
    """Sentences of 5 to 30 words that begin with their subject and do not refer to other text.

    A sentence with a third-person pronoun before its first verb, or that begins with a word such as
    "however", cannot be understood without the previous sentence.
    """
    for index, passage in enumerate(passages):
        for start, end in sentences(passage.text, 0, len(passage.text)):
            text = " ".join(passage.text[start:end].split())
            if _alone(text):
                yield Sentence(index, text)


def _alone(text: str) -> bool:
    words = [word.lower() for word in _WORD.findall(text)]
    return (
        SHORTEST <= len(words) <= LONGEST
        and (text[0].isupper() or text[0].isdigit())
        and text[-1] == "."
        and not set('"“”#|:;()[]') & set(text)
        and words[0] not in _DEPENDENT
        and not THIRD_PERSON & set(_before_verb(words))
    )


def _before_verb(words: list[str]) -> list[str]:
    for at, word in enumerate(words):
        if word in FINITE_AUXILIARIES:
            return words[:at]
    return words
