"""Finds a claim that has the words of a sentence, with two of them in each other's places.

"Label the cupboards with words instead of pictures" beside "with pictures instead of words": no
word differs, so that overlap and the look-ups of single facts find nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from franq_guard.basics.words import word_set

_FEWEST: Final = 4
"""So many words a claim must have; of fewer the order says little."""
_MOST: Final = 40
_APART: Final = 2
"""Words side by side may change places: "a small red box"."""
_LIST: Final = re.compile(r"\w+(?:, \w+)*,? (?:and|or) \w+")
_ITEM: Final = re.compile(r"\w+")
_JOINS: Final = word_set("and or")


def exchanged(claim: Sequence[str], sentence: Sequence[str]) -> bool:
    """Whether a claim's words stand in the sentence in this order once two have changed places.

    Of labelled pairs so are 33 unsupported claims of answers and one supported one, and 184 and 13
    of other sets (training and fitting folds).

    Args:
        claim: its content words, all of which the sentence must have.
        sentence: its content words.
    """
    if not _FEWEST <= len(claim) <= _MOST or not set(claim) <= set(sentence):
        return False
    return not _in_order(claim, sentence) and any(
        _in_order(_swapped(claim, i, j), sentence)
        for i, j in combinations(range(len(claim)), 2)
        if j - i >= _APART and claim[i] != claim[j]
    )


def lists_differently(claim: str, sentence: str) -> bool:
    """Whether both have a list of the same single words, in another order.

    "Pumps, valves and pipes" are "pipes, valves and pumps".
    """
    own, other = (
        [_ITEM.findall(one) for one in _LIST.findall(text.lower())] for text in (claim, sentence)
    )
    return any(
        mine != theirs and set(mine) - _JOINS == set(theirs) - _JOINS
        for mine in own
        for theirs in other
    )


def _in_order(words: Sequence[str], sentence: Sequence[str]) -> bool:
    rest = iter(sentence)
    return all(word in rest for word in words)


def _swapped(words: Sequence[str], i: int, j: int) -> list[str]:
    found = list(words)
    found[i], found[j] = found[j], found[i]
    return found
