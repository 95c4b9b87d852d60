"""Finds the stretches of an answer that state nothing, before it is split into claims.

These are reasoning (``<think>``), tool calls (tags or JSON), scripts and lists of sources, and an
answer that is JSON as a whole. HTML tags are treated as markup: a block tag ends a line, ``<li>``
begins a list item. Each decision depends only on the text before a place, never on later text, so
the result for an answer that is still being written is the same. There are two exceptions. Text
before a ``</think>`` without an opening tag, at the end of a line, is reasoning. A stream of claims
has usually checked and released that text as part of the answer before the tag arrives. And whether
an answer is JSON is known at its end: until then :func:`may_become_json` tells a stream to wait.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = [
    "BLANK_ENTITY",
    "INLINE_TAG",
    "OPENS_JSON",
    "SOURCES",
    "Lines",
    "Nothing",
    "lines_of",
    "may_become_json",
]

Nothing = Literal["code", "reasoning", "citation"]
"""Kinds of stretches that state nothing; the kind is also the reason in ``not_a_claim``."""


class Stretch(NamedTuple):
    """A part of an answer that states nothing, and of which kind it is."""

    start: int
    end: int
    kind: Nothing


_REASONING = "think|thinking|thought|reasoning|scratchpad"
_REASONING_TAGS = frozenset(_REASONING.split("|"))
_TAGGED = re.compile(
    rf"<(?P<tag>{_REASONING}|tool_calls?|tool_use|function_calls?|script|style)\b[^<>]*>"
    r"(?P<body>.*?)(?P<end></(?P=tag)\s*>|\Z)",
    re.I | re.S,
)
_BLOCK_TAG = re.compile(
    r"</?(?P<tag>p|div|br|hr|h[1-6]|ul|ol|li|table|thead|tbody|tr|section|article|blockquote|html"
    r"|body|head|dl|dt|dd|header|footer|main|nav|figure)\b[^<>\n]*>|<!--.*?-->"
    rf"|</(?:{_REASONING})\s*>",  # the opening tag is in the prompt, or missing
    re.I | re.S,
)
_LONE_END = re.compile(rf"(?<!`)</(?:{_REASONING})\s*>[ \t]*(?=\n|\Z)", re.I)
"""The end of reasoning whose beginning is in the prompt; not a tag that a sentence writes about."""
BLANK_ENTITY = re.compile(r"&(?:nbsp|ensp|emsp|thinsp|#160|#xa0);", re.I)
INLINE_TAG = re.compile(
    r"</?(?:b|i|u|em|strong|a|span|sup|sub|small|mark|font|code|td|th|cite|q|abbr|img)"
    r"(?:\s[^<>\n]*)?/?>",
    re.I,
)
_ARGUMENTS = r'"(?:arguments|parameters|args|input|action_input|tool_input)"'
_TOOL_CALL = re.compile(
    r'^[ \t]*(?:\[\s*)?\{\s*"(?:name|tool|tool_name|function|action)"\s*:\s*"[^"\n]*"\s*,\s*'
    rf"{_ARGUMENTS}\s*:",
    re.M,
)
OPENS_JSON = re.compile(r'\s*(?:\{\s*(?:"|\Z)|\[\s*(?:[\[{"]|\Z))')
"""How an object, or an array of more than numbers, begins: "[1]" is a citation."""
SOURCES = re.compile(
    r"^[ \t#*_]*(?:sources?|references?|bibliography|citations|quellen(?:verzeichnis)?"
    r"|literatur(?:verzeichnis)?)[ \t*_]*:?[ \t*_]*$",
    re.I,
)
_SOURCE = re.compile(
    r"[ 	]*(?:(?:[-*+•]|\d{1,3}[.)])[ 	]+)?(?:\[\^?\d{1,3}\]|<?(?:https?://|www\.))", re.I
)
"""A list entry that begins with a source's number or address; other sentences may be claims."""


@dataclass(frozen=True, slots=True)
class Lines:
    """An answer as lines.

    ``text`` has the same length as the answer, with block tags replaced by line breaks; ``nothing``
    are the stretches that state nothing, in order.
    """

    text: str
    nothing: tuple[Stretch, ...]


