"""Tells whether two sentences are about variants of a thing: "the red line", "the blue line"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from franq_guard.claims.rules import verbs
from franq_guard.claims.rules.words import FINITE_AUXILIARIES
from franq_guard.faithfulness.small.numerals import CARDINALS
from franq_guard.faithfulness.small.tokens import tokens
from franq_guard.faithfulness.small.words import NEGATIONS, STOPWORDS, stem

__all__ = ["are_variants"]

_WORD: Final = re.compile(r"\w+(?:[.,]\d+)*")
_VERBS: Final = FINITE_AUXILIARIES | verbs.PURE_PASTS | verbs.REGULAR_PASTS
_IDLE: Final = STOPWORDS | NEGATIONS


class _Word(NamedTuple):
    """A content word with those before and after it, stopwords among them; "" at the ends."""

    text: str
    before: str
    after: str


def are_variants(claim: str, sentence: str) -> bool:
    """Whether the same noun has another attribute in the sentence, and something else differs, too.

    "Dogs are allowed on the south beach." and "Dogs are not allowed on the north beach." do not
    disagree. If the attribute were what is told, as in "It has a red door." and "It has a green
    door.", nothing else would differ. A letter after the noun counts as well: "Block A".

    Args:
        claim: what is stated elsewhere.
        sentence: the one that shares most words with it.
    """
    own, theirs = _content(claim), _content(sentence)
    matcher = SequenceMatcher(None, _stems(own), _stems(theirs), autojunk=False)
    differing = [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
    more = len(differing) > 1 or _denies(claim) != _denies(sentence)
    return more and any(
        b - a == 1 == d - c and _attributes(own[a], theirs[c]) for a, b, c, d in differing
    )


def _denies(text: str) -> bool:
    return any(token.kind == "negation" for token in tokens(text))


def _content(text: str) -> list[_Word]:
    words = ["", *_WORD.findall(text), ""]
    return [
        _Word(word, words[k], words[k + 2])
        for k, word in enumerate(words[1:-1])
        if word.lower() not in _IDLE or (_is_letter(word) and k > 0)
    ]


def _stems(words: Sequence[_Word]) -> list[str]:
    return [stem(word.text.lower()) for word in words]


def _attributes(own: _Word, other: _Word) -> bool:
    """Whether both say which one is meant of the same noun: before it, or as a letter after it."""
    if _is_letter(own.text) and _is_letter(other.text):
        return stem(own.before.lower()) == stem(other.before.lower())
    noun = own.after.lower()
    return (
        not any(map(_is_plural, (own.text, other.text)))  # "Employees get 23 days."
        and noun not in _VERBS | STOPWORDS
        and stem(noun) == stem(other.after.lower()) != ""
        and not any(map(_is_count, (own.text, other.text)))  # that is told, and says not which
    )


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


def _is_count(word: str) -> bool:
    return word[0].isdigit() or word.lower() in CARDINALS


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isupper()
