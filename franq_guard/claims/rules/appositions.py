"""Asides without a finite verb: appositions, participles, ", including X", ", with 5% of Y"."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import CALENDAR, word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.agreement import head, number
from franq_guard.claims.rules.antecedents import (
    aside_end,
    be,
    copula,
    is_person,
    name_before,
    phrase_before,
)
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.doubts import describes_noun, open_clause
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    find_verb,
    is_adverb,
    is_finite,
    is_past_tense,
    is_plural,
    subject,
    subject_start,
)
from franq_guard.claims.rules.lexer import Word, inserted

_EVENTS = word_set("causing leading resulting allowing enabling")
_TIMES = word_set(
    "also already still now then once formerly originally currently initially later today"
)
"""Adverbs that may open a description, which holds for a time: "Rask, then the mayor, ..."."""
_RANKS = word_set("first second third last only latest next")
_ONCE = frozenset({"previously", "formerly", "once", "originally"})
_BEGINNINGS = word_set("began begins ended ends occurred occurs happened happens came comes")
"""After these the doer of an -ing form is unclear: "It began in May, marking the end of ..."."""
_PRESENT = w.NAMING | word_set(
    "located situated found made used owned abbreviated shortened spelled loaded filled covered"
    " surrounded equipped"
)
_ABSTRACT = word_set(
    "move decision feat record success failure achievement increase decrease decline rise drop fall"
    " practice event reminder sign victory defeat result rate step change development situation"
    " process task position title honor honour milestone figure amount phenomenon trend mark nod"
    " tribute gesture response reaction effort attempt role job post distance date time period year"
    " day month season first fact term name word gap loss gain win claim view idea way level"
)
"""Nouns that describe an event, not the name before them: "left Rome, a decision that ..."."""
_ATTACHED = word_set(
    "regarding concerning considering according pending excluding ranging depending varying"
    " consisting starting containing featuring starring"
)
_AMOUNTS = word_set("over about around more less fewer nearly almost roughly approximately only")


def apposition(clause: Clause, comma: int, main: int) -> tuple[Clause, Clause] | None:
    """Split off "Paris, the capital of France, ...", after a name or an opening noun phrase."""
    frame = clause.frame
    opener = frame[after_adverbs(frame, comma + 1)]
    adverb = is_adverb(frame[comma + 1]) and frame[comma + 1].low not in _TIMES
    if adverb or (opener.low == "one" and frame[comma + 2].low != "of"):
        return None  # "a part of Ulm, specifically the ward", "one third with Ann, one with Bo"
    interrupts = main > comma
    named = frame[comma - 1].is_name
    if opener.low not in {"a", "an", "the", "one"} and not (
        interrupts and (opener.low in w.POSSESSIVES or opener.is_name)
    ):
        return None
    end = aside_end(frame, comma, comma + 1, main)
    if end is None or end - comma < 3 or not (named or (interrupts and frame[comma - 1].is_word)):
        return None
    inside = frame[comma + 1 : end - 1 if frame[end - 1].is_comma else end]
    about = head(inside)
    if about is None or (not interrupts and about.low in _ABSTRACT):
        return None
    if find_verb(inside, 0, len(inside)) is not None or _is_list(inside):
        return None
    antecedent = name_before(frame, comma)
    if opener.is_name or not named:
        antecedent = phrase_before(frame, comma, main) or ()
    whole = frame[subject_start(frame) : comma]
    if interrupts and not named and not any(x.is_comma or x.low == "and" for x in whole):
        antecedent = whole
    if not antecedent or (not interrupts and any(x.is_comma for x in inside)):
        return None
    if _other_thing(frame, comma, antecedent, inside, interrupts=interrupts):
        return None
    verb = inserted(copula(frame, main, antecedent))
    return clause.take(comma, end, (*antecedent, verb, *frame[comma + 1 : end]))


def _other_thing(
    frame: Sequence[Word],
    comma: int,
    antecedent: Sequence[Word],
    inside: Sequence[Word],
    *,
    interrupts: bool,
) -> bool:
    """Whether the words after the comma may be about something else than those before it."""
    opener = inside[0]
    if _another_kind(antecedent, inside, interrupts=interrupts) or frame[-1].is_comma:
        return True
    named = all(x.is_name for x in inside[1:] if x.is_word)
    if not interrupts and opener.low == "the" and named:
        return True  # "in the Mauritshuis, The Hague"
    places = {"in", "at", "near", "from", "to", "of"}
    if opener.is_name and places & {x.low for x in frame[max(0, comma - 4) : comma]}:
        return True  # "in Salem, Oregon, ..."
    if antecedent[-1].low in CALENDAR or any(x.low in {"and", "or"} for x in antecedent):
        return True
    first = next((k for k, x in enumerate(frame) if x is antecedent[0]), 0)
    before = frame[first - 1].low if first > 0 else ""
    if before in w.COORDINATORS | {"between"}:
        return True
    if before in {"in", "at", "near", "from"} and is_person(inside):
        return True  # "was born to Ann in Ulm, the queen of the south"
    if first > 2 and (
        (frame[first - 1].is_comma and frame[first - 2].is_name and first > subject_start(frame))
        or frame[first - 1].low in {"vs", "versus"}
        or frame[first - 2].low == "vs"  # a full stop may follow it
    ):
        return True  # "in Warren, Michigan, a suburb of ...", "Leonard vs. Duran, a fight"
    if len(antecedent) == 1 and _described(frame, first):
        return True  # "its own small Marina, the ..."
    # "the Beatles, a band": is or are?
    several = antecedent[0].low == "the" and antecedent[-1].is_name and is_plural(antecedent[-1])
    return several or len({number(inside), number(antecedent)} - {None}) > 1


def _another_kind(antecedent: Sequence[Word], inside: Sequence[Word], *, interrupts: bool) -> bool:
    """Whether the words cannot say what the antecedent is.

    "a hit in Peru, the first by a local band"; "A species of whale, the blue whale, ..."; "Knights
    Church, Dover, is old".
    """
    opener = inside[0]
    if not interrupts and (len(inside) < 2 or inside[1].low in _RANKS):
        return True
    if antecedent[0].low in {"a", "an"} and (opener.low == "the" or opener.is_name):
        return True
    return opener.is_name and all(x.is_name for x in antecedent)


def _described(frame: Sequence[Word], first: int) -> bool:
    """Whether a possessive or number and adjectives come before the word at ``first``."""
    k = first
    while k > 0 and frame[k - 1].is_word and frame[k - 1].text.islower():
        k -= 1
        if frame[k].low in w.PREPOSITIONS | w.AUXILIARIES | w.COORDINATORS:
            return False
        if frame[k].low in w.POSSESSIVES:
            return True
    return False


def participle(clause: Clause, comma: int, main: int) -> tuple[Clause, Clause] | None:
    """Split off "The tower, completed in 1889, ..." between a noun and its verb."""
    frame = clause.frame
    inner = after_adverbs(frame, comma + 1)
    low = frame[inner].low
    if inner + 1 >= len(frame) or frame[inner + 1].is_comma or low == "let":
        return None  # "his first album, Justified, was": one word may be a name
    known = low in verbs.PARTICIPLES | w.NAMING or verbs.is_ed_form(low)
    if main < comma or not known or not frame[comma - 1].is_word:
        return None
    end = aside_end(frame, comma, inner, main)
    antecedent = phrase_before(frame, comma, main)
    if end is None or antecedent is None:
        return None
    if _part_of_phrase(frame, antecedent) or _titled(frame, comma, end):
        return None
    if antecedent[-1].is_name and is_plural(antecedent[-1]) and antecedent[0].low == "the":
        return None  # "The Cyber Troops, led by": was or were?
    past = is_past_tense(frame[main]) or low not in _PRESENT or frame[comma + 1].low in _ONCE
    return clause.take(
        comma, end, (*antecedent, inserted(be(antecedent, past=past)), *frame[comma + 1 : end])
    )


def _part_of_phrase(frame: Sequence[Word], antecedent: Sequence[Word]) -> bool:
    """Whether it is the end of the subject only: "whale" of "A species of whale, feared ..."."""
    first = next((k for k, x in enumerate(frame) if x is antecedent[0]), 0)
    return first > subject_start(frame) and frame[first - 1].low in w.PREPOSITIONS


def _titled(frame: Sequence[Word], comma: int, end: int) -> bool:
    """Whether a title without quotes begins, which may hold commas: "titled Asia: Numbers, ..."."""
    named = any(x.low in w.NAMING for x in frame[comma + 1 : comma + 4])
    return named and any(x.text == ":" for x in frame[comma:end])


def gerund(clause: Clause, comma: int, main: int) -> tuple[Clause, Clause] | None:
    """Split off ", winning two prizes" at the end: the subject of the clause won them."""
    frame = clause.frame
    inner = after_adverbs(frame, comma + 1)
    if main > comma or inner + 1 >= len(frame) or frame[inner].is_name:
        return None
    low = frame[inner].low
    past = is_past_tense(frame[main])
    attached = low in w.PREPOSITIONS | _ATTACHED or frame[inner - 1].low == "not"
    finite = None if attached else verbs.finite_form(low, past=past)
    after = frame[inner + 1].low
    event = (low in _EVENTS and (low != "leading" or after == "to")) or (
        low == "making" and after in {"it", "them", "him", "her"}
    )
    if low == "leading" and not event:
        return None
    unclear = (
        _another_doer(frame, main, comma, past=past)
        or after in w.OBJECT_PRONOUNS
        or describes_noun(frame, comma, inner)
        or (frame[main].low in _BEGINNINGS and frame[main + 1].low in w.PREPOSITIONS)
    )
    if unclear and not event:
        return None  # "signed to the club, reuniting him with ..."
    if low == "making" and not event and after not in w.POSSESSIVES | {"a", "an"}:
        return None
    plain = frame[main].low not in w.AUXILIARIES or (event and frame[main].low in w.BE)
    if finite is None or not plain or _holds_clause(frame, main, comma):
        return None
    carried = (inserted("This"),) if event else subject(frame)
    if carried is None or any(x.text == ":" for x in carried):
        return None
    if any(x.low in {"and", "or"} for x in frame[inner + 1 :]) and _is_series(frame, inner):
        return None
    if carried[0].low not in {"he", "she", "it", "this"} and is_plural(carried[-1]) and not past:
        return None
    rest = [_second_gerund(frame, inner, k, past=past) for k in range(inner + 1, len(frame))]
    if any(_joined_gerund(rest, k) for k in range(1, len(rest))):
        return None
    return clause.take(
        comma, len(frame), (*carried, *frame[comma + 1 : inner], inserted(finite), *rest)
    )


def _another_doer(frame: Sequence[Word], main: int, comma: int, *, past: bool) -> bool:
    """Whether someone else or another time may be meant.

    "The text names X as the head, replacing Y", "She holds the record, scoring once in 2014".
    """
    dated = any(len(x.text) == 4 and x.text.isdigit() for x in frame[comma:])
    start = subject_start(frame)
    first = frame[start]
    named = any(x.is_name and x.low not in w.DETERMINERS for x in frame[start : start + 3])
    doer = named or first.low in w.SUBJECT_PRONOUNS - {"this", "that", "these", "those"}
    other = frame[comma - 1].is_name and frame[comma - 1].low not in CALENDAR
    return (dated and not past) or (not doer and other)


def _holds_clause(frame: Sequence[Word], main: int, comma: int) -> bool:
    """Whether there is a comma or a second clause between the verb and ``comma``."""
    doing = frame[main + 1].low  # "suggested skating, swimming and running"
    return (doing.endswith("ing") and len(doing) > 4) or any(
        frame[k].is_comma
        or frame[k].low
        in w.RELATIVES | w.CONTRASTS | w.SUBORDINATORS - {"as", "since", "before", "after"}
        or is_finite(frame, k)
        or (frame[k].low in verbs.GERUNDS and frame[k - 1].low not in w.PREPOSITIONS)
        or (frame[k].low == "to" and frame[k + 1].low in verbs.BASE_FORMS)
        for k in range(main + 1, comma)
    )


def _joined_gerund(words: Sequence[Word], k: int) -> bool:
    """Whether another -ing form is joined that was not turned into a finite verb."""
    joined = words[k - 1].low in {"and", "or"}
    return joined and words[k].low.endswith("ing") and len(words[k].text) > 4


def _second_gerund(frame: Sequence[Word], inner: int, k: int, *, past: bool) -> Word:
    """A finite form for the "becoming" of "regaining strength and becoming a storm" as well.

    Not for "keeping fit by playing and training hard".
    """
    if any(x.low in verbs.GERUNDS for x in frame[inner + 1 : k - 1]):
        return frame[k]
    finite = verbs.finite_form(frame[k].low, past=past) if frame[k - 1].low == "and" else None
    return frame[k] if finite is None else inserted(finite)


def including(clause: Clause, comma: int, main: int) -> tuple[Clause, Clause] | None:
    """Split off ", including X": that X is among them becomes a claim of its own."""
    frame = clause.frame
    such = frame[comma + 1].low == "such" and frame[comma + 2].low == "as" and main > comma
    if (not such and frame[comma + 1].low != "including") or frame[comma + 2].low in verbs.GERUNDS:
        return None
    if main > comma:
        end = aside_end(frame, comma, comma + 2, main)
        return None if end is None else clause.take(comma, end, frame)
    if any(x.is_comma for x in frame[main:comma]) or open_clause(frame, main, comma):
        return None
    end = aside_end(frame, comma, comma + 2, main)
    if end is None or (end < len(frame) and any(x.is_comma for x in frame[comma + 1 : end])):
        return None
    return clause.take(comma, end, frame[:end])


def with_amount(clause: Clause, comma: int, main: int) -> tuple[Clause, Clause] | None:
    """Split off ", with more than 80% of sales" at the end, with the clause in full as its text."""
    frame = clause.frame
    if frame[comma + 1].low != "with" or main > comma or comma + 3 >= len(frame):
        return None
    number_word = frame[comma + 2]
    if not number_word.is_number and number_word.low not in _AMOUNTS:
        return None
    if any(x.is_comma or x.low == "and" for x in frame[comma + 2 :]):
        return None
    return clause.take(comma, len(frame), frame)


def _is_series(frame: Sequence[Word], inner: int) -> bool:
    """Whether there are several, which is not split: ", winning A, losing B and drawing C"."""
    return any(x.is_comma for x in frame[inner:])


def _is_list(inside: Sequence[Word]) -> bool:
    """Whether it is a list and not an aside: "Anna, a nurse and Paul"."""
    return any(x.low in {"and", "or"} and not x.shielded for x in inside)
