"""The antecedent of an aside (what it is about), and where the aside ends."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.agreement import agree, head, number, verb_number
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    find_verb,
    is_adverb,
    is_finite,
    is_past_tense,
    is_plural,
    subject_start,
)
from franq_guard.claims.rules.lexer import Word

_AGENTS = ("er", "or", "ist", "ian", "ant", "ess", "man", "eer", "yst", "ent", "yer")
PEOPLE = word_set(
    "son daughter wife husband mother father brother sister friend friends child people"
    " men women him them her king queen prince princess boy girl guy cousin uncle aunt parents"
    " family couple team band group members fans spouse partner rival rivals chief hero heroine"
    " character coach judge pope duke soldiers guests students children twins siblings"
    " grandfather grandmother grandson granddaughter nephew niece stepson stepdaughter widow"
    " girlfriend boyfriend fiancé fiancée bride heir pupil disciple ally lover person somebody"
    " someone baby infant saint citizen native graduate genius bishop lady"
)
"""Nouns for persons that no ending shows."""

_PLACING = frozenset({"to", "for", "from", "of", "on", "at", "in", "by"})
_EXAMPLES = frozenset({"including", "such"})


def aside_end(frame: Sequence[Word], comma: int, inner: int, main: int) -> int | None:
    """The position after the aside and its closing comma; None if its end is not clear."""
    main_seen = main < comma
    if not main_seen and any(x.text == ":" and not x.shielded for x in frame[comma:main]):
        return None
    for k in range(inner, main if not main_seen else 0):
        if frame[k].is_comma and after_adverbs(frame, k + 1) == main:
            return k + 1
    for k in range(inner, len(frame) - 1):
        if not frame[k].is_comma:
            continue
        j = after_adverbs(frame, k + 1)
        if not main_seen and is_finite(frame, j, loose=True) and k > inner:
            return k + 1
        if main_seen and _unclear(frame, comma, j):
            return None
        if main_seen and _new_clause(frame, j):
            return k
        if (
            main_seen
            and frame[j].low in w.COORDINATORS
            and (j + 1 == len(frame) or frame[j + 1].low in w.PREPOSITIONS)
        ):
            return None  # "by farmers, who feared it, and by the Church"; an answer cut at "and"
    return len(frame) if main_seen else None


def _unclear(frame: Sequence[Word], comma: int, j: int) -> bool:
    """Whether the words at ``j`` need what the aside says, or the aside may end before them.

    ", who robbed a shop, which ..."; "sent Al Fox, who robbed a shop, to prison".
    """
    if frame[j].low in w.RELATIVES - {"that"}:
        return True
    return frame[j].low in _PLACING and frame[comma + 1].low not in _EXAMPLES


def _new_clause(frame: Sequence[Word], j: int) -> bool:
    joins = frame[j].low in w.COORDINATORS | w.CONTRASTS | {"so"}
    return joins and find_verb(frame, j + 1, min(len(frame), j + 8), loose=True) is not None


def phrase_before(frame: Sequence[Word], comma: int, main: int) -> tuple[Word, ...] | None:
    """The noun phrase that ends before ``comma``; ``main`` is the verb of the clause."""
    k = comma
    titled = frame[comma - 1].text == ")"  # "the Association for Linguistics (AL)"
    while k > 0 and (_in_phrase(frame, k - 1) or (titled and _links(frame, k - 1))):
        if k - 1 == main:
            break
        k -= 1
        if not frame[k].shielded and _opens(frame, k):
            break
    held = k - 1 != main or frame[main].low in w.AUXILIARIES
    if frame[main].low in w.MODALS and after_adverbs(frame, main + 1) == comma - 1:
        return None  # "It can shed, which", "They do not shed, which"
    if k > 0 and held and not titled and _may_hold_verb(frame, k, comma):
        return None
    phrase = list(frame[k:comma])
    while phrase and (is_adverb(phrase[0]) or not phrase[0].is_word):
        if phrase[0].text in {'"', "“", "*", "("}:
            break
        phrase.pop(0)
    return tuple(phrase) if any(x.is_word for x in phrase) else None


def _opens(frame: Sequence[Word], k: int) -> bool:
    """Whether a noun phrase begins at ``k``: words before an article are not part of it."""
    return frame[k].low in {"a", "an", "the", *w.POSSESSIVES} and not frame[k].is_name


def _may_hold_verb(frame: Sequence[Word], k: int, comma: int) -> bool:
    """Whether a bare phrase ("collected samples") may begin with a verb of the clause."""
    low = frame[k].low
    if comma - k < 2 or frame[k].is_name or frame[k - 1].low in w.PREPOSITIONS:
        return False
    return (
        low in verbs.BASE_FORMS | verbs.PARTICIPLES or low in verbs.GERUNDS or verbs.is_ed_form(low)
    )


def _links(frame: Sequence[Word], k: int) -> bool:
    """Whether the word is a preposition inside a long name."""
    names = 0 < k < len(frame) - 1 and frame[k - 1].is_name and frame[k + 1].is_name
    return names and frame[k].low in {"for", "on", "in", "of", "to", "and"}


def _in_phrase(frame: Sequence[Word], k: int) -> bool:
    word = frame[k]
    if word.shielded or word.text in {"(", ")", '"', "“", "”"}:
        return True
    if word.low == "of":
        return k + 1 < len(frame) and (frame[k + 1].is_name or frame[k + 1].is_number)
    if word.low in {"and", "&"}:
        return 0 < k < len(frame) - 1 and frame[k - 1].is_name and frame[k + 1].is_name
    stops = w.PREPOSITIONS | w.COORDINATORS | w.SUBORDINATORS | w.RELATIVES | w.AUXILIARIES
    if word.low in stops or word.is_comma or word.text in {";", ":", "—", "–"}:
        return False
    return not is_finite(frame, k, loose=True)


def name_before(frame: Sequence[Word], comma: int) -> tuple[Word, ...]:
    """The run of capitalised words before ``comma`` (with "of", "the", "de" inside it)."""
    links = {"of", "the", "de", "van", "von", "da", "la", "del", "do", "di", "du", "der", "des"}
    k = comma
    while k > 0 and (frame[k - 1].is_name or frame[k - 1].low in links or _initial(frame, k - 1)):
        k -= 1
    while k < comma and (not frame[k].is_name or (frame[k].low in w.PREPOSITIONS)):
        k += 1
    if k < comma and k > 0 and frame[k - 1].low == "the":
        k -= 1
    return tuple(frame[k:comma])


def _initial(frame: Sequence[Word], k: int) -> bool:
    """Whether the word is the full stop of an initial, as in "A. R. Rahman"."""
    return k > 0 and frame[k].text == "." and len(frame[k - 1].text) == 1 and frame[k - 1].is_name


def be(noun: Sequence[Word], *, past: bool) -> str:
    """The form of "be" that agrees with ``noun``."""
    several = is_plural(noun[-1]) and not noun[-1].is_name and noun[0].low != "one"
    plural = several or any(x.low == "and" for x in noun)
    return ("were" if past else "are") if plural else ("was" if past else "is")


def copula(frame: Sequence[Word], main: int, antecedent: Sequence[Word]) -> str:
    """The "be" of an aside: "is" for a place after a preposition, else in the clause's tense."""
    first = next((k for k, x in enumerate(frame) if x is antecedent[0]), 0)
    if first > 0 and frame[first - 1].low in w.PREPOSITIONS:
        return "is"
    return be(antecedent, past=is_past_tense(frame[main]))


