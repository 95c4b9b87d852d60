"""Tells whether two passages are about different things of one kind: two plans, years, people.

"Plan Team costs 19 euros." reads as a contradiction of "Plan Basic costs 4 euros.", which another
passage states. It is none: each passage is about its own plan. In a true disagreement what both are
about is the same, and one fact that is told of it differs. So two passages do not disagree

- where the claim names what its passage is about ("Basic"), and the other passage is about another
  name or number instead ("Team");
- where two facts of the claim differ, as in "40 were sold in 2016." and "62 were sold in 2017.";
- where two sentences run parallel but differ in two places (:mod:`.variants`).

What a sentence is about are the names and numbers before its verb; if there are none, those of the
sentences before it, and of the title. The verb is found by its form alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Set
from functools import lru_cache
from typing import Final, NamedTuple

from franq_guard.claims.rules import verbs
from franq_guard.claims.rules.words import DETERMINERS, FINITE_AUXILIARIES, PREPOSITIONS
from franq_guard.claims.sentences import sentences
from franq_guard.faithfulness.small.numerals import CARDINALS
from franq_guard.faithfulness.small.tokens import known, tokens
from franq_guard.faithfulness.small.words import calendar_word
from franq_guard.records import Passage
from franq_guard.signals.variants import are_variants

__all__ = ["are_siblings"]

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
_NUMBERS: Final = frozenset({"number", "few"})
_NAMES_AND_NUMBERS: Final = _NUMBERS | {"name"}

Facts = Mapping[str, bool]
"""Names and numbers, each with whether it is a number."""


class _Sentence(NamedTuple):
    text: str
    words: frozenset[str]
    subject: Facts


def are_siblings(claim: str, stating: Passage, other: Passage) -> bool:
    """Whether ``other`` is about another thing than ``stating``, which states the claim.

    That is so if the claim has a name or number which ``stating`` is about and ``other`` lacks, and
    ``other`` is about one instead that ``stating`` lacks. It is also so if both hold of any two
    names and numbers of the claim and of the sentence in ``other`` that is nearest to it; and if
    these two are about variants of a thing.
    """
    nearest = _sentences(other.text)[_nearest(claim, other.text)].text
    if are_variants(claim, nearest):
        return True
    own, others = (known(f"{one.title}. {one.text}").words for one in (stating, other))
    said = known(claim).words
    lacking = (said & own) - others
    if not lacking:
        return False
    instead = _topic(claim, other)
    kinds = {number for fact, number in _topic(claim, stating).items() if fact in lacking}
    if any(number in kinds for fact, number in instead.items() if fact not in own):
        return True
    return _has_two(claim, lacking) and _has_two(nearest, known(nearest).words - own)


def _topic(claim: str, passage: Passage) -> Facts:
    """What the sentence nearest to the claim is about."""
    read = _sentences(passage.text)
    place = _nearest(claim, passage.text)
    if read[place].subject:
        return read[place].subject
    before = [_facts(passage.title), *(one.subject for one in read[:place])]
    return {fact: number for facts in before for fact, number in facts.items()}


def _nearest(claim: str, text: str) -> int:
    """The place of the sentence that shares most words with the claim."""
    words = _words(claim)
    read = _sentences(text)
    return max(range(len(read)), key=lambda i: len(words & read[i].words))


@lru_cache(maxsize=256)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    named = frozenset(token.text for token in tokens(text) if token.kind == "name")
    found = [text[a:b] for a, b in sentences(text, 0, len(text))] or [text]
    return tuple(_Sentence(one, _words(one), _facts(_subject(one), named)) for one in found)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _subject(sentence: str) -> str:
    """What stands before the verb; "" if no verb is found."""
    words = list(_WORD.finditer(sentence))[1:]
    for forms in _FORMS:
        for word in words:
            if word.group() in forms:
                return sentence[: word.start()]
    return ""


def _facts(phrase: str, named: Collection[str] = ()) -> Facts:
    """The names and numbers of a phrase.

    The word that opens it may be one like any other. It counts if it is a name elsewhere, or if it
    stands alone and is no plural.
    """
    lone = len(phrase.split()) == 1 and not phrase.strip().endswith("s")
    return {
        token.text: token.kind in _NUMBERS
        for token in tokens(_AMOUNT.sub("", phrase))
        if token.kind in _NAMES_AND_NUMBERS
        or (token.kind == "opening" and (lone or token.text in named))
    }


def _has_two(text: str, among: Set[str]) -> bool:
    """Whether two names or numbers of a text are ``among`` these words; a date is one of them."""
    found = 0
    before = None
    for token in tokens(text):
        if token.kind not in _NAMES_AND_NUMBERS or token.text not in among:
            before = None
            continue
        goes_on = before is not None and (
            token.kind == before.kind == "name"
            or calendar_word(before.text)
            or calendar_word(token.text)
        )
        found += not goes_on
        before = token
    return found > 1
