"""Stage: a second clause that leaves its verb out: "Exports grew by 3%, imports by 5%."."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.finite_verb import is_finite, main_verb, subject_start
from franq_guard.claims.rules.lexer import Word, inserted
from franq_guard.claims.rules.standing import parts

_MAX_SUBJECT = 4


def _preposition(frame: Sequence[Word], start: int, stop: int) -> int | None:
    return next((k for k in range(start, stop) if frame[k].low in w.PREPOSITIONS), None)


def _parallel(frame: Sequence[Word], first: int, body: int, second: int) -> bool:
    """Whether both halves read "noun phrase, the same preposition, things of one kind"."""
    if second == body or frame[second].low != frame[first].low:
        return False
    if any(is_finite(frame, k, loose=True) for k in range(body, len(frame))):
        return False
    return _alike(frame[0], frame[body]) and _alike_or_names(frame[first + 1], frame[second + 1])


def _alike_or_names(word: Word, other: Word) -> bool:
    """As `_alike`, but False for two bare words: "born in Salem, Oregon in America"."""
    return _alike(word, other) and (word.is_number or word.low == "the" or word.low == "a")


def _alike(word: Word, other: Word) -> bool:
    """Whether two phrases begin alike: both with a number, both with "the", both bare."""
    if word.is_number or other.is_number:
        return word.is_number and other.is_number
    if word.low in w.DETERMINERS or other.low in w.DETERMINERS:
        return word.low == other.low and word.low in {"the", "a"}
    return word.is_word and other.is_word


def gapped(clause: Clause) -> list[Clause]:
    """The clause split at its only comma, if a noun phrase and the same preposition follow.

    The words of the verb are carried over: "Exports grew by 3%." and "Imports grew by 5%.".
    """
    frame = clause.frame
    commas = [k for k, x in enumerate(frame) if x.is_comma]
    if len(commas) != 1 or subject_start(frame) > 0:
        return [clause]
    main = main_verb(frame, 0)
    if main is None or commas[0] < main:
        return [clause]
    comma = commas[0]
    body = min(comma + 1, len(frame) - 1)
    body += frame[body].low == "and"
    first = _preposition(frame, main + 1, comma)
    second = _preposition(frame, body, min(len(frame) - 1, body + _MAX_SUBJECT + 1))
    if first is None or second is None or not clause.can_cut(comma):
        return [clause]
    if not _parallel(frame, first, body, second):
        return [clause]
    if frame[0].low in w.SUBJECT_PRONOUNS or frame[main].low in w.BE:
        return [clause]  # "He is chief editor for A, and chief critic for B"
    verb = [inserted(x.text) for x in frame[main:first]]
    left, right = clause.cut(comma, ())
    found = parts((left, Clause((*frame[body:second], *verb, *frame[second:]), right.covered)))
    return [clause] if found is None else list(found)
