"""Sentences that stay whole: marks in disorder, no clause of their own, a speaker at the end."""

from __future__ import annotations

from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import main_verb, subject_start
from franq_guard.claims.rules.lexer import Word
from franq_guard.claims.sentences import FIRST_NAMES

_NO_END = word_set(
    "mr mrs ms dr st mt vs prof rev hon gen col lt sgt capt sen rep gov pres ft no fig vol approx"
) | {name.lower() for name in FIRST_NAMES}
"""Abbreviations after which no sentence ends."""
_SAYING = word_set(
    "say says said claim claims claimed argue argues argued believe believes believed reported"
    " suggest suggests suggested announced confirmed"
)
_MAX_SPEAKER = 8
_SUPPOSED = word_set("may might could can would will if imagine suppose say")
_SO_MUCH = frozenset({"more", "less", "fewer", "higher", "lower", "longer", "larger", "older"})
_OPEN_START = frozenset({"where", "which", "who", "whom", "whose"})


def stays_whole(words: Sequence[Word]) -> bool:
    """Whether quotes do not pair, a second sentence may begin, or a list has semicolons."""
    if sum(x.text == '"' for x in words) % 2 or any(x.text == "\\" for x in words):
        return True
    if sum(x.text == "“" for x in words) != sum(x.text == "”" for x in words):
        return True
    plain = [x for x in words if not x.shielded]
    if sum(x.text == ":" for x in plain) > 1 or words[-1].text == ":":
        return True
    if _one_case(words) or _no_clause(words) or _reported_at_end(plain) or _set_in_dashes(plain):
        return True
    colon = next((k for k, x in enumerate(plain) if x.text == ":"), len(plain))
    return any(x.text == ";" for x in plain[colon:]) or any(
        _ends(plain, k) for k in range(1, len(plain) - 1)
    )


def _one_case(words: Sequence[Word]) -> bool:
    """Whether it makes up one case: "An example of it is a ...", "For example, one may ..."."""
    first = [x.low for x in words[:4]]
    if first[:2] in (["for", "example"], ["for", "instance"]):
        return any(x.low in _SUPPOSED and not x.is_name for x in words)
    return first[0] in {"a", "an", "one", "another"} and "example" in first


def _no_clause(words: Sequence[Word]) -> bool:
    """Whether it only adds to another sentence: "Probably because ...", "where c is ..."."""
    first = [x.low for x in words[:3]]
    if first == ["you", "know", ","] or (first[0] == "the" and set(first[1:2]) & _SO_MUCH):
        return True  # "The more she ate, the more she slept."
    if first[0] in w.SUBORDINATORS and main_verb(words, subject_start(words)) is None:
        return True  # "When you are ill, when you are old"
    return first[0] in _OPEN_START or "because" in first[1:2]


def _reported_at_end(words: Sequence[Word]) -> bool:
    """Whether the last words name the speaker: ", officials say", ", according to X"."""
    comma = max((k for k, x in enumerate(words) if x.is_comma), default=-1)
    tail = [x.low for x in words[comma + 1 :] if x.is_word]
    if comma < 1 or not tail:
        return False
    if len(tail) > 1 and tail[-2] in w.BE:
        return False  # ", but no fire was reported"
    short = len(tail) <= _MAX_SPEAKER
    return tail[0] == "according" or (short and bool({tail[0], tail[-1]} & _SAYING))


def _set_in_dashes(words: Sequence[Word]) -> bool:
    """Whether the sentence goes on with "and" or "but" after a second dash: "A—B—and C"."""
    dashes = [k for k, x in enumerate(words[:-1]) if x.text in {"—", "–"}]
    return any(words[k + 1].low in w.COORDINATORS for k in dashes[1:])


def _ends(words: Sequence[Word], k: int) -> bool:
    """Whether a sentence may end before the last word: "by Tom Fox Jr. Tom Fox was"."""
    if words[k].text in {"!", "?"}:
        return words[k + 1].is_word
    before = words[k - 1]
    initial = len(before.text) == 1 and before.text not in {"I", "V", "X"}
    known = before.low in _NO_END or "." in before.text or initial or k == 1
    return words[k].text == "." and words[k + 1].is_name and before.is_word and not known
