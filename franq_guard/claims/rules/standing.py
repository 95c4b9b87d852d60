"""Whether words form a complete sentence; a cut whose parts do not is not made."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.agreement import agree
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.finite_verb import (
    is_adverb,
    is_plural,
    main_verb,
    subject_start,
)
from franq_guard.claims.rules.lexer import Word, inserted

_NO_END = (
    (w.PREPOSITIONS - word_set("in on off up out over about inside outside before below above"))
    | w.COORDINATORS
    | w.POSSESSIVES
    | word_set("a an the very every than if because whether which who whose")
)
_SUBJECTS = frozenset({"he", "she", "they", "we"})
# A sentence that begins with one of these has its subject after the phrase, or is none.
_FRONTED_ONLY = word_set("despite with without unlike like because given due especially")
_NO_START = w.COORDINATORS | w.RELATIVES - word_set("that what where whose") | w.OBJECT_PRONOUNS


def parts(cut: tuple[Clause, Clause] | None) -> tuple[Clause, Clause] | None:
    """The two clauses of a cut if each of them is a complete sentence, else None."""
    return cut if cut is not None and all(stands(c) for c in cut) else None


def stands(clause: Clause) -> bool:
    """Whether the clause has a subject, a finite verb that agrees, and a complete end.

    The beginning of the sentence itself is not examined: if it is odd, it was written that way.
    """
    frame = clause.frame
    if frame and frame[-1].is_word:
        frame = (*frame, inserted("."))
    start = subject_start(frame)
    verb = main_verb(frame, start)
    if verb is None and frame[0].index == 0 and start == 0:
        verb = _last_verb(frame)
    if verb is None or not closed(frame):
        return False
    phrase = [x for x in frame[start:verb] if not is_adverb(x)]
    if frame[verb].low in w.PRONOUN_VERBS:
        whole = frame[0].index == 0 or not all(_light(x) for x in frame[verb + 1 :] if x.is_word)
        return whole and not any(x.is_word for x in phrase)  # no "but it's not"
    rest = [x for x in frame[verb + 1 :] if x.is_word]
    if frame[verb].low in w.BE and (rest or frame[0].index > 0) and all(map(_light, rest)):
        return False  # "He was, however.", "and a total of 40 were"
    original = (
        bool(phrase)
        and phrase[0].index >= 0
        and all(
            b.index == a.index + 1
            for a, b in zip(frame[start:verb], frame[start + 1 : verb + 1], strict=True)
        )
        and frame[0].index == 0
    )
    if original:
        later = any(x.is_comma or x.low in _SUBJECTS for x in phrase[1:])
        return frame[0].low not in _FRONTED_ONLY or not (start == 0 or later)
    return bool(phrase) and _is_subject(phrase) and agree(phrase, frame, verb)


def _light(word: Word) -> bool:
    return is_adverb(word) or word.low in w.OPENERS


def _last_verb(frame: Sequence[Word]) -> int | None:
    """A verb that ends the clause and may be a noun as well: "A worn chain skips."."""
    k = max((j for j, x in enumerate(frame) if x.is_word), default=0)
    opened = frame[0].low in {"a", "an", "the"} and frame[k].low in verbs.THIRD_PERSON_FORMS
    inside = frame[1:k]
    plain = all(x.is_word and x.low not in w.PREPOSITIONS | w.COORDINATORS for x in inside)
    return k if opened and plain and 0 < len(inside) < 4 and not is_plural(inside[-1]) else None


def closed(frame: Sequence[Word]) -> bool:
    """Whether the last word may end a sentence."""
    words = [x for x in frame if x.is_word]
    last = words[-1] if words else None
    if len(frame) > 2 and any(x.text == ";" and not x.shielded for x in frame[-3:]):
        return False
    written = len(frame) > 1 and frame[-1].text in ".!?" and frame[-1].index == frame[-2].index + 1
    if last is None or (last.low in _NO_END and not last.is_name and not written):
        return False
    before = next((x for x in reversed(words) if not is_adverb(x)), last)
    if last.low in _SUBJECTS or (before is not last and before.low in w.RELATIVES | w.COORDINATORS):
        return False  # "after he (and colleagues)", "a wall that physically (and ...)", "but still"
    opened = sum(x.text in "([“" for x in frame) - sum(x.text in ")]”" for x in frame)
    return opened == 0


def _is_subject(phrase: Sequence[Word]) -> bool:
    """Whether the words before the verb are one noun phrase, without a verb in it."""
    first = phrase[0]
    if len(phrase) == 1 and first.low in {"more", "most", "less"}:
        return False  # "but more recently has a shop"
    if first.low in _NO_START or not (
        first.is_word or first.text in {'"', "“", "*", "`", "$", "€"}
    ):
        return False
    if first.low in {"down", "up", "off", "out", "with", "as", "like", "than"}:
        return False
    if first.low in verbs.PLAIN_BASE_FORMS and not first.is_name:
        return False
    if verbs.is_ed_form(first.low) and not first.is_name:
        return False
    if first.low in verbs.GERUNDS and len(phrase) > 2 and not first.is_name:
        return False
    commas = sum(x.is_comma for x in phrase)
    if commas == 1 or any(x.text in {";", ":"} and not x.shielded for x in phrase):
        return False
    if phrase[-1].low in w.COORDINATORS | w.PREPOSITIONS:
        return False
    return not any(x.low in w.PERSONAL_PRONOUNS and not x.is_name for x in phrase[1:])
