"""Finds a word of a claim whose opposite stands in its place in a sentence: rose, fell; red, blue.

An encoder gives such a claim nearly the score of the true one, since all other words agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from importlib.resources import files
from itertools import permutations
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.words import NEGATIONS, stem

_GROUPS: Final = files(__package__).joinpath("opposites.txt").read_text("utf-8")
"""One group a line: a word excludes those between the other strokes, of "all > some" only the first
the second: a text that says "some" does not say "all"."""
_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non")
_SHORTEST: Final = 4
"""A word with a prefix negates the rest of it if that has so many letters: valid, invalid."""
_WORD: Final = re.compile(r"\w+(?:[.,]\d+)*|['’]t\b")
_IDLE: Final = word_set("a an the of is are was were be been being has had have that which")
"""Words that two texts with the same meaning often have or lack."""
_LONGEST: Final = 3
"""Opposites replace each other if at most so many words differ there."""
_NEAR: Final = 4
"""Negations so near change what is opposed: not allowed, banned."""


def opposite_key(stemmed: str) -> str:
    """The form in which a stem is compared here: "decrease" is that of "decreased", "decreas"."""
    return stemmed.removesuffix("e")


def _stem(word: str) -> str:
    return opposite_key(stem(word))


def _known() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _GROUPS.splitlines():
        sides = [{_stem(word) for word in side.split()} for side in re.split("[/>]", line)]
        for one, other in [sides] if ">" in line else permutations(sides, 2):
            for word in one:
                found.setdefault(word, set()).update(other - one)
    return {word: frozenset(others) for word, others in found.items()}


_OPPOSITES: Final = _known()


def opposed(claim: str, sentence: str) -> frozenset[str]:
    """The words of a claim whose opposite stands in their place in a sentence that is nearly equal.

    Each as :func:`opposite_key` has it. None if only one of the two texts is negated there: "not
    allowed" is "banned".

    Args:
        claim: a sentence.
        sentence: the one of the context nearest to it.
    """
    own, other = _words(claim), _words(sentence)
    found: set[str] = set()
    for a, b, c, d in _gaps(own, other):
        around = own[max(0, a - _NEAR) : b + _NEAR], other[max(0, c - _NEAR) : d + _NEAR]
        if (
            b - a <= _LONGEST
            and d - c <= _LONGEST
            and _is_negated(around[0]) == _is_negated(around[1])
        ):
            found.update(_opposites(own[a:b], other[c:d], own, other))
    return frozenset(found)


def _opposites(
    here: Sequence[str], there: Sequence[str], own: Sequence[str], other: Sequence[str]
) -> list[str]:
    left = [word for word in there if word not in own]
    return [
        word
        for word in here
        if word not in other and any(_opposed_stems(word, opposite) for opposite in left)
    ]


def _opposed_stems(one: str, other: str) -> bool:
    """Whether two words are opposites, by the list or by a prefix: valid, invalid."""
    return other in _OPPOSITES.get(one, ()) or _prefixed(one, other) or _prefixed(other, one)


def _prefixed(long: str, short: str) -> bool:
    return len(short) >= _SHORTEST and any(long == prefix + short for prefix in _PREFIXES)


def _gaps(own: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Where words replace each other; at an end of the claim the sentence may have more words."""
    steps = SequenceMatcher(None, own, other, autojunk=False).get_opcodes()
    for _, a, b, c, d in (step for step in steps if step[0] == "replace"):
        room = b - a + 1
        if b == len(own):
            yield a, b, c, min(d, c + room)
        else:
            yield a, b, (max(c, d - room) if a == 0 else c), d


def _is_negated(words: Sequence[str]) -> bool:
    return sum(word in NEGATIONS for word in words) % 2 == 1


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    found = (word.lower() for word in _WORD.findall(text))
    plain = ("not" if word in ("'t", "’t") else word for word in found)
    return tuple(word if word in NEGATIONS else _stem(word) for word in plain if word not in _IDLE)
