"""Reads the objects in a text, of JSON or as Python prints them, as records: so tools answer.

A record has the values of the objects inside it, too ("wind speed"). Where an object has a list of
objects, as a page of results has, these are the records, and its other values stay as they are.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from franq_guard.records import Span


class Record(NamedTuple):
    """The values of a record by their keys, and where it stands."""

    span: Span
    values: dict[str, str]


# The ++ and *+ here: a run is never read twice, however long it is.
_OPENED: Final = re.compile(r"(?:^|[:\[])\s*+(?=\{\s*+[\"'])", re.MULTILINE)
"""What stands before the first object: nothing, words such as "Found:", or the rest of a list."""
_TOKEN: Final = re.compile(r"""[{}\[\]]|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|["']""")
_BETWEEN: Final = re.compile(r"\s*+,?\s*+(?=\{)")
_PAIRS: Final = {"}": "{", "]": "["}
_INDENT: Final = 80  # characters between the beginning of a list and its first object
_DEEPEST: Final = 12
"""Brackets inside each other: more are given up, or each of many lines would be read to the end."""
_LONGEST: Final = 50_000  # characters of a record
_ESCAPED: Final = re.compile(r"\\(.)")
_MOMENT: Final = re.compile(r"\bdatetime\.date(?:time)?\((\d+(?:, \d+){2,6})\)")
_QUOTED: Final = re.compile(r"\b(?:Decimal|UUID|ObjectId)\(('[-\w.]+')\)")
_WORDS: Final = re.compile(r"_+|(?<=[a-z])(?=[A-Z])")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_MEASURED: Final = re.compile(
    r"(?P<of>.+) (?P<unit>kg|g|mg|lbs|oz|ml|km|cm|mm|ft|ms|mph|kmh|gb|tb"
    r"|eur|usd|gbp|chf|percent|pct|celsius|fahrenheit|(?<=temp )[cf]|(?<=temperature )[cf])",
    re.IGNORECASE,
)
_UNITS: Final = {"c": "°C", "f": "°F", "pct": "%"}


def objects(text: str, line: Span) -> list[list[Record]]:
    """The records of the first object, or list of objects, in a line.

    Returns:
        Groups of records that stand behind each other and have the same first key.
    """
    start, end = line
    opened = _OPENED.search(text, start, end + _INDENT)
    groups: list[list[Record]] = []
    if opened is None or opened.start() >= end:
        return groups
    for span in _spans(text, opened.end()):
        record = Record(span, _values(text[slice(*span)]))
        if groups and _follows(text, groups[-1][-1], record):
            groups[-1].append(record)
        elif record.values:
            groups.append([record])
    return groups


def _follows(text: str, one: Record, other: Record) -> bool:
    between = _BETWEEN.match(text, one.span[1])
    adjacent = between is not None and between.end() == other.span[0]
    return adjacent and next(iter(one.values)) == next(iter(other.values), None)


class _Opened(NamedTuple):
    mark: str
    start: int
    found: int  # how many records there were


def _spans(text: str, at: int) -> list[Span]:
    """Where the records are from an object on, as far as the brackets are right."""
    found: list[Span] = []
    around: list[_Opened] = []
    for token in _TOKEN.finditer(text, at):
        mark = token.group()
        if mark in ("{", "["):
            around.append(_Opened(mark, token.start(), len(found)))
        elif mark in _PAIRS:
            opened = around.pop()
            if opened.mark != _PAIRS[mark]:
                break
            in_object = bool(around) and around[-1].mark == "{"
            if mark == "}" and not in_object and opened.found == len(found):
                found.append((opened.start, token.end()))
            if not around and not _BETWEEN.match(text, token.end()):
                break
        if len(around) > _DEEPEST or mark in ("'", '"'):
            break
    return found


def _values(written: str) -> dict[str, str]:
    """The values of an object by their keys, of objects inside it by both; empty if it is none."""
    if len(written) > _LONGEST:
        return {}
    for read in (_parsed, _printed):
        try:
            value = read(written)
            return dict(_flat(value)) if isinstance(value, dict) else {}
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return {}


def _parsed(written: str) -> Any:
    return json.loads(written, parse_float=str)


def _printed(written: str) -> Any:
    """What Python prints so, with dates and numbers of a database as texts."""
    if not all(after in "\\'\"abfnrtvxuU01234567" for after in _ESCAPED.findall(written)):
        return None  # Python would warn of it
    plain = _QUOTED.sub(r"\1", _MOMENT.sub(_moment, written))
    return ast.literal_eval(plain)


def _moment(match: re.Match[str]) -> str:
    year, month, day, *clock = map(int, match[1].split(", "))
    time = " " + ":".join(f"{part:02}" for part in clock[:3]) if any(clock) else ""
    return f"'{year}-{month:02}-{day:02}{time}'"


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(inner, f"{key} {_WORDS.sub(' ', str(name))}".strip())
        return
    cell = _cell(value)
    measured = _MEASURED.fullmatch(key) if _NUMBER.fullmatch(cell) else None
    if measured:
        unit = measured["unit"]
        key, cell = measured["of"], f"{cell} {_UNITS.get(unit.lower(), unit)}"
    yield key, cell


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple, set)):
        return ", ".join(map(_cell, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
