"""What an aside speaks of and where it ends."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    find_verb,
    is_adverb,
    is_finite,
    is_past_tense,
    is_plural,
)
from franq_guard.claims.rules.lexer import Word


def aside_end(frame: Sequence[Word], comma: int, inner: int, main: int) -> int | None:
    """Position after the aside, its closing comma included; None when it has no clear end."""
    main_seen = main < comma
    if not main_seen and any(x.text == ":" and not x.shielded for x in frame[comma:main]):
        return None
    for k in range(inner, len(frame) - 1):
        if not frame[k].is_comma:
            continue
        j = after_adverbs(frame, k + 1)
        if not main_seen and is_finite(frame, j, loose=True) and k > inner:
            return k + 1
        if main_seen and (_new_clause(frame, j) or frame[j].low in w.RELATIVES - {"that"}):
            return k
    return len(frame) if main_seen else None


def _new_clause(frame: Sequence[Word], j: int) -> bool:
    joins = frame[j].low in w.COORDINATORS | w.CONTRASTS | {"so"}
    return joins and find_verb(frame, j + 1, min(len(frame), j + 8), loose=True) is not None


def phrase_before(frame: Sequence[Word], comma: int) -> tuple[Word, ...] | None:
    """The noun phrase that ends before ``comma``."""
    k = comma
    titled = frame[comma - 1].text == ")"  # "the Association for Linguistics (AL)"
    while k > 0 and (_in_phrase(frame, k - 1) or (titled and _links(frame, k - 1))):
        k -= 1
    phrase = list(frame[k:comma])
    while phrase and (is_adverb(phrase[0]) or not phrase[0].is_word):
        if phrase[0].text in {'"', "“", "*", "("}:
            break
        phrase.pop(0)
    return tuple(phrase) if any(x.is_word for x in phrase) else None


def _links(frame: Sequence[Word], k: int) -> bool:
    """A preposition inside a long name."""
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
    links = {"of", "the", "de", "van", "von", "da", "la"}
    k = comma
    while k > 0 and (frame[k - 1].is_name or frame[k - 1].low in links or _initial(frame, k - 1)):
        k -= 1
    while k < comma and (not frame[k].is_name or (frame[k].low in w.PREPOSITIONS)):
        k += 1
    if k < comma and k > 0 and frame[k - 1].low == "the":
        k -= 1
    return tuple(frame[k:comma])


def _initial(frame: Sequence[Word], k: int) -> bool:
    """The full stop of "A. R. Rahman"."""
    return k > 0 and frame[k].text == "." and len(frame[k - 1].text) == 1 and frame[k - 1].is_name


def be(noun: Sequence[Word], *, past: bool) -> str:
    """The form of "be" that agrees with ``noun``."""
    plural = is_plural(noun[-1]) and not noun[-1].is_name
    return ("were" if past else "are") if plural else ("was" if past else "is")


def copula(frame: Sequence[Word], main: int, antecedent: Sequence[Word]) -> str:
    """Say "is" of a place after a preposition, else use the tense of the clause."""
    first = next((k for k, x in enumerate(frame) if x is antecedent[0]), 0)
    if first > 0 and frame[first - 1].low in w.PREPOSITIONS:
        return "is"
    return be(antecedent, past=is_past_tense(frame[main]))
