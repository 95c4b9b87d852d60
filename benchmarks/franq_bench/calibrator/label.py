"""Truth labels for claims from gold answers, without a judge.

A claim that states a gold answer is true. In an answer that states none, the first claim is taken
as the attempt at the question: it is true where it quotes a sentence of the passages (they come
from an encyclopaedia, so what it says is right although it is not what was asked) and false
otherwise. Every other claim stays unlabelled: whether it is true is not known.

Only questions with short gold answers are used: of more than four words, or with a list in it, an
answer would be called wrong for its wording; of fewer than three characters ("5", "no"), right by
accident.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from franq_guard.claims.sentences import sentences
from franq_guard.faithfulness.small.features import word_overlap
from franq_guard.records import Claim, Passage

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans({c: " " for c in string.punctuation})
_MIN_CHARACTERS = 3
_MAX_WORDS = 4
_LISTED = re.compile(r",|;|\band\b|\bor\b|&")
_MIN_QUOTED_WORDS = 6


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


def quotes(text: str, passages: Sequence[Passage]) -> bool:
    """Whether all content words of ``text`` (at least six words) stand in one passage sentence."""
    if len(text.split()) < _MIN_QUOTED_WORDS:
        return False
    return any(
        word_overlap(text, passage.text[start:end]) == 1.0
        for passage in passages
        for start, end in sentences(passage.text, 0, len(passage.text))
    )


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
        labels[real[0]] = quotes(claims[real[0]].text, passages)
    return labels
