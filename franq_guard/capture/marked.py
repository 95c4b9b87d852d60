"""Removes sentences that a guard has marked from the evidence, so that no claim supports itself.

If a tool calls a model, a guard checks the tool's text and puts marks into it. If the agent repeats
a marked sentence without its mark, that sentence must not be among the passages as evidence.
"""

from __future__ import annotations

from franq_guard.claims.blocks import blocks
from franq_guard.claims.sentences import sentences
from franq_guard.policy import ANY_MARK


def without_marked(text: str) -> str:
    """``text`` with blanks in place of each sentence that carries a guard's mark.

    The result has the same length, so positions in it stay valid; without a mark it is ``text``.
    """
    if ANY_MARK.search(text) is None:
        return text
    left = text
    for block in blocks(text):
        for start, end in sentences(text, block.start, block.end):
            if ANY_MARK.search(text, start, end):
                left = left[:start] + " " * (end - start) + left[end:]
    # A mark outside of any block (a text without prose) may belong to anything in the text.
    return left if ANY_MARK.search(left) is None else " " * len(text)
