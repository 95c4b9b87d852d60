"""Finds the stretches of an answer that are no prose, before it is split into claims.

These are reasoning (``<think>``, and what other models write for it), tool calls (tags or JSON),
scripts, and an answer that is JSON as a whole, which state nothing; and entries of a list of
sources that begin with a number in brackets or an address. HTML tags are treated as
markup: a block tag ends a line, ``<li>`` begins a list item; in a row of a table they are blanks.
In code, tags are text like any other, but for a ``</think>`` without an opening tag in code that
does not end behind it. Each decision depends only on the text before a place, never on later text,
so the result for an answer that is still being written is the same. There are three exceptions.
Text before a ``</think>`` without an opening tag, at the end of a line, is reasoning. A stream of
claims waits for that tag only where the prompt tells that the answer begins with reasoning
(:func:`opens_reasoning`); otherwise it has usually checked and released that text before.
Whether an answer is JSON is known at its end: until then :func:`may_become_json` tells a stream to
wait. And a tag within a line counts if it is closed and not in code, else a sentence only names it:
:func:`open_tag` tells a stream from where to wait.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from franq_guard.basics.template_marks import as_tags
from franq_guard.basics.text import with_line_feeds
from franq_guard.claims.fences import LINE, Fences
from franq_guard.records import Span

__all__ = [
    "BLANK_ENTITY",
    "INLINE_TAG",
    "OPENS_JSON",
    "SOURCES",
    "SOURCE_ENTRY",
    "Apart",
    "Lines",
    "breaks_in_cells",
    "end_of_reasoning",
    "lines_of",
    "may_become_json",
    "open_tag",
    "opens_reasoning",
]

Apart = Literal["code", "reasoning", "entry"]
"""Kinds of stretches that are no prose; only an entry of a list of sources may state something."""


class Stretch(NamedTuple):
    """A part of an answer that is no prose, and of which kind it is."""

    start: int
    end: int
    kind: Apart


_REASONING = "think|thinking|thought|reasoning|scratchpad|seed:think"
_REASONING_TAGS = frozenset(_REASONING.split("|"))
_IN_LINE = r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`))"
"""Code in a line: a tag in it is one that a sentence names."""
_TICK = re.compile(_IN_LINE)
_OPENING = re.compile(
    rf"{_IN_LINE}|(?P<first>^[ \t]*)?<(?P<tag>{_REASONING}|tool_calls?|tool_use|function_calls?"
    r"|script|style)\b[^<>]*>(?P<alone>(?=[ \t]*(?:[\n{\[]|\Z)|<))?",
    re.I | re.M,
)
_BLOCK_TAG = re.compile(
    rf"{_IN_LINE}|"
    r"</?(?P<tag>p|div|br|hr|h[1-6]|ul|ol|li|table|thead|tbody|tr|section|article|blockquote|html"
    r"|body|head|dl|dt|dd|header|footer|main|nav|figure|figcaption|caption|aside|details|summary|answer|final_answer|output"
    r"|response|reflection)\b[^<>\n]*>|<!--(?:(?!<!--).)*?-->"
    rf"|</(?:{_REASONING})\s*>",  # the opening tag is in the prompt, or missing
    re.I | re.S,
)
_ROW = re.compile(r"^[ \t>]*\|[^\n]*<[^\n]*", re.M)
_IN_ROW = re.compile(rf"{_IN_LINE}|</?(?:br|p|div|ul|ol|li|hr)\b[^<>\n]*>", re.I)
"""A tag that breaks the line within a cell of a table, as Markdown has no other way to."""
_LONE_END = re.compile(rf"(?<!`)</(?:{_REASONING})\s*>[ \t]*(?=\n|\Z)", re.I)
"""The end of reasoning whose beginning is in the prompt; not a tag that a sentence writes about."""
_OPENS_REASONING = re.compile(rf"<(?:{_REASONING})>\s*\Z", re.I)
"""How a prompt ends whose chat template begins the reasoning (DeepSeek-R1, Qwen 3)."""
_TAG_END = 64
"""In how many characters at the end of a prompt that tag is looked for."""
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})(?P<info>[^\n]*)", re.M)
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
    r"|literatur(?:verzeichnis)?)[ \t*_]*+:?[ \t*_]*+$",
    re.I,
)
SOURCE_ENTRY = re.compile(
    r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
    r"(?:\[\^?\d{1,3}\]:?|(?=<?(?:https?://|www\.)))[ \t]*",
    re.I,
)
"""What begins an entry of a list of sources: a number in brackets, or an address (not matched)."""


@dataclass(frozen=True, slots=True)
class Lines:
    """An answer as lines.

    ``text`` has the same length as the answer, with line feeds for block tags and all line ends;
    ``apart`` are the stretches that are no prose, in order.
    """

    text: str
    apart: tuple[Stretch, ...]


def lines_of(answer: str) -> Lines:
    """The answer as lines, and its stretches that are no prose."""
    if _is_json(answer):
        return Lines(answer, (Stretch(0, len(answer), "code"),))
    text = answer = as_tags(with_line_feeds(answer))
    found = list[Stretch]()
    if "<" in answer:  # what nearly no answer has is looked for only where it can be
        text, found = _without_tags(answer)
    if "&" in answer:
        text = BLANK_ENTITY.sub(_as_blank, text)
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


def open_tag(answer: str) -> int:
    """Where the first tag begins that counts only if it is closed yet; else the answer's length."""
    answer = as_tags(answer)
    if "<" not in answer:
        return len(answer)
    tagged = _tagged(answer, _as_broken(answer))
    tag = next((one.start for one in tagged if not one.counts), len(answer))
    line = answer.rfind("\n") + 1
    tick = _TICK.sub(_as_blank, answer[line:]).find("`")  # its code may still end behind a tag
    return tag if tick < 0 or "<" not in answer[line + tick :] else min(tag, line + tick)


