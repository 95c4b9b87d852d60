"""Writes out what a passage says by its form, so that each sentence says it by itself.

A row of a table needs its header, the item of a list the words before the list, and "No." the
question before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from franq_guard.basics.text import trimmed
from franq_guard.faithfulness.small.lists import denied_entries, led_items
from franq_guard.faithfulness.small.plain import as_seen, plain
from franq_guard.faithfulness.small.replies import denied
from franq_guard.faithfulness.small.rewritten import Change, Rewritten, rewritten
from franq_guard.faithfulness.small.tables.rows import tables
from franq_guard.records import Span


@lru_cache(maxsize=256)
def written_out(text: str) -> Rewritten:
    """Return a text with each row of its tables as a sentence with its header.

    The lines of a header are left out, since every row repeats them. Denials are written by
    :mod:`.replies` and :mod:`.lists`, which also reads the words before a list with each item.
    Markup of a page is blank. What is written anew leads back to the whole row, to the question
    with its "No", and of an item that is read with the words before its list to the item alone.
    """
    seen = as_seen(text)
    return rewritten(seen, _changes(seen), of=plain(text))


def _changes(text: str) -> Iterator[Change]:
    done = 0
    for (start, end), rows in tables(text):
        yield from _in_prose(text, (done, start))
        apart = "" if text[start - 1 : start] in ("", "\n") else "\n"  # words stand before it
        for row in rows:
            yield (start, row.span[0]), ""
            yield from _anew(text, row.span, f"{apart}{row.sentence()}\n")
            start, apart = row.span[1], ""
        yield (start, end), ""
        done = end
    yield from _in_prose(text, (done, len(text)))


def _in_prose(text: str, span: Span) -> Iterator[Change]:
    """What is written anew of what is no table."""
    start, end = span
    part = text[start:end]
    done = 0
    for (first, last), said in sorted((*denied(part), *denied_entries(part), *led_items(part))):
        if first >= done:  # of two that overlap the first one counts
            yield from _anew(text, (start + first, start + last), said)
            done = last


def _anew(text: str, span: Span, said: str) -> Iterator[Change]:
    """Other words for a stretch, which lead back to it without the blanks around it."""
    start, end = trimmed(text, *span)
    yield (span[0], start), ""
    yield (start, end), said
    yield (end, span[1]), ""
