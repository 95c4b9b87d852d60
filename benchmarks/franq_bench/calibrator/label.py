"""Truth labels for claims from gold answers, without a judge.

A claim that states a gold answer is true. In an answer that states none, the first claim is taken
as the attempt at the question and is false, unless it copies a passage word for word: then it may
be right although it is not what was asked. Such a claim, and every other one, stays unlabelled.

Only questions with short gold answers are used: of more than four words, or with a list in it, an
answer would be called wrong for its wording; of fewer than three characters ("5", "no"), right by
accident.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from franq_guard.records import Claim, Passage

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans({c: " " for c in string.punctuation})
_MIN_CHARACTERS = 3
_MAX_WORDS = 4
_LISTED = re.compile(r",|;|\band\b|\bor\b|&")


def normalise(text: str) -> str:
    """Lower case, no articles, punctuation or doubled blanks (the rules of SQuAD's grader)."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def states(text: str, answers: Sequence[str]) -> bool:
    """Whether ``text`` holds one of ``answers`` as whole words, both normalised."""
    haystack = f" {normalise(text)} "
    return any(f" {gold} " in haystack for gold in map(normalise, answers) if gold)


def gradable(answers: Sequence[str]) -> bool:
    """Whether every gold answer is long enough not to be met by accident."""
    return bool(answers) and all(len(normalise(a)) >= _MIN_CHARACTERS for a in answers)


def matchable(answers: Sequence[str]) -> bool:
    """Whether every gold answer is short and no list, so that a right one is met by its words."""
    return all(len(normalise(a).split()) <= _MAX_WORDS and not _LISTED.search(a) for a in answers)


def copies(text: str, passages: Sequence[Passage]) -> bool:
    """Whether ``text`` stands in one of the passages, both normalised."""
    return any(f" {normalise(text)} " in f" {normalise(p.text)} " for p in passages)


def label_claims(
    claims: Sequence[Claim], answers: Sequence[str], passages: Sequence[Passage] = ()
) -> list[bool | None]:
    """True, False or None (unknown) for each claim of one answer over ``passages``."""
    real = [i for i, claim in enumerate(claims) if claim.not_a_claim is None]
    labels: list[bool | None] = [None] * len(claims)
    hits = [i for i in real if states(claims[i].text, answers)]
    for i in hits:
        labels[i] = True
    if real and not hits:
        labels[real[0]] = None if copies(claims[real[0]].text, passages) else False
    return labels