def opens_reasoning(prompt: str | None) -> bool:
    """Whether the answer to this prompt begins with reasoning, whose opening tag the prompt has."""
    return prompt is not None and _OPENS_REASONING.search(prompt[-_TAG_END:]) is not None


def end_of_reasoning(answer: str) -> int | None:
    """Where the reasoning ends that an answer begins with without an opening tag; None: not yet."""
    tag = _lone_end(answer) if "</" in answer else None
    return None if tag is None else tag.start()


def breaks_in_cells(answer: str) -> Iterator[Span]:
    """The tags that break a line within a cell of a table."""
    for row in _ROW.finditer(answer) if "|" in answer else ():
        yield from (m.span() for m in _IN_ROW.finditer(answer, *row.span()) if not m["code"])


def _is_json(answer: str) -> bool:
    """Whether the whole answer is a JSON object or array."""
    if OPENS_JSON.match(answer) is None or answer.rstrip()[-1] not in "]}":
        return False
    try:
        json.loads(answer)
    except (ValueError, RecursionError):  # no JSON, or brackets in brackets without end
        return False
    return True


class _Tagged(NamedTuple):
    """An opening tag ``start:body``, what it holds, and its closing tag ``body_end:end``."""

    start: int
    body: int
    body_end: int
    end: int
    kind: Apart
    counts: bool


def _without_tags(answer: str) -> tuple[str, list[Stretch]]:
    """The answer with line breaks for its tags, and what states nothing between tags."""
    text = _as_broken(answer)
    counted = [one for one in _tagged(answer, text) if one.counts]
    lone = None
    if not any(one.kind == "reasoning" for one in counted):
        lone = _lone_end(answer)
    if lone is not None:
        counted = [one for one in _tagged(answer, text, lone.end()) if one.counts]
    found = [Stretch(one.body, one.body_end, one.kind) for one in counted]
    if lone is not None:
        found.append(Stretch(0, lone.start(), "reasoning"))
    return _as_lines(text, counted), found


def _as_broken(answer: str) -> str:
    """The answer with line breaks for block tags, and with blanks for those within a cell."""
    parts, at = list[str](), 0
    for start, end in breaks_in_cells(answer):
        parts += answer[at:start], " " * (end - start)
        at = end
    return _BLOCK_TAG.sub(_as_break, "".join((*parts, answer[at:])))


def _lone_end(answer: str) -> re.Match[str] | None:
    """The end of reasoning without its beginning; not one in code that ends behind it."""
    fences, read, fence = Fences(), 0, _FENCE.search(answer)
    for tag in _LONE_END.finditer(answer):
        read = _read_lines(fences, answer, read, answer.rfind("\n", read, tag.start()) + 1)
        while fence is not None and fence.start() < tag.end():
            fence = _FENCE.search(answer, fence.end())
        if not fences.code or fence is None or fence["info"].strip():
            return tag
    return None


def _tagged(answer: str, text: str, at: int = 0) -> Iterator[_Tagged]:
    """The tags of reasoning, tool calls and scripts outside code and each other, from ``at`` on.

    One without an end counts if it begins a line and what follows may be what it holds; else it is
    taken for a tag that a sentence names, as in "Models write <think> first.", and holds nothing.
    Linear time. ``text`` is the answer with line breaks for block tags.
    """
    fences, read, endless = Fences(), at, set[str]()
    while opening := _OPENING.search(text, at):
        at = opening.end()
        if opening["code"]:
            continue
        tag, start = opening["tag"].lower(), text.index("<", opening.start())
        line = max(read, text.rfind("\n", read, start) + 1)
        read = _read_lines(fences, text, read, line)
        if fences.code:
            continue
        kind: Apart = "reasoning" if tag in _REASONING_TAGS else "code"
        end = None if tag in endless else re.compile(rf"</{tag}\s*>", re.I).search(answer, at)
        if end is None:
            endless.add(tag)
        fits = kind == "reasoning" or opening["alone"] is not None
        counts = end is not None or (opening["first"] is not None and fits)
        body_end, after = end.span() if end else (len(answer), len(answer))
        yield _Tagged(start, at, body_end, after, kind, counts)
        if counts:
            _read_lines(fences, text, line, start)
            read = at = after


def _read_lines(fences: Fences, text: str, start: int, end: int) -> int:
    """Let ``fences`` read the lines of ``text[start:end]``; returns ``end``."""
    for line in LINE.finditer(text, start, end):
        if line.group().strip():
            fences.read(text, *line.span())
    return end


def _is_inside(at: int, known: Sequence[Stretch]) -> bool:
    return any(stretch.start <= at < stretch.end for stretch in known)


def _as_lines(text: str, tagged: Sequence[_Tagged]) -> str:
    """The text with line breaks for the tags."""
    parts, at = list[str](), 0
    for one in tagged:
        parts += text[at : one.start], _break(one.body - one.start)
        parts += text[one.body : one.body_end], _break(one.end - one.body_end)
        at = one.end
    return "".join((*parts, text[at:]))


def _as_blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _as_break(match: re.Match[str]) -> str:
    if match["code"]:
        return match.group()
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
        if listing and SOURCE_ENTRY.match(line):
            yield Stretch(at, at + len(line), "entry")
        elif line.strip(" \t=-"):  # no line under the heading "Sources"
            listing = SOURCES.match(line) is not None
        at += len(line) + 1
