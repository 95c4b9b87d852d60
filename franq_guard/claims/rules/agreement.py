"""Grammatical number: whether a noun phrase is singular or plural, and agrees with a verb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs as v
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import is_adverb, is_past_tense, is_plural
from franq_guard.claims.rules.lexer import Word

Number = Literal["singular", "plural"]

_SINGULAR = word_set("he she it this that a an each every another one")
_PLURAL = word_set("they we these those both several many few two three four five six seven eight")
_UNCLEAR = word_set(
    "number majority minority half third quarter percent % part rest most some all any none lot"
    " series species means news variety range couple dozen hundred thousand million billion who"
    " which that there you i staff team crew group band family government police united politics"
    " measles mumps rabies diabetes physics mathematics economics athletics headquarters data media"
    " committee company"
    " public audience population percentage proportion total"
)
_SINGULAR_VERBS = word_set("is was has does isn't wasn't hasn't doesn't")
_PLURAL_VERBS = word_set("are were have do aren't weren't haven't don't")
_STOPS = w.PREPOSITIONS | w.RELATIVES | w.SUBORDINATORS


def head(phrase: Sequence[Word]) -> Word | None:
    """The head noun of a noun phrase: the last word before "of ...", "that ..." or a mark."""
    found: Word | None = None
    for word in phrase:
        if word.low in _STOPS and found is not None:
            break
        if not word.is_word and not word.shielded and word.text not in {'"', "“", "*", "'", "’"}:
            break
        if word.is_word and not is_adverb(word):
            found = word
    return found


def number(phrase: Sequence[Word]) -> Number | None:
    """Whether a noun phrase is singular or plural; None if its form does not show it."""
    noun = head(phrase)
    if noun is None or noun.low in _UNCLEAR or noun.is_number:
        return None
    if any(x.low in {"and", "or", "&"} and not x.shielded for x in phrase):
        return None
    first = phrase[0].low
    if first in _PLURAL:
        return "plural"
    if first in _SINGULAR and not (first == "one" and len(phrase) > 1):
        return "singular"
    if noun.is_name or not noun.low.isalpha():
        return None
    return "plural" if is_plural(noun) else "singular"


def verb_number(words: Sequence[Word], k: int) -> Number | None:
    """The number that the finite verb at ``k`` requires of its subject; None if it fits both."""
    low = words[k].low
    if low in _SINGULAR_VERBS:
        return "singular"
    if low in _PLURAL_VERBS:
        return "plural"
    if low in w.AUXILIARIES or low in w.PRONOUN_VERBS or is_past_tense(words[k]):
        return None
    if low in v.THIRD_PERSON_FORMS:
        return "singular"
    return "plural" if low in v.BASE_FORMS else None


def agree(phrase: Sequence[Word], words: Sequence[Word], verb: int) -> bool:
    """Whether the noun phrase may be the subject of the verb; False only if they surely differ."""
    only = phrase[0].low if len(phrase) == 1 else ""
    if only == "i" and words[verb].low in {"are", "were"}:
        return False
    if only in {"i", "you"} and verb_number(words, verb) == "singular":
        return only == "i" and words[verb].low == "was"
    numbers = {number(phrase), verb_number(words, verb)} - {None}
    return len(numbers) < 2
