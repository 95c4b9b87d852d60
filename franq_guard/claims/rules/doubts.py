"""Reasons not to split a coordination: a word that may be a noun, a list that may continue."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    find_verb,
    is_finite,
    is_past_tense,
    is_plural,
    opens_noun_phrase,
)
from franq_guard.claims.rules.lexer import Word


def in_a_list(frame: Sequence[Word], main: int, k: int, body: int) -> bool:
    """Whether ``k`` may be inside a list of subjects: "but Tom May, Al Fox, and Jo Purdy won"."""
    if frame[body].low in w.SUBJECT_PRONOUNS or frame[k].text == ";":
        return False
    verb = after_adverbs(frame, body)
    if is_finite(frame, verb, loose=True) or frame[verb].low in verbs.BASE_FORMS:
        return False
    if w.CONTRASTS & {x.low for x in frame[k:body]}:
        return False
    k -= frame[k - 1].is_comma
    last = next((j for j in range(k - 1, main, -1) if frame[j].is_comma), None)
    if last is None or not 1 < k - last <= 7:
        return False
    inside = frame[last + 1 : k]
    return frame[last + 1].low not in w.PREPOSITIONS | w.RELATIVES | w.COORDINATORS and (
        find_verb(inside, 0, len(inside), loose=True) is None
    )


def both(frame: Sequence[Word], j: int) -> bool:
    """Whether the word at ``j`` is a "both" before two predicates: "both sings and dances"."""
    return frame[j].low == "both" and (
        is_finite(frame, j + 1, loose=True)
        or frame[j + 1].low in verbs.PARTICIPLES | verbs.BASE_FORMS
    )


def ambiguous_noun(frame: Sequence[Word], k: int, verb: int) -> bool:
    """Whether the verb may be a noun in a list: "the pricing and benefits"."""
    low = frame[verb].low
    after = frame[verb + 1] if verb + 1 < len(frame) else None
    if (
        low == "lasts"
        or low not in verbs.PLURAL_NOUN_TOO | verbs.NOUNS_TOO
        or is_past_tense(frame[verb])
    ):
        return False
    if after is None or after.low == "of" or not (after.is_word or after.text in "$€£"):
        return True
    noun = is_plural(frame[k - 1]) or frame[k].is_comma or frame[k - 1].is_comma
    return after.low in w.PREPOSITIONS and noun and low in verbs.PLURAL_NOUN_TOO


def has_object(frame: Sequence[Word], k: int) -> bool:
    """Whether the next words show that a base form is a verb ("and object to" is unclear)."""
    if k + 1 >= len(frame) or not frame[k + 1].is_word or frame[k + 1].low in w.COORDINATORS:
        return False
    after = frame[min(k + 2, len(frame) - 1)].low
    purpose = frame[k + 1].low == "to" and after in verbs.BASE_FORMS
    noun = frame[k].low in verbs.NOUNS_TOO and frame[k - 2].low in verbs.NOUNS_TOO
    placed = purpose or (frame[k + 1].low in w.PREPOSITIONS - {"to", "of"} and not noun)
    return frame[k].low not in verbs.NOUNS_TOO or placed or opens_noun_phrase(frame[k + 1])


def infinitive(frame: Sequence[Word], main: int, body: int) -> bool:
    """Whether a base form may continue an infinitive: "can help to grow and feed X"."""
    return any(
        frame[j].low == "to" and not opens_noun_phrase(frame[j + 1]) for j in range(main, body - 1)
    )
