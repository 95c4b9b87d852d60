"""Writes the words of a clause as a sentence of its own."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from franq_guard.claims.blocks import SIGN
from franq_guard.claims.rules.citations import TAKEN_OUT
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.lexer import Word

_NO_SPACE_BEFORE = frozenset(".,;:!?)]}%'’”»…")
_EMPHASIS = re.compile(
    r"(?<![\w\\])(\*{1,3}|_{1,3})(?=\S)|(?<=[^\s\\])(\*{1,3}|_{1,3})(?!\w)|`+|\[(\d{1,3})\]"
)
_ESCAPED = re.compile(r"\\([*_$%#&~|])")
"""A mark that is meant as it stands, in Markdown or LaTeX: "pump\\_data", "5\\%"."""
_NUMBER = re.compile(r"(?<![\w$\\])\$(\d[\d.,]*)(?:\\text\{([^{}$\n]{1,20})\})?\$(?![\w$])")
"""A number set as a formula: "It weighs $4$ kg" and "$4\\text{ kg}$" are about no dollars."""
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^()\s]*\)")
_NUMBERING = re.compile(r"^\(?\d{1,2}[.)] (?=\D)")
_OPENING_SIGN = re.compile(rf"^(?:{SIGN} +)+")
_BLANKS = re.compile(r"\s+")
_TAKEN_OUT = re.compile(
    rf"(?<!\s)(?=[^\S{TAKEN_OUT}]*{TAKEN_OUT})\s*+(?:(?=[.,;:!?)\]}}])|(?<={TAKEN_OUT})(?=[\"'”’»`]))"
)
"""Blanks that hold something taken out, before a mark."""
_LOOSE_END = " ,;:—–-"
_JOINING_END = re.compile(r"[,;] (?:and|or)$")
"""What joins an item of a list to the next one: "a sauna, and"."""
_CLOSED = (".", "!", "?", "。", "！", "？", "…", '."', ".”", '!"', '?"', ".)", ".»", ".'", ".’")


def render(answer: str, clause: Clause) -> str:
    """The text of the clause: spaced as in the answer between adjacent words, else one blank."""
    parts: list[str] = []
    last: Word | None = None
    for word in clause.frame:
        if last is not None:
            parts.append(_gap(answer, last, word))
        parts.append(word.text)
        last = word
    return as_sentence("".join(parts))


def emphasis(answer: str, words: Sequence[Word]) -> dict[int, bool]:
    """Index of each word that is a Markdown emphasis mark, and whether it opens the emphasis.

    The words are in the order of the answer.
    """
    if not words or not any(x.text in "*_" for x in words):
        return {}
    first = words[0].start
    starts = [x.start - first for x in words]
    marks = [m for m in _EMPHASIS.finditer(answer[first : words[-1].end]) if m[1] or m[2]]
    return {
        x.index: mark.group(1) is not None
        for mark in marks
        for x in words[bisect_left(starts, mark.start()) : bisect_left(starts, mark.end())]
    }


def _gap(answer: str, last: Word, word: Word) -> str:
    if last.index >= 0 and word.index == last.index + 1 and last.end <= word.start:
        return answer[last.end : word.start]
    between = answer[last.end : word.start] if 0 <= last.end <= word.start else " "
    if last.index >= 0 and not between.strip("*_"):
        return ""  # only emphasis marks: "**Rome**'s"
    return "" if word.text[0] in _NO_SPACE_BEFORE else " "


def as_sentence(text: str) -> str:
    """The text as a sentence: without Markdown emphasis, footnote marks and double blanks.

    It begins with a capital letter and ends with a punctuation mark. A sign such as "✅" before
    it is left out.
    """
    text = _BLANKS.sub(" ", _TAKEN_OUT.sub("", plain(text))).strip().strip(_LOOSE_END)
    text = _JOINING_END.sub("", text)
    text = _NUMBERING.sub("", _OPENING_SIGN.sub("", text))
    if not text:
        return text
    first = text.split(" ", 1)[0]
    if first.islower():
        text = text[0].upper() + text[1:]
    return text if text.endswith(_CLOSED) else text + "."


def plain(text: str) -> str:
    """The text without Markdown emphasis, link targets, footnote marks and escaping backslashes."""
    text = _EMPHASIS.sub("", _LINK.sub(r"\1", text))
    return _ESCAPED.sub(r"\1", _NUMBER.sub(r"\1\2", text)) if "\\" in text or "$" in text else text
