"""What the sentences of a passage are about: mostly what stands before their verb.

The verb is found by its form alone. Without one, it is what stands before the first comma.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from franq_guard.claims.rules import verbs
from franq_guard.claims.rules.words import (
    DETERMINERS,
    FINITE_AUXILIARIES,
    PREPOSITIONS,
    THIRD_PERSON,
)
from franq_guard.claims.sentences import sentences
from franq_guard.faithfulness.small.numerals import CARDINALS
from franq_guard.faithfulness.small.tokens import tokens
from franq_guard.faithfulness.small.words import NEGATIONS, STOPWORDS, stem

__all__ = [
    "NAMES_AND_NUMBERS",
    "Facts",
    "Sentence",
    "Word",
    "content",
    "facts",
    "nearest",
    "read",
    "stems",
]

_SURE: Final = (
    FINITE_AUXILIARIES
    | verbs.PURE_PASTS
    | verbs.SHARED_PASTS
    | verbs.REGULAR_PASTS
    | (verbs.THIRD_PERSON_FORMS - verbs.PLURAL_NOUN_TOO)
) - PREPOSITIONS
_FORMS: Final = (_SURE, verbs.PLURAL_NOUN_TOO - PREPOSITIONS, verbs.BASE_FORMS - PREPOSITIONS)
"""Those that may be nouns, too, count in a sentence without a surer one."""
_WORD: Final = re.compile(r"\w+(?:[.,]\d+)*")
_AMOUNT: Final = re.compile(
    rf"(?:^|\b(?i:{'|'.join(sorted(PREPOSITIONS | DETERMINERS))}) )(?!(?:1\d|20)\d\d\b)"
    rf"(?:\d[\d.,]*|(?i:{'|'.join(CARDINALS)})) (?=[a-z]|$)"
)
"""How many or how much: "Two guards", "Children under 6", "At 88 metres". That is told of a thing,
while a year, or the number in "Line 4", says which thing it is."""
_ABOUT_BEFORE: Final = re.compile(
    rf"(?:\w+ )?(?:{'|'.join(sorted(THIRD_PERSON))})\b|th(?:is|ese) (?!is\b|are\b)", re.IGNORECASE
)
"""Begins a sentence about what was said before: "Its roof ...", "Let it cool", "This plan ..."."""
_IN_NOUN: Final = re.compile(r"(?:\b(?:an?|the) |\w-)$", re.IGNORECASE)
"""Before what is no verb, by its form or not: "the paid version", "red-painted"."""
_ITS: Final = re.compile(r"(?:\w+ )?(?:its|their|his|her)\b", re.IGNORECASE)
_AROUND_NOUN: Final = re.compile(
    rf"\w+(?:['’]s|s['’]) |(?<=\w )(?:{'|'.join(sorted(PREPOSITIONS))})\b.*", re.IGNORECASE
)
"""An owner or place: "the inn's bar", "the bar of the inn"."""
_NUMBERS: Final = frozenset({"number", "few"})
NAMES_AND_NUMBERS: Final = _NUMBERS | {"name"}
_IDLE: Final = STOPWORDS | NEGATIONS

Facts = Mapping[str, bool]
"""Names and numbers, each with whether it is a number."""


class Word(NamedTuple):
    """A content word, by its stem, and the words before and after it as written; "" at an end."""

    stem: str
    before: str
    after: str
    plural: bool


class Sentence(NamedTuple):
    """A sentence with its words.

    ``facts`` and ``topic``: the names and numbers, and all content words, of what it is about, none
    if that was said before ("It is red.", "Its roof is red."); ``kind``: those words of the topic
    that are no owner's ("the camera's battery"); ``told``: the other content words; ``owned``:
    whether it begins like "Its roof".
    """

    text: str
    words: frozenset[str]
    facts: Facts
    topic: frozenset[str]
    kind: frozenset[str]
    told: frozenset[str]
    owned: bool


@lru_cache(maxsize=256)
def read(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a passage, at least one."""
    named = frozenset(token.text for token in tokens(text) if token.kind == "name")
    found = [text[a:b] for a, b in sentences(text, 0, len(text))] or [text]
    return tuple(_sentence(one, named) for one in found)


def _sentence(text: str, named: Collection[str]) -> Sentence:
    subject = _subject(text)
    said_before = _ABOUT_BEFORE.match(text)
    about = "" if said_before else subject if stems(subject) else _opening(text)
    topic = stems(about)
    return Sentence(
        text=text,
        words=_words(text),
        facts=facts(subject, named),
        topic=topic,
        kind=stems(_AROUND_NOUN.sub("", about)),
        told=stems(text) - topic,
        owned=bool(_ITS.match(text)),
    )


def _opening(text: str) -> str:
    """What a sentence without a subject begins with: "For the light dough, sift the flour."."""
    clause, comma, _ = text.partition(",")
    return clause if comma and clause.split(" ")[0].lower() in PREPOSITIONS else ""


def nearest(claim: str, text: str) -> int:
    """The place of the sentence that shares most words with the claim."""
    words = _words(claim)
    found = read(text)
    return max(range(len(found)), key=lambda i: len(words & found[i].words))


def content(text: str) -> list[Word]:
    """The content words of a text, without negations; also the letter of "Block A"."""
    words = _WORD.findall(text)
    beside = ["", *map(str.lower, words), ""]
    return [
        Word(stem(word.lower()), beside[place], beside[place + 2], _is_plural(word))
        for place, word in enumerate(words)
        if word.lower() not in _IDLE or (place and len(word) == 1 and word.isupper())
    ]


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


def stems(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(word.stem for word in content(text))


def facts(phrase: str, named: Collection[str] = ()) -> Facts:
    """The names and numbers of a phrase.

    The word that opens it may be one like any other. It counts if it is a name elsewhere, or if it
    stands alone and is no plural.
    """
    lone = len(phrase.split()) == 1 and not phrase.strip().endswith("s")
    return {
        token.text: token.kind in _NUMBERS
        for token in tokens(_AMOUNT.sub("", phrase))
        if token.kind in NAMES_AND_NUMBERS
        or (token.kind == "opening" and (lone or token.text in named))
    }


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _subject(sentence: str) -> str:
    """What stands before the verb; "" if no verb is found."""
    words = list(_WORD.finditer(sentence))[1:]
    for forms in _FORMS:
        for word in words:
            if word.group() in forms and not _IN_NOUN.search(sentence[: word.start()]):
                return sentence[: word.start()]
    return ""
