"""Writes out what a passage says by its form, so that each sentence says it by itself.

A row of a table needs its header, the item of a list the words before the list, and "No." the
question before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from franq_guard.basics.text import trimmed
from franq_guard.faithfulness.small.lists import denied_entries, led_items
from franq_guard.faithfulness.small.plain import as_seen, plain
from franq_guard.faithfulness.small.replies import denied
from franq_guard.faithfulness.small.rewritten import Rewritten
from franq_guard.faithfulness.small.tables.rows import tables
from franq_guard.records import Span


class Part(NamedTuple):
    """Characters of a written text, and those of the text as it was read that they stand for."""

    here: Span
    there: Span
    in_other_words: bool


class Written(NamedTuple):
    """A text written out, and where each part of it came from in the text as it was read."""

    text: str
    parts: tuple[Part, ...]
    read: Rewritten

    def original(self, span: Span) -> Span:
        """The characters of the original text that a stretch of the written one stands for.

        Of a row these are the whole row, of a denial the question with its "No", of an item that
        is read with the words before its list the item alone.
        """
        first, last = (
            next(part for part in self.parts if at < part.here[1]) for at in (span[0], span[1] - 1)
        )
        start = span[0] - first.here[0] + first.there[0]
        end = span[1] - last.here[1] + last.there[1]
        return self.read.original(
            first.there[0] if first.in_other_words else start,
            last.there[1] if last.in_other_words else end,
        )


@lru_cache(maxsize=256)
def written_out(text: str) -> Written:
    """Return a text with each row of its tables as a sentence with its header.

    The lines of a header are left out, since every row repeats them. Denials are written by
    :mod:`.replies` and :mod:`.lists`, which also reads the words before a list with each item.
    Markup of a page is blank.
    """
    read, text = plain(text), as_seen(text)
    pieces: list[tuple[str, Span, bool]] = []
    done = 0
    for (start, end), rows in tables(text):
        pieces += _prose(text, (done, start))
        pieces += [(row.sentence() + "\n", trimmed(text, *row.span), True) for row in rows]
        done = end
    pieces += _prose(text, (done, len(text)))
    parts, size = [], 0
    for piece, there, in_other_words in pieces:
        parts.append(Part((size, size + len(piece)), there, in_other_words))
        size += len(piece)
    return Written("".join(piece for piece, _, _ in pieces), tuple(parts), read)


def _prose(text: str, span: Span) -> Iterator[tuple[str, Span, bool]]:
    """The pieces of what is no table."""
    start, end = span
    part = text[start:end]
    done = 0
    found = (*denied(part), *denied_entries(part), *led_items(part))
    for (first, last), said, shown in sorted(found):
        if first >= done:  # of two that overlap the first one counts
            yield part[done:first], (start + done, start + first), False
            yield said, trimmed(text, start + shown[0], start + shown[1]), True
            done = last
    yield part[done:], (start + done, end), False
