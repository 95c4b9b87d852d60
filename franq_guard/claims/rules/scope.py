"""What a sentence says of all its clauses: a condition, a place, a time.

"In a pool, people swim, but there are no seats.": without its first words the second clause is
another statement. Such a sentence is not cut into clauses, nor one whose main verb is not certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from franq_guard.basics.words import CALENDAR, word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    is_adverb,
    is_past_tense,
    subject_start,
)
from franq_guard.claims.rules.lexer import Word

_CONDITIONS = word_set(
    "if unless whenever whether provided providing suppose supposing should given"
    " whatever whoever wherever whichever"
)
_TIMES = word_set(
    "year years month months week weeks day days decade decades century centuries season time night"
    " morning evening afternoon summer winter spring autumn fall age death career period childhood"
    " youth war era reign moment hour hours minute minutes retirement later ago"
)
_HOLDS = word_set("when if because that which who where whether while how what whose unless")
_NARRATED = word_set("after before since until when while as during once upon following although")
_CONCESSIVE = word_set("despite although though while whereas unlike")
_LINKS = (
    "in addition", "in fact", "for example", "for instance", "on the other hand", "as a result",
    "in contrast", "by contrast", "in summary", "in short", "in conclusion", "of course",
    "on the other side", "in general", "in turn",
)  # fmt: skip


def limited(frame: Sequence[Word], start: int, main: int) -> bool:
    """Whether the words before the subject at ``start`` limit what every clause says.

    They do not if they only link sentences ("In addition, ...") or concede something, nor if they
    are a time of something past: "In 1903 she left Rome and moved to Ulm.".
    """
    opening = frame[:start]
    if any(x.low in _CONDITIONS and not x.shielded for x in frame[:main]) or _each_time(opening):
        return True
    linked = " ".join(x.low for x in opening[:4])
    if not opening or linked.startswith(_LINKS) or opening[0].low in _CONCESSIVE:
        return False
    if all(is_adverb(x) or x.low in w.OPENERS or not x.is_word for x in opening):
        return False
    timed = opening[0].low in _NARRATED or any(
        x.is_number or x.low in _TIMES | CALENDAR for x in opening
    )
    return not (timed and is_past_tense(frame[main]))


def _each_time(opening: Sequence[Word]) -> bool:
    return any(a.low in {"every", "each", "any"} and b.low == "time" for a, b in pairwise(opening))


def simple(frame: Sequence[Word], k: int) -> bool:
    """Whether the clause before a comma at ``k`` is so simple that the comma may end it."""
    words = [x for x in frame[:k] if not x.shielded]
    return not any(x.low in _HOLDS for x in words) and not _each_time(words)


def unsure_verb(frame: Sequence[Word], main: int) -> bool:
    """Whether the main verb may be none ("Such forged passes can be used") or is cut off.

    "He was, however, arrested and held."
    """
    inserted = main + 3 < len(frame) and frame[main + 1].is_comma and frame[main + 3].is_comma
    before = w.COORDINATORS | {"such", "other", "certain", "various"}
    joined = frame[main - 1].low in before and verbs.is_ed_form(frame[main].low)
    start = subject_start(frame)
    pronoun = frame[start].low in w.PERSONAL_PRONOUNS and not all(
        map(is_adverb, frame[start + 1 : main])
    )
    if (pronoun and not frame[start + 1].is_comma) or _verb_after_aside(frame, main):
        return True  # "he weight trained", "The club rules book, an old one, is here"
    return joined or (inserted and frame[main].low in w.AUXILIARIES)


def _verb_after_aside(frame: Sequence[Word], main: int) -> bool:
    """Whether "is" or "has" follows an aside after the verb, so that it may be the only verb."""
    commas = [k for k, x in enumerate(frame[:-2]) if x.is_comma and k > main]
    if len(commas) < 2 or frame[commas[0] + 1].low in w.COORDINATORS | w.RELATIVES:
        return False
    return frame[after_adverbs(frame, commas[1] + 1)].low in w.FINITE_AUXILIARIES
