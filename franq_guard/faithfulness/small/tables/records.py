"""Finds records in a text: groups of "key: value" lines, or lines of JSON, with the same keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from franq_guard.records import Span

LABELLED: Final = re.compile(
    r"\s*(?:[-*•]\s+)?\**(?P<label>[^\W\d_][^:\n]{0,40}?)\**\s*:\**\s+(?P<said>\S.*)"
)
"""A line such as "- Weight: 740 g"."""


class Record(NamedTuple):
    """The values of a record by their keys, and where it stands."""

    span: Span
    values: dict[str, str]


def records(text: str, lines: Sequence[Span], at: int) -> list[Record]:
    """Return the records that begin with a line, at least two with the same first key, else none.

    Args:
        text: with the lines.
        lines: characters of each line that is not empty.
        at: index of the first line.
    """
    found: list[Record] = []
    if _goes_on(text, lines, at):
        return []
    for record in chain(_json_lines(text, lines, at), _groups(text, lines, at)):
        if found and next(iter(record.values)) != next(iter(found[0].values)):
            break
        found.append(record)
    return found if len(found) > 1 else []


def onward(lines: Sequence[Span], at: int) -> Iterator[Span]:
    """The lines from one on; unlike a slice it takes no time for those that nobody asks for."""
    return (lines[place] for place in range(at, len(lines)))


def _goes_on(text: str, lines: Sequence[Span], at: int) -> bool:
    """Whether the line before is of the same record; then it was looked at from there."""
    if not at or lines[at][0] > lines[at - 1][1] + 1:
        return False
    before = text[slice(*lines[at - 1])]
    return before.lstrip().startswith("{") or LABELLED.fullmatch(before) is not None


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


def _json_lines(text: str, lines: Sequence[Span], at: int) -> Iterator[Record]:
    """Lines that are JSON objects of plain values."""
    for start, end in onward(lines, at):
        values = _object(text[start:end])
        if values is None:
            return
        yield Record((start, end), values)


def _object(line: str) -> dict[str, str] | None:
    line = line.strip().removesuffix(",")
    if not line.startswith("{") or not line.endswith("}"):
        return None
    try:
        read: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not read or any(isinstance(value, dict | list) for value in read.values()):
        return None
    return {key.replace("_", " "): "" if v is None else str(v) for key, v in read.items()}
