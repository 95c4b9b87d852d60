"""Cuts a text for the small model into sentences, chunks and windows, as character ranges."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from franq_guard.basics.text import trimmed
from franq_guard.basics.words import word_set
from franq_guard.records import Span

_ABBREVIATIONS: Final = word_set(
    "mr mrs ms dr prof st sr jr vs etc no vol fig inc ltd co corp gen col sgt lt capt rev hon "
    "gov sen rep e.g i.e u.s u.k a.m p.m ca cf al jan feb mar apr jun jul aug sep sept oct "
    "nov dec"
)
# Only from the first mark of a run: from each of "????" it would be read to its end.
_END: Final = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？]+|\n+")
_LAST_WORD: Final = re.compile(r"(\S+)$")
_NEXT: Final = re.compile(r"\s*+(\S?)")
_UNIT: Final = re.compile(r"\d[ \u00a0\u202f][a-z]$")


def sentences(text: str) -> list[Span]:
    """Return the character ranges of the sentences of `text`, without surrounding white space.

    A full stop does not end a sentence after an initial, after a common abbreviation, or before a
    lower-case word. It ends one after a unit ("5.9 h."); a line break always does.
    """
    spans: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if match.group()[0] == "." and _keeps_on(text, start, match.start(), match.end()):
            continue
        start = _push(spans, text, start, match.end())
    _push(spans, text, start, len(text))
    return spans


def _push(spans: list[Span], text: str, start: int, end: int) -> int:
    left, right = trimmed(text, start, end)
    if right > left:
        spans.append((left, right))
    return end


def _keeps_on(text: str, start: int, stop: int, end: int) -> bool:
    last = _LAST_WORD.search(text, max(start, stop - 20), stop)
    word = last.group().lstrip("(\"'").lower() if last else ""
    following = _NEXT.match(text, end)
    initial = (
        len(word) == 1 and word.isalpha() and not _UNIT.search(text, max(start, stop - 3), stop)
    )
    return initial or word in _ABBREVIATIONS or (following is not None and following[1].islower())


def size(text: str) -> int:
    """Return a rough count of the tokens of `text`: a quarter of its UTF-8 bytes."""
    return len(text.encode("utf-8", "replace")) // 4 + 1


def chunks(text: str, budget: int) -> list[Span]:
    """Join neighbouring sentences into chunks of about equal length, each within `budget`.

    As in AlignScore, but counted in tokens instead of words: as few chunks as the budget allows,
    evenly filled. A sentence over the budget is cut at white space.

    Args:
        text: the context.
        budget: tokens per chunk, as `size` counts them.

    Returns:
        Character ranges of the chunks, in order; none where `text` is blank.
    """
    spans = pieces(text, budget)
    sizes = [size(text[a:b]) for a, b in spans]
    total = sum(sizes)
    target = total / max(1, -(-total // budget))
    out: list[Span] = []
    filled = 0
    for (start, end), more in zip(spans, sizes, strict=True):
        if out and filled + more <= budget and filled + more / 2 <= target:
            out[-1], filled = (out[-1][0], end), filled + more
        else:
            out.append((start, end))
            filled = more
    return out


@lru_cache(maxsize=256)  # score, evidence and the three classes of a claim need those of a passage
def pieces(text: str, budget: int) -> tuple[Span, ...]:
    """Return the sentences of `text`; one over the budget is cut at white space."""
    return tuple(piece for span in sentences(text) for piece in windows(text, span, budget))


def windows(text: str, span: Span, budget: int) -> list[Span]:
    """Cut a range over the budget into even pieces, at nearby white space if there is any."""
    start, end = span
    count = -(-size(text[start:end]) // budget)
    step = -(-(end - start) // count)
    out: list[Span] = []
    while end - start > step:
        blank = text.rfind(" ", start + step // 2, start + step)
        cut = blank if blank > 0 else start + step
        out.append((start, cut))
        start = cut + (blank > 0)
    if end > start:
        out.append((start, end))
    return out
