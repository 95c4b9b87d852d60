"""Splits a growing answer into claims; what is settled is not split again."""

from __future__ import annotations

from bisect import bisect_left
from copy import deepcopy
from typing import Any

from franq_guard.claims.rules.splitter import RuleSplitter, Unit
from franq_guard.claims.settling import restart
from franq_guard.claims.spans import shifted

__all__ = ["Reading", "SettledText"]


class SettledText:
    """Finds up to where an answer that is still being written is settled.

    Attributes:
        base: from here on the answer can be split without the text before (0 with a user's own
            splitter, which may need all of it).
    """

    def __init__(self, splitter: object) -> None:
        self._splitter: Any = splitter
        self._can_restart = _can_restart(splitter)
        self.base = 0
        self._places: list[int] = []
        self._blocks: list[int] = []

    def find_end(self, text: str, known: int) -> int:
        """The end of the last sentence, heading, code block or row that later text cannot change.

        ``known``: an earlier result for a beginning of the text.
        """
        tail = text[self.base :]
        return self.base + int(self._splitter.settled(tail, known=max(0, known - self.base)))

    def move_base(self, text: str, end: int) -> None:
        """Move ``base`` to a later place if there is one; ``text`` is settled up to ``end``."""
        if not self._can_restart or end <= self.base:
            return
        found = restart(text[self.base :], end - self.base)
        if found is not None:
            self.base += found.at
            (self._blocks if found.is_block else self._places).append(self.base)

    def is_place(self, at: int) -> bool:
        """Whether the text can be split from ``at`` on, after a sentence within a paragraph."""
        found = bisect_left(self._places, at)
        return found < len(self._places) and self._places[found] == at

    def block_after(self, text: str, end: int) -> int | None:
        """Where the next block begins, if there are only blanks between ``end`` and it."""
        at = bisect_left(self._blocks, end)
        if at == len(self._blocks) or text[end : self._blocks[at]].strip():
            return None
        return self._blocks[at]


class Reading:
    """Reads a growing answer from top to bottom, each part once; not thread-safe.

    A claim's context (a pronoun's antecedent, a heading) comes from what was read before.
    """

    def __init__(self, splitter: object) -> None:
        self._splitter: Any = splitter
        self._can_restart = _can_restart(splitter)
        self._reader: Any = None
        self._base = 0

    def splits_with(self, splitter: object) -> bool:
        """Whether this is its splitter."""
        return splitter is self._splitter

    def units(self, text: str, start: int, base: int, question: str) -> list[Unit]:
        """The sentences, headings and rows of ``text`` that end after ``start``, in order.

        ``base``: a place before ``start`` from where the text can be split (:class:`SettledText`).
        """
        if not self._can_restart:
            return list(self._splitter.units(text, question=question, after=start))
        if self._reader is None:
            self._reader = self._splitter.reader(question)
        if base > self._base:
            self._read_on(text[self._base : base], question)
            self._base = base
        own = deepcopy(self._reader)
        after = max(0, start - self._base)
        found = self._splitter.units(text[self._base :], question=question, after=after, reader=own)
        return [_moved(unit, self._base) for unit in found]

    def alone(self, text: str, question: str) -> list[Unit]:
        """The units of a text by itself."""
        return list(self._splitter.units(text, question=question))

    def _read_on(self, passed: str, question: str) -> None:
        for _ in self._splitter.units(
            passed, question=question, after=len(passed), reader=self._reader
        ):
            pass


def _can_restart(splitter: object) -> bool:
    """Whether it splits by the rules that :func:`restart` is made for."""
    kind: Any = type(splitter)
    own = [getattr(kind, name, None) is getattr(RuleSplitter, name) for name in _OF_RULES]
    return isinstance(splitter, RuleSplitter) and all(own)


_OF_RULES = ("units", "settled", "reader")


def _moved(unit: Unit, by: int) -> Unit:
    if not by:
        return unit
    start, end = unit.span
    claims = tuple(shifted(claim, by) for claim in unit.claims)
    return Unit((start + by, end + by), claims, unit.is_sentence)
