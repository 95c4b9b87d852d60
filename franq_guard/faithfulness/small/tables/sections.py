"""Finds sections side by side: headings of one level, or lines that begin with a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from franq_guard.faithfulness.small.tables.records import LABELLED

_HEADING: Final = re.compile(r"(?P<marks>#{1,6})\s+(?P<marked>.+?)[\s#]*|\*\*(?P<bold>[^*]+)\*\*:?")
_BOLD: Final = 7
"""The level of a line in bold letters, below that of every heading."""
_LONGEST: Final = 200  # characters of a heading
ASIDE: Final = re.compile(r"\s*\([^)]*\)")


class Section(NamedTuple):
    """What is said under a heading, or behind a label, line by line."""

    label: str
    lines: tuple[str, ...]
    places: tuple[int, ...]  # which lines of the text these are


@lru_cache(maxsize=256)
def sections(text: str) -> tuple[tuple[Section, ...], ...]:
    """Return the groups of at least two sections of a text that stand side by side."""
    lines = [line.strip() for line in text.splitlines()]
    groups = [*_headed(lines), *_labelled(lines)]
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _headed(lines: Sequence[str]) -> Iterator[list[Section]]:
    """Groups of sections under headings of one level, and of none above it between them."""
    short = ((at, line) for at, line in enumerate(lines) if len(line) <= _LONGEST)
    matches = [(at, _HEADING.fullmatch(line)) for at, line in short]
    headings = [(at, *_heading(match)) for at, match in matches if match]
    open_groups: dict[int, list[Section]] = {}
    for place, (at, level, label) in enumerate(headings):
        for deeper in [known for known in open_groups if known > level]:
            yield open_groups.pop(deeper)
        behind = map(headings.__getitem__, range(place + 1, len(headings)))
        end = next((other for other, higher, _ in behind if higher <= level), len(lines))
        places = tuple(i for i in range(at + 1, end) if lines[i])
        body = tuple(lines[i] for i in places)
        open_groups.setdefault(level, []).append(Section(ASIDE.sub("", label), body, places))
    yield from open_groups.values()


def _heading(match: re.Match[str]) -> tuple[int, str]:
    marks = match["marks"]
    return (len(marks), match["marked"]) if marks else (_BOLD, match["bold"])


def _labelled(lines: Sequence[str]) -> Iterator[list[Section]]:
    """Runs of lines with a label."""
    run: list[Section] = []
    for at, line in enumerate(lines):
        match = LABELLED.fullmatch(line)
        if match is None:
            yield run
            run = []
        else:
            run.append(Section(ASIDE.sub("", match["label"]), (match["said"],), (at,)))
    yield run
