"""What a guard has marked is no evidence: else a claim would be the proof of itself.

Where a tool's own model writes, its text is checked and comes back with marks. An agent that
repeats such a sentence without its mark must not find it among its passages.
"""

from __future__ import annotations

from franq_guard.claims.blocks import blocks
from franq_guard.claims.sentences import sentences
from franq_guard.policy import ANY_MARK


def without_marked(text: str) -> str:
    """``text`` with blanks in place of each sentence that carries a guard's mark.

    Of the same length, so that places in it stay what they are; the identical string where there is
    no mark.
    """
    if ANY_MARK.search(text) is None:
        return text
    left = text
    for block in blocks(text):
        for start, end in sentences(text, block.start, block.end):
            if ANY_MARK.search(text, start, end):
                left = left[:start] + " " * (end - start) + left[end:]
    # A mark outside of any block (a text without prose): nobody knows what it belongs to.
    return left if ANY_MARK.search(left) is None else " " * len(text)
