"""Words that may be a noun or a verb: the end of a list, or a second predicate.

"rents boats, tents and bikes" against "sends alerts and displays maps".
"""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import (
    find_verb,
    is_adverb,
    is_past_tense,
    is_plural,
    opens_noun_phrase,
)
from franq_guard.claims.rules.lexer import Word, comma_before
from franq_guard.claims.rules.lexicon import words

ATTRIBUTIVE = words("attributive_plurals")
"""Plural nouns, forms of verbs as well, that may describe the noun after them."""
_UNITS = word_set("kg g w kw mw v kv hz bar l ml cm mm nm db mb gb")
_PERIODS = word_set(
    "second minute hour day night morning evening week weekend month year season spring summer"
    " autumn winter time"
)
_NO_NOUN = w.PREPOSITIONS | w.SUBORDINATORS | w.CONTRASTS | w.RELATIVES | w.COORDINATORS


def noun_list(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    """Whether the verb after "and" may be the last noun of a list: "goals, rules and plans"."""
    last = comma_before(frame, k, main)
    if last is None or frame[body].low not in verbs.PLURAL_NOUN_TOO | verbs.NOUNS_TOO:
        return False
    inside = frame[last + 1 : k]
    return len(inside) < 5 and find_verb(inside, 0, len(inside), loose=True) is None


def open_list(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether the words before "and" at ``k`` are no sentence, since they end inside a list.

    "rents boats, tents | and bikes", "is old, damp | and needs work".
    """
    k -= frame[k - 1].is_comma
    last = comma_before(frame, k, main)
    if last is None or frame[k].text == ";" or last + 1 == k:
        return False
    inside = frame[last + 1 : k]
    alone = len(inside) == 1 or (len(inside) < 4 and is_plural(frame[last - 1]))
    return (alone or _acts(inside)) and _is_bare(inside)


def _acts(words: Sequence[Word]) -> bool:
    """Whether it is a verb and its object that was not cut off: "lower the heat"."""
    form = words[0].low in verbs.BASE_FORMS | verbs.THIRD_PERSON_FORMS
    return form and len(words) > 1 and opens_noun_phrase(words[1])


def _is_bare(words: Sequence[Word]) -> bool:
    """Whether no name, number, adverb or participle comes first: "tents", "old maps"."""
    first = words[0]
    formed = verbs.is_ed_form(first.low) or first.low in verbs.PARTICIPLES | verbs.GERUNDS.keys()
    opened = opens_noun_phrase(first) or is_adverb(first) or first.low in _NO_NOUN | w.OPENERS
    joined = any(not x.is_word or x.low in w.COORDINATORS for x in words)
    return not (formed or opened or joined)


def ambiguous_noun(frame: Sequence[Word], k: int, verb: int) -> bool:
    """Whether the verb may be a noun in a list: "the pricing and benefits"."""
    low = frame[verb].low
    after = frame[verb + 1] if verb + 1 < len(frame) else None
    if after is not None and all(x.low.endswith("ing") for x in (frame[k - 1], after)):
        return True  # "birds chirping and leaves rustling"
    if (
        low == "lasts"
        or low not in verbs.PLURAL_NOUN_TOO | verbs.NOUNS_TOO
        or is_past_tense(frame[verb])
    ):
        return False
    if after is None or after.low == "of" or not (after.is_word or after.text in "$€£"):
        return True
    if after.low == "that" and is_plural(frame[k - 1]) and low not in w.COMPLEMENT_VERBS:
        return True  # "creates goals and rules that help"
    denied = any(x.low == "no" for x in frame[k - 3 : k - 1])  # "no ads or fees", not "and"
    if denied or _after_time(frame, k) or _acts_on(frame, verb):
        return False
    object_follows = opens_noun_phrase(after) and not _how_often(frame, verb + 1)
    if is_plural(frame[k - 1]) and low in verbs.PLURAL_NOUN_TOO and not object_follows:
        return True  # "the typical issues and challenges common to it", "talks and plays each week"
    comma = frame[k].is_comma or frame[k - 1].is_comma
    noun = is_plural(frame[k - 1]) or (comma and not _after_measure(frame, k))
    return after.low in w.PREPOSITIONS and noun and low in verbs.PLURAL_NOUN_TOO


def _after_time(frame: Sequence[Word], k: int) -> bool:
    """Whether a counted time ends before ``k``, which no noun joins: "in six minutes and cools"."""
    time = frame[k - 1].low.removesuffix("s") in _PERIODS and is_plural(frame[k - 2])
    return time and frame[k - 3].low in {"in", "within", "after", "every"}


def _acts_on(frame: Sequence[Word], verb: int) -> bool:
    """Whether a plural noun that ends a phrase is the verb's object: "and displays maps".

    Few plural nouns describe the noun after them, as in "drinks machines".
    """
    thing, after = frame[verb + 1], frame[min(verb + 2, len(frame) - 1)]
    ends = not after.is_word or after.low in w.PREPOSITIONS | {"and"}
    noun = thing.is_word and is_plural(thing) and thing.low not in verbs.BASE_FORMS
    return noun and ends and frame[verb].low in verbs.THIRD_PERSON_FORMS - ATTRIBUTIVE


def _how_often(frame: Sequence[Word], k: int) -> bool:
    """Whether a time begins at ``k``, which is no object: "every week", "two nights a week"."""
    return any(x.low.removesuffix("s") in _PERIODS for x in frame[k + 1 : k + 3])


def _after_measure(frame: Sequence[Word], k: int) -> bool:
    """Whether a lone measure ends before ``k``: "draws 1.2 kW, and runs on 230 V"."""
    end = k - frame[k - 1].is_comma
    listed = any(x.is_comma for x in frame[:end])  # "has 12 V, 2 kg, and plugs for all"
    return not listed and frame[end - 1].low in _UNITS and frame[end - 2].is_number
