"""Finds records in a text: objects, or groups of "key: value" lines with the same keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from franq_guard.faithfulness.small.tables.objects import Record, objects
from franq_guard.records import Span

LABELLED: Final = re.compile(
    r"\s*(?:[-*•]\s+)?\**(?P<label>[^\W\d_][^:\n]{0,40}?)\**\s*:\**\s+(?P<said>\S.*)"
)
"""A line such as "- Weight: 740 g"."""


def records(text: str, lines: Sequence[Span], at: int) -> list[list[Record]]:
    """Return the groups of records that begin with a line: of objects, else of "key: value" lines.

    The records of a group have the same first key. Of lines there is one group, of at least two.

    Args:
        text: with the lines.
        lines: characters of each line that is not empty.
        at: index of the first line.
    """
    found = objects(text, lines[at])
    if found or _goes_on(text, lines, at):
        return found
    group = [*_alike(_groups(text, lines, at))]
    return [group] if len(group) > 1 else []


def _alike(found: Iterator[Record]) -> Iterator[Record]:
    """The records up to the first one that begins with another key."""
    first: Record | None = None
    for record in found:
        first = first or record
        if next(iter(record.values)) != next(iter(first.values)):
            return
        yield record


def onward(lines: Sequence[Span], at: int) -> Iterator[Span]:
    """The lines from one on; unlike a slice it takes no time for those that nobody asks for."""
    return (lines[place] for place in range(at, len(lines)))


def _goes_on(text: str, lines: Sequence[Span], at: int) -> bool:
    """Whether the line before is of the same record; then it was looked at from there."""
    if not at or lines[at][0] > lines[at - 1][1] + 1:
        return False
    return LABELLED.fullmatch(text, *lines[at - 1]) is not None


def _groups(text: str, lines: Sequence[Span], at: int) -> Iterator[Record]:
    """Groups of lines with a key and a value, with an empty line between two groups."""
    values: dict[str, str] = {}
    start = end = lines[at][0]
    for first, last in onward(lines, at):
        if values and first != end + 1:
            yield Record((start, end), values)
            values = {}
        match = LABELLED.fullmatch(text, first, last)
        if match is None or match["label"] in values:
            return
        start = start if values else first
        values[match["label"]] = match["said"].strip()
        end = last
    if values:
        yield Record((start, end), values)
