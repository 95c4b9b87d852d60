"""Parses Markdown into blocks: which text is prose, and which characters are only markup."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from franq_guard.basics.text import trimmed
from franq_guard.claims.fences import LINE, Fences
from franq_guard.claims.forms import SOURCE_ENTRY, SOURCES, Apart, Lines, lines_of
from franq_guard.records import Span

Kind = Literal[
    "paragraph",
    "item",
    "heading",
    "footnote",
    "entry",
    "code",
    "reasoning",
    "citation",
    "table_head",
    "row",
]
"""An ``entry`` is one of a list of sources that begins with a number in brackets or an address."""
NOTHING = frozenset({"code", "reasoning", "citation"})
"""Kinds of blocks that contain no claims."""

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?=[ \t]|$)")
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)$")
UNDERLINE = re.compile(r"[ \t]*(?:=+|-{4,})[ \t]*$")
"""Makes a heading of the line above it; "---" alone mostly only separates."""
_UNDERLINED = re.compile(r"[^.!?…。！？।؟:;|]{1,80}$")
"""What is surely no sentence and no "word: value", so may be a heading with a line under it."""
_ROMAN = r"(?i:x{0,3}(?:ix|iv|v?i{1,3}|v)|x{1,3})"
_ITEM = re.compile(
    rf"[ \t]*(?:[-*+•‣◦▪–—·][ \t]+|\(?(?:\d{{1,3}}|[A-Za-z]|{_ROMAN})\\?[.)][ \t]+"
    r"|(?:\d{1,2}\ufe0f?\u20e3|\U0001f51f)[ \t]*)"
)
"""A bullet; a number, letter or Roman numeral; an emoji keycap."""
SIGN = (
    "[■▪▫▬▰▶▸►▹▻◆◇◈◉○◎●◼◾★☆✦✧✨✪✱✳✴❖➔➜➝➞➡➢➣➤➥➦➨➽✅☑✓✔⬛⚫⚪⭐☞👉🔹🔸🔷🔶🔵🔘🔲🔳🌟💫📌📍💡🎯🔑]"
    "[\U0001f3fb-\U0001f3ff]?\ufe0f?"
)
"""A sign that only marks a line. One that may say something is none: a cross, a flag, an apple."""
_SIGN = re.compile(rf"[ \t]*({SIGN})[ \t]+(?=\S)")
_TITLE_SIGNS = frozenset("📌📍💡🎯🔑🌟💫")
"""Before a bold line, a sign of its title; a check mark or a diamond begins items of a list."""
_PICTURE = (
    "[\u2139\u23e9-\u23fa\u2600-\u27bf\U0001f300-\U0001faff]"
    "[\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff]*"
)
SIGNED = re.compile(rf"{_PICTURE}[ \t]+(?=\S)")
"""The emoji that begins a line."""
_TITLE = r"[A-Z][^\d.,;:!?…()*_|\n–—]{1,50}"
_SIGNED_TITLE = re.compile(
    rf"(?![✅☑✓✔✖✗✘❌❎👍👎🚫⛔🚭📵])(?P<sign>{_PICTURE}[ \t]+)(?:{_TITLE}|(\*\*|__){_TITLE}\2)"
)
"""What may be a title behind an emoji; a check mark or a cross says that something is there."""
_BOLD_ITEM = re.compile(rf"(\*\*|__){_TITLE}\1")
_FIELD = re.compile(r"[ \t]*([^\W\d_])[\w-]*(?: [\w-]+){0,2}:(?: +\S|$)")
"""A line that begins as "word: value", or is "word:"."""
_FOOTNOTE = re.compile(r"[ \t]*(?:\[\^?\d{1,3}\]:|[¹²³⁰⁴-⁹]{1,3}:?)[ \t]+(?=\S)")
_PIPE = re.compile(r"(?<!\\)\|")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_TASK = re.compile(r"\[[ xX✓✔]?\][ \t]+")
"""The box of a task, behind the mark of its item: "- [x] Waterproof"."""
_BOX = re.compile(r"[ \t]*\[[ x✓✔]\][ \t]+(?=\S)")
"""The box that is the only mark of its line; "[X] was founded in 1900" may lack a name."""
DELIMITER_ROW = re.compile(
    r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*+:?-*+:?[ \t]*+)*+$"
)  # ++ and *+: a row of empty cells is read in one way only
_HTML_HEAD = re.compile(r"[ \t]*<th\b(?!.*<td\b)", re.I)
_BOLD_HEADING = re.compile(r"[ \t]*(\*\*|__)(?:\d{1,2}\.[ \t]+)?[^*_.!?]{1,80}\1[ \t]*$")
_FORMULA = re.compile(r"(?:\$\$|\\\[)[ \t]*(?=\n|$)")
"""A line that begins a formula set in lines of its own."""
_BOLD_FIELD = re.compile(r"(\*\*|__)\w[^*_:!?\n]{0,40}: [^*_?\n]{1,80}\1")
ENDS = (".", "!", "?", ":", ";", "。", "！", "？", '."', ".”", ".)", "|", ".*", ":*")
WRAP_WIDTH = 50
"""From this length on, a line may be wrapped, with its sentence continued in the next line."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text of one kind. ``start:end`` is its text without markers.

    ``cells`` are the table cells of a row; ``numbered`` items have a number or a letter;
    ``marker`` is the range of the list marker, or of the "[1]:" of a footnote or entry;
    ``after_blank``: there is a blank line before it.
    """

    kind: Kind
    start: int
    end: int
    cells: tuple[Span, ...] = ()
    marker: Span = (0, 0)
    numbered: bool = False
    indent: int = 0
    after_blank: bool = False


def blocks(text: str) -> list[Block]:
    """The blocks of ``text`` in order, without blank lines, horizontal rules and fence lines."""
    lines = lines_of(text)
    found = _fields(lines.text, _line_blocks(lines))
    return _join_wrapped(lines.text, _tables(lines.text, found))


def title_words(text: str, block: Block) -> Span | None:
    """The words of a line that may be a title; else None.

    That is one behind an emoji ("📌 Key facts"), or a bold one that is an item of a list.
    """
    if block.kind not in {"paragraph", "item"}:
        return None
    if block.kind == "item" and _BOLD_ITEM.fullmatch(text, block.start, block.end):
        return block.start, block.end
    start = block.marker[0] if block.kind == "item" else block.start
    found = _SIGNED_TITLE.fullmatch(text, start, block.end)
    return (found.end("sign"), block.end) if found else None


def closing_sources(text: str, found: Sequence[Block]) -> int:
    """Which of the blocks is a line "Sources:" with a list after it, or nothing, to the end.

    The number of blocks if none is.
    """
    at = len(found) - 1
    while at >= 0 and found[at].kind in {"item", "entry", "footnote"}:
        at -= 1
    return at if at >= 0 and SOURCES.match(_source(text, found[at])) else len(found)


def _not_blank(text: str) -> Iterator[tuple[int, int, bool]]:
    """Lines that are not blank: start, end, whether there is a blank line before."""
    last = 0
    blank = False
    for line in LINE.finditer(text):
        start, end = line.span()
        blank = blank or text.count("\n", last, start) > 1
        last = end
        if not line.group().strip():
            blank = True
            continue
        yield start, end, blank
        blank = False


def _line_blocks(lines: Lines) -> list[Block]:
    fences, text, apart = Fences(), lines.text, deque(lines.apart)
    found: list[Block] = []
    for start, end, blank in _not_blank(text):
        while apart and apart[0].end <= start:
            apart.popleft()
        if apart and apart[0].start < end:
            found.append(_of_stretch(text, start, end, apart[0].kind, blank))
            continue
        held = fences.read(text, start, end)
        if not text[held.start : held.end].strip():
            continue
        if held.is_code:
            found.append(Block("code", *trimmed(text, held.start, held.end), after_blank=blank))
        elif not _RULE.match(text, held.start, held.end):
            found.append(_classify(text, held.start, held.end, blank))
        elif UNDERLINE.match(text, start, end) and _is_title(text, found, start):
            found[-1] = replace(found[-1], kind="heading")
    return found


def _of_stretch(text: str, start: int, end: int, kind: Apart, blank: bool) -> Block:
    """A line of a stretch that is no prose; an entry without its number."""
    span = trimmed(text, start, end)
    entry = SOURCE_ENTRY.match(text, *span) if kind == "entry" else None
    if entry is None:
        return Block(kind, *span, after_blank=blank)
    body = trimmed(text, entry.end(), span[1])
    return Block("entry", *body, marker=(span[0], body[0]), after_blank=blank)


def _is_title(text: str, found: Sequence[Block], underline: int) -> bool:
    """Whether the last block is one line right above ``underline`` that may be a heading."""
    if not found or found[-1].kind != "paragraph":
        return False
    last = found[-1]
    if text.find("\n", last.end) != underline - 1 or text[last.end : underline].strip():
        return False
    goes_on = len(found) > 1 and _continues(text, found[-2], last)
    return not goes_on and _UNDERLINED.match(text, last.start, last.end) is not None


def _classify(text: str, start: int, end: int, blank: bool) -> Block:
    quote = _QUOTE.match(text, start, end)
    body = quote.end() if quote else start
    heading = _HEADING.match(text, body, end)
    if heading:
        return Block("heading", *trimmed(text, heading.end(), end), after_blank=blank)
    note = _FOOTNOTE.match(text, body, end)
    if note:
        left, _ = trimmed(text, body, note.end())
        span = trimmed(text, note.end(), end)
        return Block("footnote", *span, marker=(left, span[0]), after_blank=blank)
    item = _ITEM.match(text, body, end)
    item = item or _SIGN.match(text, body, end) or _BOX.match(text, body, end)
    is_title = item is not None and item.group().lstrip()[0] in _TITLE_SIGNS
    if item and is_title and _BOLD_HEADING.match(text, item.end(), end):
        return Block("heading", *trimmed(text, item.end(), end), after_blank=blank)
    if item and not _is_initial(item):
        mark = _TASK.match(text, item.end(), end) or _SIGN.match(text, item.end(), end)
        content = mark.end() if mark else item.end()
        left, _ = trimmed(text, item.start(), item.end())
        span = trimmed(text, content, end)
        return Block(
            "item",
            *span,
            marker=(left, span[0]),
            numbered=text[left : item.end()].strip("( ").rstrip()[0].isalnum(),
            indent=left - body,
            after_blank=blank,
        )
    if _HTML_HEAD.match(text, body, end):
        whole = trimmed(text, body, end)
        return Block("table_head", *whole, (whole,), after_blank=blank)
    if _BOLD_HEADING.match(text, body, end):
        return Block("heading", *trimmed(text, body, end), after_blank=blank)
    return Block("paragraph", *trimmed(text, body, end), after_blank=blank)


def _is_initial(item: re.Match[str]) -> bool:
    """``J. Smith`` begins with an initial, ``a. first`` and ``A) first`` with a list letter."""
    marker = item.group().strip()
    return len(marker) == 2 and marker[0].isupper() and marker.endswith(".")


def _fields(text: str, found: list[Block]) -> list[Block]:
    """Bold lines "**Size: 9 km**" that follow each other are no headings."""
    bold = [is_bold_field(text, block) for block in found]
    near = [
        (k > 0 and bold[k - 1] and not block.after_blank)
        or (k + 1 < len(found) and bold[k + 1] and not found[k + 1].after_blank)
        for k, block in enumerate(found)
    ]
    return [
        replace(block, kind="paragraph") if bold[k] and near[k] else block
        for k, block in enumerate(found)
    ]


def is_bold_field(text: str, block: Block) -> bool:
    """Whether the block is a bold line "**Size: 9 km**"."""
    return _BOLD_FIELD.fullmatch(text, block.start, block.end) is not None


def _tables(text: str, found: list[Block]) -> list[Block]:
    """Lines with pipes around a delimiter row become a header and rows."""
    out: list[Block] = []
    in_table = False
    for block in found:
        line = text[block.start : block.end]
        piped = block.kind == "paragraph" and "|" in line
        if piped and DELIMITER_ROW.match(line) and out and "|" in _source(text, out[-1]):
            head = out.pop()
            out.append(Block("table_head", head.start, head.end, _cells(text, head)))
            in_table = True
        elif piped and in_table:
            out.append(Block("row", block.start, block.end, _cells(text, block)))
        else:
            in_table = False
            out.append(block)
    return out


def _source(text: str, block: Block) -> str:
    return text[block.start : block.end]


def _cells(text: str, block: Block) -> tuple[Span, ...]:
    cells: list[Span] = []
    start = block.start
    pipes = [pipe.start() for pipe in _PIPE.finditer(text, block.start, block.end)]
    for end in [*pipes, block.end]:
        cells.append(trimmed(text, start, end))
        start = end + 1
    if cells and cells[0][0] >= cells[0][1]:
        cells = cells[1:]
    if cells and cells[-1][0] >= cells[-1][1]:
        cells = cells[:-1]
    return tuple(cells)


def _join_wrapped(text: str, found: list[Block]) -> list[Block]:
    """A line that continues the sentence of the line before it belongs to the same block."""
    out: list[Block] = []
    for block in found:
        if out and _continues(text, out[-1], block):
            out[-1] = replace(out[-1], end=block.end)
        elif block.kind in NOTHING and out and out[-1].kind == block.kind:
            out[-1] = Block(block.kind, out[-1].start, block.end)
        else:
            out.append(block)
    return out


def _continues(text: str, last: Block, block: Block) -> bool:
    if block.kind != "paragraph" or last.kind not in {"paragraph", "item"} or block.after_blank:
        return False
    if in_formula(text, last):
        return True
    if any(_FORMULA.match(text, one.start, one.end) for one in (last, block)):
        return False
    if SIGNED.match(text, block.start):
        return False
    if text[block.start : block.end].startswith(("|", ">")) or ">" in text[last.end : block.start]:
        return False
    line_start = max(text.rfind("\n", last.start, last.end) + 1, last.start)
    line = text[line_start : last.end]
    if line.endswith(ENDS) or _are_fields(line, text[block.start : block.end]):
        return False
    return text[block.start].islower() or len(line) >= WRAP_WIDTH


def in_formula(text: str, block: Block) -> bool:
    """Whether a formula that begins in a line of its own goes on behind the block."""
    source = text[block.start : block.end]
    opening = _FORMULA.match(source)
    if opening is None:
        return False
    closing = "$$" if source.startswith("$$") else "\\]"
    return not source[opening.end() :].endswith(closing)


def _are_fields(line: str, following: str) -> bool:
    """Whether two lines read "word: value", with words in the same case.

    Else the second may only be wrapped: "Note: it is made in one" and "colour: red".
    """
    first, second = _FIELD.match(line), _FIELD.match(following)
    return first is not None and second is not None and first[1].isupper() == second[1].isupper()
