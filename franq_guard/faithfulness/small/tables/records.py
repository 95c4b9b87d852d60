"""Finds records in a text: groups of "key: value" lines, or objects of JSON, with the same keys."""

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
# The many ++ and *+ here: a run is never read twice, however long it is.
_TEXT: Final = r"""(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+')"""
_OBJECT: Final = re.compile(rf"\s*+,?\s*+(?P<object>\{{(?:[^{{}}\[\]\"']|{_TEXT})*+\}})")
"""An object without others in it, and what stands between it and the one before."""
_LIST: Final = re.compile(r"\[(?=\s*+\{)")
_INDENT: Final = 80  # characters between the beginning of a list and its first object
_PAIR: Final = re.compile(rf"({_TEXT})\s*+:\s*+(?:({_TEXT})|([\w.+-]++))")
_DICT: Final = re.compile(rf"\{{(?:\s*+{_TEXT}\s*+:\s*+(?:{_TEXT}|[\w.+-]++)\s*+,?)++\s*+\}}")
_ESCAPED: Final = re.compile(r"\\(.)")


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
    for record in chain(_objects(text, lines, at), _groups(text, lines, at)):
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


def _objects(text: str, lines: Sequence[Span], at: int) -> Iterator[Record]:
    """Objects of plain values behind each other: as lines of JSON, or in a list.

    The list begins in the line, and may stand in another object or behind a few words. It may be
    written as JSON or as Python prints it.
    """
    start, end = lines[at]
    opened = _LIST.search(text, start, end + _INDENT)
    first = _OBJECT.match(text, start) or (
        _OBJECT.match(text, opened.end()) if opened and opened.start() < end else None
    )
    while first is not None:
        values = _values(first["object"])
        if values is None:
            return
        yield Record(first.span("object"), values)
        first = _OBJECT.match(text, first.end())


def _values(written: str) -> dict[str, str] | None:
    """The values of an object by their keys; None for anything else."""
    try:
        read: dict[str, Any] = json.loads(written)
    except (ValueError, RecursionError):
        return _printed(written)
    return {_name(key): "" if v is None else str(v) for key, v in read.items()} or None


def _printed(written: str) -> dict[str, str] | None:
    """The values of a dictionary as Python prints it."""
    if _DICT.fullmatch(written) is None:
        return None
    found: dict[str, str] = {}
    for key, quoted, bare in _PAIR.findall(written):
        said = _ESCAPED.sub(r"\1", quoted[1:-1]) if quoted else bare
        found[_name(key[1:-1])] = "" if bare == "None" else said
    return found


def _name(key: str) -> str:
    return key.replace("_", " ")