def lines_of(answer: str) -> Lines:
    """The answer as lines, and its stretches that state nothing."""
    if _is_json(answer):
        return Lines(answer, (Stretch(0, len(answer), "code"),))
    text, found = answer, list[Stretch]()
    if "<" in answer:  # what nearly no answer has is looked for only where it can be
        found = _tagged(answer)
        text = _TAGGED.sub(_as_lines, text)
        text = _BLOCK_TAG.sub(_as_break, text)
    if "&" in answer:
        text = BLANK_ENTITY.sub(lambda blank: " " * len(blank.group()), text)
    if '"' in answer:
        found = [*found, *_tool_calls(text, found)]
    if "[" in answer or ":" in answer or "#" in answer or "http" in answer:
        found = [*found, *(one for one in _sources(text) if not _is_inside(one.start, found))]
    return Lines(text, tuple(sorted(found)))


def may_become_json(answer: str) -> bool:
    """Whether an unfinished answer may be JSON as a whole: all of it is in one pair of brackets."""
    opening = OPENS_JSON.match(answer)
    if opening is None:
        return False
    first = len(answer) - len(answer.lstrip())
    return not answer[_end_of_json(answer, first) :].strip()


def _is_json(answer: str) -> bool:
    """Whether the whole answer is a JSON object or array."""
    if OPENS_JSON.match(answer) is None or answer.rstrip()[-1] not in "]}":
        return False
    try:
        json.loads(answer)
    except (ValueError, RecursionError):  # no JSON, or brackets in brackets without end
        return False
    return True


def _tagged(answer: str) -> list[Stretch]:
    """What is between the tags of reasoning, tool calls and scripts."""
    found = list[Stretch]()
    for match in _TAGGED.finditer(answer):
        reasons = match["tag"].lower() in _REASONING_TAGS
        found.append(Stretch(*match.span("body"), "reasoning" if reasons else "code"))
    if any(stretch.kind == "reasoning" for stretch in found):
        return found
    lone = _LONE_END.search(answer)
    if lone is None:
        return found
    after = [stretch for stretch in found if stretch.start >= lone.end()]
    return [*after, Stretch(0, lone.start(), "reasoning")]


def _is_inside(at: int, known: Sequence[Stretch]) -> bool:
    return any(stretch.start <= at < stretch.end for stretch in known)


def _as_lines(match: re.Match[str]) -> str:
    opening = match.start("body") - match.start()
    closing = match.end() - match.end("body")
    return _break(opening) + match["body"] + _break(closing)


def _as_break(match: re.Match[str]) -> str:
    size = len(match.group())
    if (match["tag"] or "").lower() == "li" and not match.group().startswith("</"):
        return "\n" + " " * (size - 3) + "- "
    return "\n\n".ljust(size)


def _break(size: int) -> str:
    return "\n" + " " * (size - 2) + "\n" if size > 1 else " " * size


def _tool_calls(text: str, known: Sequence[Stretch]) -> Iterator[Stretch]:
    """Tool calls in JSON outside the known stretches."""
    end = 0
    for match in _TOOL_CALL.finditer(text):
        at = match.start()
        # What begins inside a call is part of it: many calls without an end are read once.
        if at >= end and not _is_inside(at, known):
            end = _end_of_json(text, at)
            yield Stretch(at, end, "code")


def _end_of_json(text: str, start: int) -> int:
    """Where the brackets that open at ``start`` are closed, or the end of the text."""
    depth, quoted, at = 0, False, start
    while at < len(text):
        char = text[at]
        if quoted:
            at += char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)


def _sources(text: str) -> Iterator[Stretch]:
    """Lines of a list under "Sources"."""
    listing, at = False, 0
    for line in text.split("\n"):
        if listing and _SOURCE.match(line):
            yield Stretch(at, at + len(line), "citation")
        elif line.strip():
            listing = SOURCES.match(line) is not None
        at += len(line) + 1
