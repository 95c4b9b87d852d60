"""The second predicate of a coordination: what it shares with the first one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.doubts import (
    amount,
    complement,
    has_described,
    has_object,
    infinitive,
    may_be_noun,
    maybe_adjective,
    modifier,
)
from franq_guard.claims.rules.finite_verb import (
    after_adverbs,
    find_verb,
    is_adverb,
    is_finite,
    is_past_tense,
    opens_noun_phrase,
    subject,
)
from franq_guard.claims.rules.lexer import Word

_NAMING_VERBS = word_set(
    "named renamed called appointed elected declared crowned considered made dubbed titled retitled"
    " rebranded voted ranked rated awarded given granted"
)
_WHEN = frozenset({"next", "following", "same", "day", "year", "month", "week", "night"})
_AT_PRESENT = frozenset({"now", "currently", "today", "still"})
_DO = frozenset({"do", "does", "did", "don't", "doesn't", "didn't"})
_AFTER_BORN = word_set(
    "raised reared educated schooled buried baptised baptized christened adopted brought named"
    " called bred taught trained orphaned"
)
_NO_PASSIVE = verbs.INTRANSITIVE_PASTS | {"became", "married"}


def carried_words(
    frame: Sequence[Word], main: int, body: int, reported: int | None
) -> tuple[Word, ...] | None:
    """The words that the predicate at ``body`` shares with the first one; None: no predicate."""
    shared = subject(frame) if reported is None else tuple(frame[:reported])
    if shared is None or shared[0].low in {"here", "there"}:
        return None
    if any(x.text == ":" and not x.shielded for x in frame[main:body]):
        return None
    k = after_adverbs(frame, body)
    low = frame[k].low
    if complement(frame, main, k) or modifier(frame, main, k):
        return None
    auxiliary = (frame[main],) if frame[main].low in w.FINITE_AUXILIARIES else ()
    if _unclear_voice(frame, main, k) or (reported is not None and _either_says(frame, main, k)):
        return None
    if (
        auxiliary
        and low != "had"
        and not has_described(frame, main, k)
        and verbs.is_participle(low)
        and _is_passive(frame, main, k)
        and not (is_past_tense(frame[main]) and frame[body].low in _AT_PRESENT)
    ):
        return (*shared, *auxiliary)
    series = frame[body - 1].is_comma and is_past_tense(frame[main])
    if maybe_adjective(frame, k) and not series:
        return None
    if _noun_or_verb(frame, main, k) or _described_as(frame, main, k):
        return None
    if not _base_or_past(frame, main, k) and (same_tense(frame, main, k) or is_finite(frame, k)):
        return shared
    modal = base_predicate(frame, main, body)
    return None if modal is None else (*shared, *modal)


def _base_or_past(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether a form that is base and past may go on a modal or "to": "will raise X and cut Y"."""
    return frame[k].low in verbs.UNCHANGED and any(
        not x.is_name and (x.low in w.MODALS or (x.low == "to" and after.low in verbs.BASE_FORMS))
        for x, after in pairwise(frame[main:k])
    )


