"""Finds a claim that says of one name what the sentence says of another one.

"Otto Rehn conducted the choir" is refuted by "Marta Quill conducted the choir, with Otto Rehn at
the piano", though all its words are there: an alignment may pair the name with itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.differences.same_name import same_name
from franq_guard.faithfulness.small.words import NEGATIONS, STOPWORDS, calendar_word, stem

_PIECE: Final = re.compile(r"\w+(?:[.,]\d+)*|['’]s\b|[^\w\s]")
_JOINS: Final = word_set("and or of the , &")
_IDLE: Final = word_set("a an the 's ’s")
_PASSIVE: Final = word_set("was were is are by")
"""In a passive other words before a place, as in "taught at the academy", are of another name."""
_MOST: Final = 3
"""At most so many little words are between a name and its verb: "will have to"."""

Place = tuple[str, ...]
"""The verb, or another word after a name, the little words before it, and "by". Inflected forms are
different places: one of them may be a noun, as in "a Full House character" and "the characters"."""


def other_subject(claim: str, sentence: str, known: Collection[str]) -> bool:
    """Whether the sentence has only other names in a place where the claim has a name.

    Of labelled pairs (training and fitting folds) that have nearly all of the claim's words, and no
    name that an alignment tells alone, so do 94 unsupported ones and 17 supported ones, of natural
    claims 56 and 2. The same for the words before a name ("built by") is no sign: 11 and 9, as "a
    town in Brenn" may be said to be "in Harrow County in Brenn".

    Args:
        claim: a sentence.
        sentence: one of the context.
        known: stems of the words that surely are names somewhere in the context; a text's first
            word is a name only if it is among them or another one follows it.
    """
    there = _places(sentence, known)
    turned = (" by " in claim) != (" by " in sentence)
    return any(
        not _same(names, there[place])
        for place, names in _places(claim, known).items()
        if place in there and not (turned and set(place[1:]) - _PASSIVE)
    )


def _same(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the names are the same but for a short form: "the EU and Brenn"."""
    own, left = ([n for n in a if n not in b] for a, b in ((names, others), (others, names)))
    if len(own) == len(names):
        return same_name(names, others)
    return not own or not left or same_name(own, left)


def _places(text: str, known: Collection[str]) -> dict[Place, tuple[str, ...]]:
    """The places of a text's names with the words of all names that stand there."""
    pieces = _PIECE.findall(text)
    found: dict[Place, tuple[str, ...]] = {}
    names: tuple[str, ...] = ()
    last = 0
    for start, end in _lists(pieces):
        # "The hall in Brenn opened": what little words join to a name is of the same subject
        between = pieces[last:start]
        joined = len(between) <= _MOST and all(w in STOPWORDS or w in _IDLE for w in between)
        before = names if joined else ()
        names = before + tuple(piece.lower() for piece in pieces[start:end] if _capital(piece))
        last = end
        unsure = start == 0 and len(names) == 1 and stem(names[0]) not in known
        place = _place(pieces[end:])
        if place and not unsure and not any(map(calendar_word, names)):  # "on Monday closed"
            found[place] = found.get(place, ()) + names
    return found


def _lists(pieces: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The ranges of names; those that are joined by "and" or a comma are one."""
    at = 0
    while at < len(pieces):
        end = at
        while end < len(pieces) and _capital(pieces[end]):
            joins = len(list(takewhile(_JOINS.__contains__, pieces[end + 1 :])))
            last, end = end + 1, end + 1 + joins
        if end > at:
            yield at, last
        at = max(end, at + 1)


def _capital(piece: str) -> bool:
    return piece[0].isupper() and len(piece) > 1 and piece.lower() not in STOPWORDS


def _place(words: Sequence[str]) -> Place | None:
    little = list(takewhile(lambda word: word in STOPWORDS or word in _IDLE, words[: _MOST + 1]))
    rest = words[len(little) :]
    if not rest or not rest[0].isalpha() or not rest[0].islower() or rest[0] in NEGATIONS:
        return None
    passive = [word for word in rest[1:2] if word == "by"]  # fees that Ada paid, fees paid by Ada
    return rest[0], *(word for word in little if word not in _IDLE), *passive
