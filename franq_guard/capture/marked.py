"""Tells a model's own words; removes from passages what it wrote and what a guard has marked.

Such text is not evidence: a claim must not be supported by the model's own words. This happens
where a model inside a tool writes a text: the text is checked and marked, the agent gets it as the
tool's result, and may repeat a sentence of it, with its mark or without.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from franq_guard.claims.blocks import blocks
from franq_guard.claims.sentences import sentences
from franq_guard.policy import ANY_MARK

_WORD = re.compile(r"\w+")
_BESIDE = 60  # characters that a step may put beside a model's text: "Here is the draft: "

FEWEST_WORDS = 4
"""A shorter text (a name, a query, a route) is among the words of a model or document by chance."""


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
    # A mark that is left is outside of any sentence (the text is not prose). It is not known which
    # words it belongs to, so none of them counts.
    return left if ANY_MARK.search(left) is None else " " * len(text)


def without_written(text: str, written: Collection[str]) -> str:
    """``text`` with blanks in place of what models wrote: whole ``written`` texts, and sentences.

    If only a few other words are left (such as ``"Answer:"``), the result is blank. If ``text``
    contains nothing of ``written``, it is returned unchanged.
    """
    texts = sorted((own.strip() for own in written if own.strip()), key=len, reverse=True)
    left = text
    for whole in texts:
        if is_long(whole):
            left = left.replace(whole, " " * len(whole))
    for start, end in _sentences(text):
        if any(text[start:end].strip() in whole for whole in texts):
            left = _blanked(left, start, end)
    return left if left == text or is_long(left) else " " * len(text)


def is_long(text: str) -> bool:
    """Whether a text has :data:`FEWEST_WORDS`, so that it is not in another one by chance."""
    return len(_WORD.findall(text)) >= FEWEST_WORDS


def is_little(text: str) -> bool:
    """Whether what is left beside a model's text is no more than words that introduce it."""
    return len("".join(text.split())) <= _BESIDE


def is_part_of(text: str, wrote: str) -> bool:
    """Whether a text is what a model ``wrote`` or a part of it, but for a few words beside it."""
    return text in wrote or (wrote in text and len(text) - len(wrote) <= _BESIDE)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, also of its lists and tables."""
    return [text[start:end] for start, end in _sentences(text)]


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for block in blocks(text):
        yield from sentences(text, block.start, block.end)


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