def _noun_or_verb(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether the word at ``k`` may be a noun with a verb after it: "and plans failed"."""
    noun = frame[k].low in verbs.PLURAL_NOUN_TOO and is_past_tense(frame[main])
    pronoun = k + 1 < len(frame) and frame[k + 1].low in w.SUBJECT_PRONOUNS
    return noun and not pronoun and find_verb(frame, k + 1, len(frame), loose=True) is not None


def _either_says(frame: Sequence[Word], reported: int, k: int) -> bool:
    """Whether who says it may do it, too: "He notes that the price is fair and offers a gift"."""
    speaks = any(x.low in w.COMPLEMENT_VERBS for x in frame[:reported])
    modal = frame[reported].low in w.MODALS and frame[k].low in verbs.BASE_FORMS
    one = frame[reported - 1].low == "it" or frame[k].low in w.AUXILIARIES or modal
    return speaks and not one


def _described_as(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether "was" may be left out: "was the third final and billed as the greatest"."""
    low = frame[k].low
    formed = verbs.is_ed_form(low) and low not in verbs.INTRANSITIVE_PASTS
    after = frame[k + 1].low if k + 1 < len(frame) else ""
    return frame[main].low in w.BE and formed and after in w.PREPOSITIONS


def base_predicate(frame: Sequence[Word], main: int, body: int) -> tuple[Word, ...] | None:
    """The modal that a base form at ``body`` shares, () if it needs none; None: no predicate."""
    k = after_adverbs(frame, body)
    low = frame[k].low
    if low not in verbs.BASE_FORMS or not has_object(frame, k) or infinitive(frame, main, body):
        return None
    first = frame[main].low
    if _helped(frame, main, k):
        return None
    if first in w.MODALS - _DO and frame[after_adverbs(frame, main + 1)].low in verbs.BASE_FORMS:
        return (frame[main],)
    perfect = first == "have" and frame[after_adverbs(frame, main + 1)].low in verbs.PARTICIPLES
    plural = first in {"are", "have"} and not perfect and low in verbs.PLAIN_BASE_FORMS | {"return"}
    plain = first in verbs.BASE_FORMS and first not in w.FINITE_AUXILIARIES
    return () if plural or plain else None


def _helped(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether someone else may do both: "can help people see the risk and take care"."""
    j = after_adverbs(frame, main + 1)
    has_verb = frame[j + 1].low in verbs.BASE_FORMS
    acts = any(x.low in verbs.PLAIN_BASE_FORMS for x in frame[j + 2 : k])
    return frame[j].low in {"help", "let", "make"} and not has_verb and acts


def same_tense(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether an ambiguous form counts as a verb because it has the tense of the first verb."""
    word = frame[k]
    if word.is_name or not word.is_word or k + 1 >= len(frame):
        return False
    following = frame[k + 1].low
    if is_past_tense(frame[main]):
        named = word.low in w.NAMING and following not in {"at", "on", "for"}
        return is_past_tense(word) and following != "by" and not named
    if frame[main].low in verbs.BASE_FORMS - {"have", "do"}:
        return False
    known = word.low in verbs.THIRD_PERSON_FORMS
    ends = word.low.endswith("s") and word.low not in verbs.BASE_FORMS  # not "address"
    guessed = ends and opens_noun_phrase(frame[k + 1]) and following != "that"
    return (known or guessed) and following not in {"of", *w.COORDINATORS}


def _unclear_voice(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether it is unclear if the second form is passive too: "was captured, tried for ..."."""
    if frame[main].low not in w.BE:
        return False
    first, low = frame[after_adverbs(frame, main + 1)].low, frame[k].low
    both = all(verbs.is_participle(x) for x in (first, low))
    if not both or low in _NO_PASSIVE | verbs.PURE_PASTS or _is_passive(frame, main, k):
        return False
    timed = any(x.low in _WHEN for x in frame[k + 1 : k + 4])  # "and beheaded the next day"
    return k + 1 >= len(frame) or timed or not opens_noun_phrase(frame[k + 1])


def another_voice(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether it may be passive in a series: "was raised to X, made a knight, and was named Y".

    Or an adjective: "is due to new habits, increased sales and weakened rules".
    """
    after = frame[min(k + 1, len(frame) - 1)]
    described = verbs.is_ed_form(frame[k].low) and may_be_noun(after) and not is_adverb(after)
    if described and frame[main].low in w.AUXILIARIES:
        return True
    named = frame[main].low in w.BE and frame[k].low in _NAMING_VERBS
    return named and not _is_passive(frame, main, k)


def _is_passive(frame: Sequence[Word], main: int, k: int) -> bool:
    """Whether the auxiliary is shared: "was founded in 1890 and renamed in 1900"."""
    low = frame[k].low
    first = after_adverbs(frame, main + 1)
    if frame[first].low == "born" and low not in _AFTER_BORN:
        return False  # "was born in Ulm and relocated to Arden"
    passive = verbs.is_participle(frame[first].low)
    if not passive or low in _NO_PASSIVE:
        return False
    after = frame[k + 1] if k + 1 < len(frame) else None
    if frame[main].low in w.BE:
        if amount(frame, k + 1):
            return False  # "was certified gold and sold over 42,000 copies"
        if after is not None and after.is_word and low not in _NAMING_VERBS:
            # "was born in 1900 and received honours" is active, "and sent home" is passive
            return after.low in w.PREPOSITIONS | w.COORDINATORS | w.SUBORDINATORS or (
                is_adverb(after) or after.is_number or after.low in {"to", "home", "one", "again"}
            )
        return after is None or not opens_noun_phrase(after) or after.is_name or after.is_number
    return low not in verbs.PURE_PASTS