def certain(
    frame: Sequence[Word], comma: int, main: int, antecedent: Sequence[Word], verb: int | None
) -> bool:
    """Whether the relative clause after ``comma`` can only be about ``antecedent``.

    ``verb`` is the verb whose subject is the pronoun; it must agree with the antecedent in number.
    No other noun phrase before the comma may fit as well: no other person for "who" and "whose", no
    other thing of the same number for "which".
    """
    first = next((k for k, x in enumerate(frame) if x is antecedent[0]), None)
    if first is None or all(x.is_number or not x.is_word for x in antecedent):
        return False
    if first > 0 and frame[first - 1].low == "as":
        return False  # "four served as soldiers, who ..."
    if (verb is not None and not agree(antecedent, frame, verb)) or frame[
        first - 1
    ].low in w.COORDINATORS:
        return False
    start = subject_start(frame) if main > comma else _after_verb(frame, main, first)
    rivals = _rivals(frame[start:first])
    if frame[comma + 1].low in {"who", "whose"}:
        placed = frame[first - 1].low in {"from", "in", "at", "near", "of"} and bool(rivals)
        return not placed and not any(is_person(x) for x in rivals)
    if main < comma and frame[main].low in w.BE and start > main + 1:  # "were taken from them"
        rivals += _rivals(frame[subject_start(frame) : main])
    wanted = None if verb is None else verb_number(frame, verb)
    return not rivals or (
        wanted is not None
        and number(antecedent) == wanted
        and all(number(x) not in {None, wanted} for x in rivals)
    )


def _after_verb(frame: Sequence[Word], main: int, stop: int) -> int:
    """The end of the last verb before ``stop``, with all its words: after "must be given"."""
    k = main + 1
    if frame[main].low in w.AUXILIARIES:
        forms = w.AUXILIARIES | verbs.PARTICIPLES | verbs.BASE_FORMS
        while k < len(frame) - 1 and (is_adverb(frame[k]) or frame[k].low in forms):
            k += 1
    for j in range(k, stop):
        if frame[j].low in {"and", "but"} and is_finite(
            frame, after_adverbs(frame, j + 1), loose=True
        ):
            k = after_adverbs(frame, j + 1) + 1  # "lived in Ulm and moved to Paris, which ..."
    return k


def _rivals(words: Sequence[Word]) -> list[Sequence[Word]]:
    """The other noun phrases: the words between verbs, prepositions and conjunctions."""
    stops = w.PREPOSITIONS | w.COORDINATORS | w.AUXILIARIES | w.SUBORDINATORS | {"that"}
    out: list[list[Word]] = [[]]
    for word in words:
        if word.low in stops or word.is_comma:
            out.append([])
        elif not is_adverb(word) and (out[-1] or not _verbal(word)):
            out[-1].append(word)
    return [x for x in out if any(y.is_word for y in x)]


def _verbal(word: Word) -> bool:
    low = word.low
    return not word.is_name and (
        verbs.is_participle(low) or low in verbs.GERUNDS or low in w.NAMING
    )


def is_person(phrase: Sequence[Word]) -> bool:
    """Whether the phrase may name a person."""
    noun = head(phrase)
    return noun is not None and (
        noun.is_name or noun.low in PEOPLE or noun.low.removesuffix("s").endswith(_AGENTS)
    )
