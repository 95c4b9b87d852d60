"""Asides that are clauses: ", who ...", ", which ...", ", of which ...", ", when ..."."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from franq_guard.basics.words import CALENDAR, word_set
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.antecedents import aside_end, certain, name_before, phrase_before
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    find_verb,
    is_finite,
    is_plural,
    subject,
)
from franq_guard.claims.rules.lexer import Word, inserted

_SUPPOSED = frozenset({"would", "could", "should", "might"})
_EVENT_VERBS = word_set("means meant makes made allows allowed causes caused led")
_PLACED = frozenset({"in", "at", "to", "near", "from"})
_QUANTIFIERS = word_set("many most some all both each none several few one two three much")


def relative(clause: Clause, comma: int, main: int) -> tuple[Clause, Clause] | None:
    """Split off ", who ...", ", which ...", ", whose ..." or ", where ..."."""
    frame = clause.frame
    pronoun = frame[comma + 1].low
    if pronoun not in {"who", "which", "whose", "where"}:
        return None
    inner = after_adverbs(frame, comma + 2)
    end = aside_end(frame, comma, inner, main)
    antecedent = phrase_before(frame, comma, main)
    if pronoun in {"who", "whose"} and frame[comma - 1].is_name:
        antecedent = name_before(frame, comma) or antecedent
    event = pronoun == "which" and _means_the_event(frame, inner)
    if event:
        antecedent = (inserted("This"),)
    if antecedent and antecedent[0].low in {"a", "an"} and main < comma:
        antecedent = _described(frame, main)
    asked = frame[min(inner + 1, len(frame) - 1)].low in {"what", "why", "how"}
    if antecedent is None or end is None or asked or frame[inner].low in _SUPPOSED:
        return None  # asked: "It reaches 90 degrees, which is what melts it"
    if pronoun in {"who", "which"}:
        sure = event or certain(frame, comma, main, antecedent, inner)
        if not sure or not is_finite(frame, inner, loose=True):
            return None
        return clause.take(comma, end, (*antecedent, *frame[comma + 2 : end]))
    if find_verb(frame, inner, end, loose=True) is None or _stranded(frame, inner, end):
        return None
    opening = _whose(frame, comma, main, antecedent)
    if opening is None:
        return None
    return clause.take(comma, end, (*opening, *frame[comma + 2 : end]))


def _described(frame: Sequence[Word], main: int) -> tuple[Word, ...] | None:
    """The subject instead of what it is: "Ann was a pilot, who flew": Ann flew, not any pilot.

    None for "He saw a man, who left": which man it was is said in the first clause only.
    """
    k = after_adverbs(frame, main + 1)
    is_a = frame[main].low in w.BE and frame[k].low in {"a", "an"}
    return subject(frame) if is_a else None


def _whose(
    frame: Sequence[Word], comma: int, main: int, antecedent: tuple[Word, ...]
) -> tuple[Word, ...] | None:
    """What replaces "whose" ("Ada's") or "where" ("In Rome,"); None if it is not certain."""
    if frame[comma + 1].low == "whose":
        sure = certain(frame, comma, main, antecedent, None)
        return (*antecedent, inserted("'s")) if sure else None
    first = next(k for k, x in enumerate(frame) if x is antecedent[0])
    dated = any(x.is_number or x.low in CALENDAR for x in antecedent)
    if frame[first - 1].low not in _PLACED or dated:
        return None
    place, opener = frame[first - 1].low, antecedent[0]
    if not opener.is_name and (place in {"to", "from"} or opener.low not in w.DETERMINERS):
        return None  # "carried it to the nearest barn, where", "a bird in flight, where"
    opening = inserted(place.capitalize() if place in {"at", "near"} else "In")
    return (opening, *antecedent, inserted(","))


def _stranded(frame: Sequence[Word], inner: int, end: int) -> bool:
    """Whether "where" is what "been" lacks: "where he had been since 2010"."""
    return any(
        a.low in w.BE and b.low in {"since", "until", "for"} for a, b in pairwise(frame[inner:end])
    )


def _means_the_event(frame: Sequence[Word], verb: int) -> bool:
    """Whether ", which ..." is about the whole clause: "which means", "which led to"."""
    low = frame[verb].low
    if low in {"makes", "made"}:
        return not frame[verb - 2].is_name
    return low in _EVENT_VERBS and (low != "led" or frame[verb + 1].low == "to")


def part_of(clause: Clause, comma: int, main: int) -> tuple[Clause, Clause] | None:
    """Split off ", of which 650 survive" or ", many of whom left"; "them" is the antecedent."""
    frame = clause.frame
    of = comma + 1 if frame[comma + 1].low == "of" else comma + 2
    if of + 2 >= len(frame) or frame[of].low != "of" or frame[of + 1].low not in {"which", "whom"}:
        return None
    if of > comma + 1 and frame[comma + 1].low not in _QUANTIFIERS:
        return None
    end = aside_end(frame, comma, of + 2, main)
    if end is None:
        return None
    antecedent = phrase_before(frame, comma, main)
    if antecedent is None or not any(is_plural(x) for x in antecedent[-1:]):
        return None
    them = inserted("them")
    if of > comma + 1:
        return clause.take(comma, end, (frame[comma + 1], frame[of], them, *frame[of + 2 : end]))
    verb = find_verb(frame, of + 2, end, loose=True)
    if verb is None:
        return None
    partitive = (*frame[of + 2 : verb], frame[of], them)
    return clause.take(comma, end, (*partitive, *frame[verb:end]))
