"""What a model wrote, or a guard has marked, is no evidence: else a claim would prove itself.

Where a tool's own model writes, its text is checked and comes back with marks. An agent that
repeats such a sentence, with its mark or without, must not find it among its passages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from franq_guard.claims.blocks import blocks
from franq_guard.claims.sentences import sentences
from franq_guard.policy import ANY_MARK

_WORD = re.compile(r"\w+")
_FEWEST = 4  # words; fewer of a model (a query, a name) stand in a text by chance


def without_marked(text: str) -> str:
    """``text`` with blanks in place of each sentence that carries a guard's mark.

    The result has the same length, so positions in it stay valid; without a mark it is ``text``.
    """
    if ANY_MARK.search(text) is None:
        return text
    left = text
    for start, end in _sentences(text):
        if ANY_MARK.search(text, start, end):
            left = _blanked(left, start, end)
    # A mark outside of any block (a text without prose): nobody knows what it belongs to.
    return left if ANY_MARK.search(left) is None else " " * len(text)


def without_written(text: str, written: Collection[str]) -> str:
    """``text`` with blanks in place of what models wrote: whole texts of them, and sentences.

    Blanks alone where less than a few words of anybody else are left (``"Answer:"``); the identical
    string where no text of ``written`` stands in it.
    """
    told = [model.strip() for model in written if model.strip()]
    left = text
    for whole in told:
        if len(_WORD.findall(whole)) >= _FEWEST:
            left = left.replace(whole, " " * len(whole))
    for start, end in _sentences(text):
        if any(text[start:end].strip() in whole for whole in told):
            left = _blanked(left, start, end)
    others = left == text or len(_WORD.findall(left)) >= _FEWEST
    return left if others else " " * len(text)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for block in blocks(text):
        yield from sentences(text, block.start, block.end)


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
