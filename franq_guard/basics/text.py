"""Small operations on text that several rooms need."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Sequence
from typing import Any

CITATION_MARK = r"\[[^\[\]\n]{1,200} does not say this\]|\[there is no passage \d{1,3}\]"
"""A pattern for what a policy writes behind a wrong citation; it belongs to the sentence before."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def encoding_of(start: bytes) -> str:
    """The encoding of a file that begins like this: UTF-8, or what Windows calls "Unicode"."""
    return "utf-16" if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"


def without_surrogates(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot encode, as U+FFFD; of the same length."""
    return _SURROGATES.sub("\ufffd", text)


def in_utf8(value: Any) -> Any:
    """JSON-like values with lone surrogates as U+FFFD in all texts; every length stays.

    An answer that was cut inside an emoji ends with one. Python writes it as JSON that ``jq`` and
    other readers refuse.
    """
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, dict):
        return {key: in_utf8(item) for key, item in value.items()}
    return type(value)(map(in_utf8, value)) if isinstance(value, (list, tuple)) else value


def with_line_feeds(text: str) -> str:
    """The text with a line feed for each other line end, and a blank and one for CRLF.

    It has the same length, so a place in it is one in the text.
    """
    return _LINE_END.sub(lambda end: "\n".rjust(len(end.group())), text)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The range ``start:end`` of the text without white space at its ends; empty if it is blank."""
    stretch = text[start:end]
    lead = len(stretch) - len(stretch.lstrip())
    return start + lead, start + max(lead, len(stretch.rstrip()))


def place_of(part: str, whole: str) -> int:
    """Where the part of a written text is that was taken for the answer; -1 if it is nowhere.

    At the beginning if the text begins with it, apart from blanks; else at the last place: what a
    model thinks before it answers may hold the answer as a draft.
    """
    at = whole.find(part)
    return whole.rfind(part) if whole[: max(at, 0)].strip() else at


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same characters as ordered, non-empty ranges that neither overlap nor touch."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def common_start(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items (characters of two texts, words of two lists) are the same from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def filled(template: str, **values: str) -> str:
    """The template with its ``{name}`` fields filled in one pass; other braces (JSON) are kept."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda field: values[field.group(1)], template)
