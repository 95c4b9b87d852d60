"""Finds a claim that joins the beginning of one part of a sentence to the end of another.

"Copper is used for tools" or "iron is used for wires" beside "Iron is used for tools, copper for
wires": every word is there, and no fact is another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.tokens import stated, tokens
from franq_guard.faithfulness.small.words import LONGEST_SENTENCE, stem

_BETWEEN: Final = re.compile(
    r"[;()]|[,:](?!\d)|\s[–—-]\s|\b(?:and|or|but|while|whereas|though|although)\b", re.IGNORECASE
)
"""What stands between the parts of a sentence."""
_DEPENDS: Final = re.compile(
    r"\W*(?:in|on|at|by|of|for|to|from|with|without|as|after|before|during|since|until|under|over"
    r"|near|about|through|despite|because|if|unless|when|whenever|where|once|who|whom|whose|which"
    r"|that|than|like)\b",
    re.IGNORECASE,
)
"""How a part begins that has no subject of its own in front."""
_ALIKE: Final = re.compile(
    r"\b(?:too|also|so|likewise|as well|both|either|(?:do|does|did|is|are|was|were) the same)\b",
    re.I,
)
"""Words that say of a part what another one says."""
_EXPLAINS: Final = re.compile(
    r"\W*(?:an?|the(?! others?\b| rest\b)|including|such|even|perhaps)\b", re.IGNORECASE
)
"""How a part begins that says more about the last word: "born in Ulm, a town in Swabia"."""
_WHEN: Final = frozenset(
    map(stem, word_set("later earlier again still now once twice next following year month week"))
)
_ADVERB: Final = re.compile(r"\b\w+ly\b")
_BEHIND: Final = re.compile(
    r"\b(in|at|by|from|of|for|to|on|with|into|under|against|over|near|as|is|are|was|were)"
    r" (?:the |an? )?([\w’'-]+)"
)
"""A preposition or a form of "be", and the word behind it."""
_FEWEST: Final = 2
_MOST: Final = 25
"""Content words of a claim."""
_SUBJECT: Final = 4
"""At most so many words of the other part are left out before what the claim takes of it."""


class _Part(NamedTuple):
    text: str
    words: Sequence[str]


class _Splice(NamedTuple):
    """Two parts, how many words of the first begin the claim, and of the second end it."""

    first: _Part
    second: _Part
    begins: int
    ends: int


def spliced(claim: str, sentence: str) -> bool:
    """Whether a claim is the beginning of one part of a sentence and the end of another.

    Either the subject of a later part has what an earlier one says ("copper is used for tools"), or
    an earlier part ends as a later one does behind the same preposition ("iron is used for wires").
    Of labelled pairs (training and fitting folds) 9 and 3 unsupported ones are so and no supported
    one. Without these conditions 25 unsupported ones are and 76 supported ones: "A man in a hat,
    gloves and a coat smiles".

    Args:
        claim: a sentence.
        sentence: the one of the context nearest to it.
    """
    found = tokens(claim)
    if any(token.kind == "pronoun" for token in found):
        return False
    own = tuple(token.text for token in found)
    parts = _parts(sentence)
    if not _FEWEST <= len(own) <= _MOST or not {w for p in parts for w in p.words}.issuperset(own):
        return False
    return any(
        _later(splice) if n > m else _gapped(splice)
        for (n, first), (m, second) in permutations(enumerate(parts), 2)
        for splice in _splices(own, first, second)
    )


@lru_cache(maxsize=256)
def _parts(sentence: str) -> tuple[_Part, ...]:
    found = [_Part(text, stated(text)) for text in _BETWEEN.split(sentence)]
    if sum(len(part.words) for part in found) > LONGEST_SENTENCE:
        return ()
    return tuple(part for part in found if part.words)


def _splices(own: Sequence[str], first: _Part, second: _Part) -> Iterator[_Splice]:
    """How the claim can be read as two parts' ends; what is left out of both is not in it."""
    for begins in range(1, min(len(own), len(first.words))):
        ends = len(own) - begins
        left = len(second.words) - ends
        if left < 1 or left > _SUBJECT:
            continue
        joined = (*first.words[:begins], *second.words[left:])
        if joined == own and not {*first.words[begins:], *second.words[:left]} & set(own):
            yield _Splice(first, second, begins, ends)


def _later(splice: _Splice) -> bool:
    """The subject of a later part with what an earlier one says of its own."""
    texts = splice.first.text, splice.second.text
    return not any(map(_DEPENDS.match, texts)) and not any(map(_ALIKE.search, texts))


def _gapped(splice: _Splice) -> bool:
    """An earlier part with the end of a later one, behind the same preposition."""
    first, second, begins, ends = splice
    before = [_prepositions(part.text) for part in (first, second)]
    mine, its = before[0].get(first.words[begins]), before[1].get(second.words[-ends])
    start = second.text
    return (
        begins > 1
        and mine is not None
        and mine == its
        and not _DEPENDS.match(start)
        and not _EXPLAINS.match(start)
        and not _only_when(second.words[:-ends], start)
    )


def _only_when(words: Sequence[str], text: str) -> bool:
    """Whether words only say when or how: "three years later"."""
    idle = _WHEN | {stem(word) for word in _ADVERB.findall(text)}
    return all(word in idle or word.isdigit() for word in words)


def _prepositions(text: str) -> dict[str, str]:
    return {w: prep for prep, word in _BEHIND.findall(text) for w in stated(word)}
