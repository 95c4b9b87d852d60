"""Truth labels for claims from gold answers, without a judge.

A claim that contains a gold answer is true. If no claim of an answer does, the first claim is taken
as the attempt to answer and is false, unless it copies a passage word for word: it may then be true
although it does not answer the question. Such a claim and all other claims get no label.

Only questions with short gold answers are used. If a gold answer has more than four words or is a
list, a right answer with other words would be labelled wrong; if it has fewer than three characters
("5", "no"), a wrong answer may contain it by accident.
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
    """Lower case without articles, punctuation and repeated spaces (as SQuAD's grader does)."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def states(text: str, answers: Sequence[str]) -> bool:
    """Whether ``text`` contains one of ``answers`` as whole words, both normalised."""
    haystack = f" {normalise(text)} "
    return any(f" {gold} " in haystack for gold in map(normalise, answers) if gold)


def gradable(answers: Sequence[str]) -> bool:
    """Whether every gold answer is long enough not to occur by accident."""
    return bool(answers) and all(len(normalise(a)) >= _MIN_CHARACTERS for a in answers)


def matchable(answers: Sequence[str]) -> bool:
    """Whether every gold answer is short and not a list, so that right answers contain it."""
    return all(len(normalise(a).split()) <= _MAX_WORDS and not _LISTED.search(a) for a in answers)


def copies(text: str, passages: Sequence[Passage]) -> bool:
    """Whether one of the passages contains ``text``, both normalised."""
    return any(f" {normalise(text)} " in f" {normalise(p.text)} " for p in passages)


def label_claims(
    claims: Sequence[Claim], answers: Sequence[str], passages: Sequence[Passage] = ()
) -> list[bool | None]:
    """Label each claim of one answer to ``passages``: True, False or None (unknown)."""
    real = [i for i, claim in enumerate(claims) if claim.not_a_claim is None]
    labels: list[bool | None] = [None] * len(claims)
    hits = [i for i in real if states(claims[i].text, answers)]
    for i in hits:
        labels[i] = True
    if real and not hits:
        labels[real[0]] = None if copies(claims[real[0]].text, passages) else False
    return labels
