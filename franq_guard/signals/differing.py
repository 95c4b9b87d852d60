"""Which words of a claim are other ones in the passage beside it: "Eiffel" for "Strauss".

For people who ask why a claim is flagged; no score depends on it. Claim and passage are aligned
word by word. Only what surely stands in another's place is reported: a number for a number, a name
for a name, a unit for a unit, a word for its opposite, and a negation that only one of them has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from franq_guard.faithfulness.small.amounts.units import unit_of
from franq_guard.faithfulness.small.differences.opposites import opposed, opposite_key
from franq_guard.faithfulness.small.spelling import as_written
from franq_guard.faithfulness.small.tokens import Kind, tokens
from franq_guard.faithfulness.small.words import NEGATIONS

__all__ = ["differing"]

_WORD: Final = re.compile(r"[$€£]?\w+(?:[.,:]\d+)*(?:[’'-]\w+)*%?")
_YEAR: Final = re.compile(r"(?:1[0-9]|20)\d\d$")
_CONTRACTED: Final = re.compile(r"n[’']t$", re.IGNORECASE)
_FEWEST: Final = 2
"""So many content words must agree, and at least as many as do not."""
_LONGEST: Final = 200
"""Words of the passage; a longer stretch is no sentence."""
_MOST: Final = 2
"""Differences; if there are more, the passage says something else."""
_NAME: Final = 4
"""Words of a name, and of what a number may stand among."""
_NUMBERS: Final = ("number", "few")
_NAMES: Final = ("name", "opening")


class _Word(NamedTuple):
    written: str
    key: str
    kind: Kind
    start: int
    end: int


_Words = Sequence[_Word]
_Pair = tuple[_Words, _Words]


class _Gap(NamedTuple):
    """Words that differ, at the beginning or the end of a text or between words that agree."""

    own: _Words
    other: _Words
    first: bool
    last: bool


def differing(claim: str, passage: str) -> tuple[tuple[str, str], ...]:
    """What a claim has in the place of other words of a sentence.

    Args:
        claim: a sentence.
        passage: the stretch of a passage that is closest to it or contradicts it.

    Returns:
        At most two differences in the claim's order, each as its words and those of the passage.
        For a negation that only one of them has, the other's words are "". None are returned
        where claim and passage are not nearly alike.
    """
    other = _words(passage)
    if len(other) > _LONGEST:
        return ()
    spelled = as_written(claim, passage)
    own = _words(spelled)
    steps = SequenceMatcher(
        None, [word.key for word in own], [word.key for word in other], autojunk=False
    ).get_opcodes()
    alike = sum(b - a for kind, a, b, _, _ in steps if kind == "equal")
    if alike < max(_FEWEST, len(own) - alike):
        return ()
    opposites = opposed(spelled, passage)
    found = [
        (_text(spelled, mine), _text(passage, theirs))
        for kind, a, b, c, d in steps
        if kind != "equal"
        for mine, theirs in _replaced(
            _Gap(own[a:b], other[c:d], not (a and c), b == len(own) or d == len(other)), opposites
        )
    ]
    # Words that `as_written` put in the passage's spelling do not stand in the claim: not shown.
    told = [pair for pair in found if pair[0] in claim]
    return tuple(told) if len(told) <= _MOST and not _cancel(told) else ()


def _words(text: str) -> list[_Word]:
    """The content words, numbers and negations of a text."""
    found: list[_Word] = []
    for match in _WORD.finditer(text):
        written, place = match.group(), match.span()
        if _CONTRACTED.search(written):
            found.append(_Word(written, "not", "negation", *place))
        elif read := tokens(written):
            # Read alone, a word with a capital may be the first of its sentence; here it is not.
            kind = "name" if read[0].kind == "opening" and found else read[0].kind
            found.append(_Word(written, read[0].text, kind, *place))
    return found


def _replaced(gap: _Gap, opposites: Collection[str]) -> Iterator[_Pair]:
    """The words of a gap that surely stand in each other's places."""
    own, other = gap.own, gap.other
    if _only_negates(own, other):
        if not gap.first and not gap.last:
            yield own, other
    elif own and other:
        pair = _numbers(gap) or _names(gap)
        if pair is not None:
            yield pair
        elif len(own) == len(other) == 1 and _exclude(own[0], other[0], opposites):
            yield own, other


def _only_negates(own: _Words, other: _Words) -> bool:
    words = (*own, *other)
    return not (own and other) and all(word.key in NEGATIONS for word in words)


def _numbers(gap: _Gap) -> _Pair | None:
    """The one number of each side; of a sentence that goes on behind the claim, its next word.

    A year stands in the place of a year alone: in "on 30 June 1894" that is not the day.
    """
    own, other = ([w for w in side if w.kind in _NUMBERS] for side in (gap.own, gap.other))
    if len(own) != 1:
        return None
    year = _YEAR.match(own[0].written)
    if year:
        other = [word for word in other if _YEAR.match(word.written)]
    elif any(_YEAR.match(word.written) for word in other):
        return None
    if len(other) == 1 and len(gap.other) <= _NAME:
        return own, other
    if gap.last and len(gap.own) == 1 and other and other[0] in gap.other[: _NAME if year else 1]:
        return own, other[:1]
    return None


def _names(gap: _Gap) -> _Pair | None:
    """The name that each side is, or begins with where a text ends."""
    found = []
    for side in (gap.own, gap.other):
        end = next((i for i, word in enumerate(side) if word.kind not in _NAMES), len(side))
        whole = end == len(side) or (gap.last and not gap.first)
        if not 0 < end <= _NAME or not whole:
            return None
        found.append(side[:end])
    own, other = found
    # The first word of both may be no name: "Go back", "Switch back".
    surely = any(word.kind == "name" for word in (*own, *other))
    return (own, other) if surely else None


def _exclude(own: _Word, other: _Word, opposites: Collection[str]) -> bool:
    """Whether one word is another unit than the other, or its opposite."""
    units = unit_of(own.written), unit_of(other.written)
    return all(units) or opposite_key(own.key) in opposites


def _cancel(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether there are two negations: "not unless" is "only if"."""
    return sum(not all(pair) for pair in pairs) > 1


def _text(text: str, words: _Words) -> str:
    return text[words[0].start : words[-1].end] if words else ""
