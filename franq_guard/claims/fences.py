"""Fences around code in Markdown, as models write them, read line by line.

Unlike in Markdown, a closing fence may have text after it ("``` It was built in 1805."), which is a
line of its own, and code may end with its last line ("f()```") or begin after prose.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["LINE", "Fences", "Held", "has_fence"]

LINE = re.compile(r"[^\n]+")

_OPENING = re.compile(r"[ \t]*(`{3,}(?![^\n`]*`)|~{3,})")
"""Not "```f()```", which is code in a line: all that follows would be taken for code."""
_CLOSING = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LATE = re.compile(r"(?<=[^\s`])[ \t]+(`{3,})[\w+-]*[ \t]*$")
"""Begins code at the end of a line of prose: "Run this: ```bash"."""
_MARKER = re.compile(r"[ \t>#|*_+•‣◦▪–—·-]*(?:\(?\d{1,3}[.)][*_]*)?[ \t]*")
"""What states nothing before a late fence: "1. ```bash"."""
_OF_PROSE = re.compile(
    r"[ \t]*(?:`{3,}|~{3,})[ \t]*(?:markdown|md|text|txt|plain|plaintext)[ \t]*$", re.I
)
"""Begins a block that holds text, not code: many models put a whole answer into one."""
_INFO = re.compile(r"[ \t]*(?:[\w+#.-]*[\w+#-])?[ \t]*$")
"""What a fence says about its code, in one word."""


class Held(NamedTuple):
    """What a line holds without its fence: ``start:end``, which may be empty, code or prose."""

    start: int
    end: int
    is_code: bool


class Fences:
    """Reads a text line by line; each decision depends on the lines read so far alone.

    Attributes:
        code: the fence of the code that has not ended yet; empty outside code.
    """

    def __init__(self) -> None:
        self.code = ""
        self._around_prose = ""  # the fence of the text that has not ended yet

    def read(self, text: str, start: int, end: int) -> Held:
        """Read the next line, ``text[start:end]``."""
        if self.code:
            after = _after_code(text, start, end, self.code)
            if after is not None:
                self.code = ""
                return self._prose(text, after, end)
            # "f()```", as models write it, ends the code, too.
            self.code = "" if text[start:end].rstrip().endswith(self.code) else self.code
            return Held(start, end, is_code=True)
        closing = _CLOSING.match(text, start, end) if self._around_prose else None
        if closing is not None and self._ends_prose(closing, text, end):
            self._around_prose = ""
            return self._prose(text, closing.end(), end)
        fence = _OPENING.match(text, start, end)
        if fence is None:
            return self._prose(text, start, end)
        if _OF_PROSE.match(text, start, end):
            self._around_prose = fence.group(1)
            return Held(end, end, is_code=False)
        self.code = fence.group(1)
        is_info = _INFO.match(text, fence.end(), end)
        return Held(end if is_info else fence.end(), end, is_code=True)

    def _ends_prose(self, closing: re.Match[str], text: str, end: int) -> bool:
        """Whether a fence ends the block that holds text; with a word behind it, it begins code."""
        rest = text[closing.end() : end]
        ends = closing.group(1).startswith(self._around_prose)
        return ends and (not rest.strip() or _INFO.match(rest) is None)

    def _prose(self, text: str, start: int, end: int) -> Held:
        """A line of prose, without a fence that begins code at its end."""
        late = _LATE.search(text, start, end)
        before = text[start : late.start()] if late else ""
        if late is None or "```" in before:
            return Held(start, end, is_code=False)
        self.code = late.group(1)
        end = start if _MARKER.fullmatch(before) else late.start()
        return Held(start, end, is_code=False)


def has_fence(text: str, *, of_prose: bool = False) -> bool:
    """Whether a line of the text is a fence; ``of_prose``: one that begins a block of text."""
    fence = _OF_PROSE if of_prose else _CLOSING
    return any(fence.match(text, *line.span()) for line in LINE.finditer(text))


def _after_code(text: str, start: int, end: int, fence: str) -> int | None:
    """Where the text after a closing fence begins; None if the line does not close ``fence``."""
    closing = _CLOSING.match(text, start, end)
    if closing is None or not closing.group(1).startswith(fence):
        return None
    after = closing.end()
    is_info = after < end and not text[after].isspace() and _INFO.match(text, after, end)
    return end if is_info else after
