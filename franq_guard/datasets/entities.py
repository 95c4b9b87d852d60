"""Finds names, numbers and dates of a passage by rules, and substitutes of the same kind.

A name is a run of capitalised words ("Odran Vell", "Bank of Harrow"); the first word of a sentence
counts only if it never occurs in lower case in the pool. A substitute has the same kind and
shape: for "4 July 1903" another date of that form, for a name of two words another such name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from franq_guard.basics.words import word_set
from franq_guard.claims.rules.words import (
    DETERMINERS,
    OPENERS,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
)


class Entity(NamedTuple):
    """``text[start:end]`` of a passage; ``kind`` is its shape (``year``, ``name-2`` ...)."""

    start: int
    end: int
    text: str
    kind: str


_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_PATTERNS = {
    "date-mdy": rf"\b{_MONTH} {_DAY},? \d{{4}}\b",
    "date-dmy": rf"\b{_DAY} {_MONTH},? \d{{4}}\b",
    "date-my": rf"\b{_MONTH},? \d{{4}}\b",
    "date-md": rf"\b{_MONTH} {_DAY}\b",
    "date-dm": rf"\b{_DAY} {_MONTH}\b",
    "month": rf"(?<!^)(?<![.!?] )\b{_MONTH}\b",
    "weekday": r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b",
    "year": r"(?<![\w.,])(?:1\d|20)\d\d(?=s?\b)(?![.,]\d)",
    "number": r"(?<![\w.,])\d+(?:,\d{3})*(?:[.:]\d+)?",
    "count": r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty"
    r"|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b",
    "ordinal": r"\b(?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth)\b",
}
_FIXED = re.compile("|".join(f"(?P<{k.replace('-', '_')}>{p})" for k, p in _PATTERNS.items()))
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_WORD = re.compile(r"[^\W_]+(?:['’-](?!s\b)[^\W_]+)*")
_CONNECTORS = word_set("of de la le van von der den del di da al bin ibn du")
_TITLES = word_set("St Dr Mr Mrs Ms Mt Jr Sr")
_NOT_NAMES = (
    DETERMINERS | PREPOSITIONS | SUBJECT_PRONOUNS | SUBORDINATORS | OPENERS | {"and", "but", "not"}
)
_OPENING = " '\"“‘("
_PLACE = re.compile(r"\b(?:in|at|near|from|to|of) (?:the )?$")
_ADJECTIVE = re.compile(r"(?:an|ish|ese|ic)\Z")


def entities(text: str, *, common: frozenset[str] = frozenset()) -> list[Entity]:
    """Names, numbers and dates of ``text`` in order, without overlap.

    Args:
        text: a passage.
        common: words that occur in lower case somewhere (:meth:`Pool.common`).
    """
    found = [Entity(m.start(), m.end(), m.group(), _kind(m)) for m in _FIXED.finditer(text)]
    taken = [(e.start, e.end) for e in found]
    for start, end in _names(text, common):
        if not any(start < b and a < end for a, b in taken):
            found.append(Entity(start, end, text[start:end], _name_kind(text, start, end)))
    return sorted(found)


class Pool:
    """Substitutes by kind, collected from many passages.

    Args:
        passages: texts; their order does not matter.
    """

    def __init__(self, passages: Iterable[str]) -> None:
        texts = list(passages)
        self.common = frozenset(w for text in texts for w in _WORD.findall(text) if w[:1].islower())
        kinds: dict[str, set[str]] = {}
        for text in texts:
            for entity in entities(text, common=self.common):
                kinds.setdefault(entity.kind, set()).add(entity.text)
        self._empty = not texts
        self._years = frozenset(y for text in texts for y in _YEAR.findall(text))
        self._by_kind = {kind: sorted(found) for kind, found in kinds.items()}

    @property
    def empty(self) -> bool:
        """Whether it was made from no passage."""
        return self._empty

    def has(self, year: str) -> bool:
        """Whether a passage names this year, alone or in a date."""
        return year in self._years

    def others(self, entity: Entity, rng: np.random.Generator) -> Iterator[str]:
        """Substitutes for ``entity`` in random order, none of them equal to it.

        Those of the same kind come first, then those of its family (any number, any name).
        """
        family = entity.kind.split("-")[0]
        kinds = [entity.kind, *(k for k in sorted(self._by_kind) if k.split("-")[0] == family)]
        for kind in kinds:
            known = self._by_kind.get(kind, [])
            for at in _order(len(known), rng):
                if known[at].casefold() != entity.text.casefold():
                    yield known[at]


def _order(count: int, rng: np.random.Generator) -> Iterator[int]:
    """Every index once, from a random start in steps of random size.

    Shuffling a whole list would be slow when only one index is needed.
    """
    if count == 0:
        return
    start = int(rng.integers(count))
    step = int(rng.integers(1, count)) if count > 1 else 1
    while np.gcd(step, count) != 1:
        step += 1
    yield from ((start + i * step) % count for i in range(count))


def _kind(match: re.Match[str]) -> str:
    kind = (match.lastgroup or "").replace("_", "-")
    if kind == "year":
        return f"year-{match.group()[:2]}"  # same century: the year 1031 would look out of place
    if kind != "number":
        return kind
    digits = sum(c.isdigit() for c in match.group().split(".")[0])
    return f"number-{digits}{'.' if '.' in match.group() else ''}"


def _name_kind(text: str, start: int, end: int) -> str:
    """The number of words and the likely meaning: a place after "in", or an adjective."""
    name = text[start:end]
    count = len(_WORD.findall(name))
    if count == 1 and name.isupper() and len(name) > 1:
        return "name-acronym"
    if count == 1 and _ADJECTIVE.search(name) and text[end : end + 2].strip().islower():
        return "name-adjective"
    place = _PLACE.search(text[max(0, start - 10) : start])
    return f"name-{'place-' if place else ''}{count}"


def _names(text: str, common: frozenset[str]) -> Iterator[tuple[int, int]]:
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        if run and not _joined(text, run[-1], word):
            yield from _name(text, run, common)
            run = []
        if word.group()[:1].isupper() or (run and word.group() in _CONNECTORS):
            run.append(word)
        else:
            yield from _name(text, run, common)
            run = []
    yield from _name(text, run, common)


def _joined(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    gap = text[left.end() : right.start()]
    initial = len(left.group()) == 1 or left.group() in _TITLES
    return gap == " " or (gap in (". ", ".") and initial)


def _name(
    text: str, run: Sequence[re.Match[str]], common: frozenset[str]
) -> Iterator[tuple[int, int]]:
    """The run without connectors at its ends and common words at its start, if a name is left."""
    words = list(run)
    while words and words[-1].group() in _CONNECTORS:
        words.pop()
    while words and words[0].group().lower() in _NOT_NAMES | _CONNECTORS:
        words.pop(0)
    if not words:
        return
    before = text[: words[0].start()].rstrip(_OPENING)
    opens = not before or before[-1] in ".!?:;\n"
    if opens and len(words) == 1 and words[0].group().lower() in common:
        return
    yield words[0].start(), words[-1].end()
