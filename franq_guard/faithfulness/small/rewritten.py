"""A text in which some stretches were written anew, with the way back to the original."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from franq_guard.records import Span

Change = tuple[Span, str]
"""Characters of a text, and what is read in their place."""


class Rewritten(NamedTuple):
    """A text of which some stretches are written in another way.

    ``places`` has where each of them stands in ``text``, then where it stands in the original,
    which may be such a text itself: ``of``.
    """

    text: str
    places: tuple[tuple[Span, Span], ...] = ()
    of: Rewritten | None = None

    def original(self, start: int, end: int) -> Span:
        """Return the span of the original text; one that cuts through a stretch has all of it."""
        span = self._back(start, 0), self._back(end, 1)
        return self.of.original(*span) if self.of else span

    def _back(self, at: int, side: int) -> int:
        # What was taken out is before the start and behind the end of what stands beside it.
        find = bisect_left if side else bisect_right
        before = find(self.places, at, key=lambda place: place[0][0])
        if not before:
            return at
        here, original = self.places[before - 1]
        return original[side] if at < here[1] else at + original[1] - here[1]


def rewritten(text: str, changes: Iterable[Change], of: Rewritten | None = None) -> Rewritten:
    """Return a text with other words at some spans, which are in order and do not overlap."""
    written: list[str] = []
    places: list[tuple[Span, Span]] = []
    done = length = 0
    for (start, end), said in changes:
        written += text[done:start], said
        length += start - done
        places.append(((length, length + len(said)), (start, end)))
        length += len(said)
        done = end
    return Rewritten("".join((*written, text[done:])), tuple(places), of)
