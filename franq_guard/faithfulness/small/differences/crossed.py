"""Finds a claim that says of one thing what its sentence says of another.

"Pro costs $5" beside "Basic costs $5 and Pro costs $15", "Ben was born in Rome" beside "Ann was
born in Rome and Ben in Oslo": all words are there, in their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.differences.roles import twists
from franq_guard.faithfulness.small.tokens import Token, Tokens, tokens
from franq_guard.faithfulness.small.words import LONGEST_SENTENCE, stem

_BETWEEN: Final = re.compile(
    r"[;()]|[,:](?!\d)|\s[–—-]\s|\b(?:and|but|while|whereas|or|against|than)\b"
)
"""What stands between the parts of a sentence."""
_WITH: Final = r"[^,;]{0,40}?\d[^,;]{0,40}? (?:in|on|at|by) "
_FROM_TO: Final = re.compile(rf"\bfrom ({_WITH}[^,;]{{0,40}}?) to (?={_WITH})")
"""Two parts, too: "from 3 million in 2021 to 4 million in 2022"."""
_AFTER: Final = re.compile(
    r"\b(in|at|by|from|of|for|to|on|with|into|under|against|over|near|as) (?:the |an? )?([\w’'-]+)"
)
"""A preposition and the name behind it."""
_ANY: Final = word_set("number name opening word")
_NUMBERS: Final = word_set("number")
_YEAR: Final = 4
"""Digits."""


class _Fact(NamedTuple):
    """A number or name, with the words of its part of the sentence, from the nearest on."""

    token: Token
    before: Tokens
    behind: Tokens
    part: frozenset[str]
    preposition: str
    """Directly before it, else empty."""


def crosses(claim: str, sentence: str) -> bool:
    """Whether a claim has a fact of one part of a sentence beside what another part has one of.

    Nearest to the fact that the claim has ("$5") is another thing ("Basic") than the claim's, and
    nearest to that one ("Pro") is another fact ("$15") of its kind. The facts are numbers, names
    behind the same preposition, or names beside numbers. Of labelled pairs (training and fitting
    folds) whose sentence has nearly all of the claim's words 56 unsupported ones are so, 12 of
    other people's sets among them, and 4 supported ones; by such names 11 and none. (Of any names
    this says nothing: 66 and 44, nor of words behind the same preposition: 16 and 16.) Of 7,043
    claims that the rules split from sentences of 3,000 Wikipedia passages one is so.

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
    texts = _BETWEEN.split(_FROM_TO.sub(r"from \1; ", sentence))
    parts = [_telling(text) for text in texts]
    if sum(map(len, parts)) > LONGEST_SENTENCE:
        return ()
    homes = Counter(word for part in parts for word in {token.text for token in part})
    return tuple(
        _Fact(
            token,
            part[:at][::-1],
            part[at + 1 :],
            frozenset(t.text for t in part),
            before.get(token.text, ""),
        )
        for part, before in zip(parts, map(_prepositions, texts), strict=True)
        for at, token in enumerate(part)
        if token.kind != "word" and homes[token.text] == 1
    )


def _prepositions(text: str) -> dict[str, str]:
    return {stem(word.lower()): preposition for preposition, word in _AFTER.findall(text)}


def _telling(text: str) -> Tokens:
    return tuple(token for token in tokens(text) if token.kind in _ANY)


def _exchange(one: _Fact, other: _Fact, claim: Set[str]) -> Iterator[bool]:
    """For either side: whether the claim has what is nearest to the other fact, not to its own.

    Beside names only numbers count, unless the same preposition is before both names.
    """
    alike = one.preposition != "" and one.preposition == other.preposition
    kinds = [_ANY, _NUMBERS] if alike or one.token.kind == "number" else [_NUMBERS]
    sides = ((one.before, other.before), (one.behind, other.behind))
    for kind, (mine, its) in product(kinds, sides):
        near, far = _nearest(mine, other.part, kind), _nearest(its, one.part, kind)
        if near and far and _of_one_kind(near, far):
            yield near.text not in claim and far.text in claim


def _nearest(words: Tokens, shared: Set[str], kinds: Set[str]) -> Token | None:
    return next((t for t in words if t.text not in shared and t.kind in kinds), None)


def _of_one_kind(one: Token, other: Token) -> bool:
    if one.kind == other.kind == "number":
        units = {one.of.unit, other.of.unit} - {""}
        return len(units) <= 1 and (len(one.text) == _YEAR) == (len(other.text) == _YEAR)
    kinds = {one.kind, other.kind}
    return len(kinds) == 1 or ("opening" in kinds and "number" not in kinds)
