"""Finds a claim that gives one thing the number that its sentence gives another.

"Pro costs $5" beside "Basic costs $5 and Pro costs $15": all words are there, in their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set
from functools import lru_cache
from typing import Final, NamedTuple

from franq_guard.faithfulness.small.differences.roles import twists
from franq_guard.faithfulness.small.tokens import Token, Tokens, tokens

_BETWEEN: Final = re.compile(
    r"[;()]|[,:](?!\d)|\s[–—-]\s|\b(?:and|but|while|whereas|or|against|than)\b"
)
"""What stands between the parts of a sentence."""
_MOST: Final = 150
"""Words; what has more is no sentence."""
_YEAR: Final = 4
"""Digits."""


class _Fact(NamedTuple):
    """A number or name, with the words of its part of the sentence, from the nearest on."""

    token: Token
    before: Tokens
    behind: Tokens
    part: frozenset[str]


def crosses(claim: str, sentence: str) -> bool:
    """Whether a claim has a fact of one part of a sentence beside what another part has one of.

    Nearest to the fact that the claim has ("$5") is another thing ("Basic") than the claim's, and
    nearest to that one ("Pro") is another fact ("$15") of its kind. The facts are numbers, or names
    beside numbers. Of labelled pairs (training and fitting folds) whose sentence has nearly all of
    the claim's words 43 unsupported ones are so, 6 of other people's sets among them, and 4
    supported ones. (Of names beside names or words, "Ann was born in Rome" where Ben was and Ann in
    Oslo, this says nothing: 66 and 44.)

    Args:
        claim: a sentence. A negation or "only" in it may be about the other number.
        sentence: the one of the context nearest to it.
    """
    facts = () if twists(claim) else _facts(sentence)
    words = {token.text for token in tokens(claim)}
    return any(
        _of_one_kind(one.token, other.token) and any(_exchange(one, other, words))
        for one in facts
        if one.token.text in words
        for other in facts
        if other.token.text not in words
    )


@lru_cache(maxsize=256)
def _facts(sentence: str) -> tuple[_Fact, ...]:
    """Its numbers and names that stand in one of its parts alone."""
    parts = [_telling(text) for text in _BETWEEN.split(sentence)]
    if sum(map(len, parts)) > _MOST:
        return ()
    homes = Counter(word for part in parts for word in {token.text for token in part})
    return tuple(
        _Fact(token, part[:at][::-1], part[at + 1 :], frozenset(t.text for t in part))
        for part in parts
        for at, token in enumerate(part)
        if token.kind != "word" and homes[token.text] == 1
    )


def _telling(text: str) -> Tokens:
    return tuple(t for t in tokens(text) if t.kind in ("number", "name", "opening", "word"))


def _exchange(one: _Fact, other: _Fact, claim: Set[str]) -> Iterator[bool]:
    """For either side: whether the claim has what is nearest to the other fact, not to its own."""
    for mine, its in ((one.before, other.before), (one.behind, other.behind)):
        near, far = _nearest(one, mine, other.part), _nearest(other, its, one.part)
        if near and far and _of_one_kind(near, far):
            yield near.text not in claim and far.text in claim


def _nearest(fact: _Fact, words: Tokens, shared: Set[str]) -> Token | None:
    """The nearest word that the other part lacks; of a name the nearest number."""
    named = fact.token.kind != "number"
    found = (t for t in words if t.text not in shared and (not named or t.kind == "number"))
    return next(found, None)


def _of_one_kind(one: Token, other: Token) -> bool:
    if one.kind == other.kind == "number":
        units = {one.of.unit, other.of.unit} - {""}
        return len(units) <= 1 and (len(one.text) == _YEAR) == (len(other.text) == _YEAR)
    kinds = {one.kind, other.kind}
    return len(kinds) == 1 or ("opening" in kinds and "number" not in kinds)
