"""Finds a claim that overlooks of what a shortened denial speaks.

"Varr has an atmosphere; Thessa has none" denies one of the two, without a word for what it denies,
so that an alignment takes "none" for a denial of the other, or of nothing.
"""

from __future__ import annotations

import re
from typing import Final

from franq_guard.faithfulness.small.differences.opposites import opposite_key
from franq_guard.faithfulness.small.tokens import tokens

_DENIED: Final = re.compile(
    r"(?:[;,:–—]|\b(?:and|but|while|whereas|though|although)\b)\s+"
    r"(?:(?:but|and|while|whereas|though|although)\s+)?(?P<subject>[^;,:–—.!?]{1,80}?)\s+"
    r"(?:(?:has|have|had|is|are|was|were|do|does|did|can|could|will|would)(?:n['’]t| not| none)"
    r"|cannot)\s*(?=[.;,!?)]|$)",
    re.IGNORECASE,
)
"""A part of a sentence that ends with its denial."""


def denied_of_another(claim: str, sentence: str) -> bool:
    """Whether a claim states what the sentence denies by an ellipsis, or denies what it states.

    Args:
        claim: a sentence.
        sentence: the one of the context nearest to it.
    """
    own, negated = _words(claim)
    for found in _DENIED.finditer(sentence):
        subject, inner = _words(found["subject"])
        others, denied = _words(f"{sentence[: found.start()]}; {sentence[found.end() :]}")
        if denied or inner or not set(subject) - set(others):
            continue
        about = own[: len(subject)] == subject
        apart = (set(subject) - set(others)).isdisjoint(own)
        rest = own[len(subject) :] if about else own
        if rest and set(rest) <= set(others) and (about or apart) and negated != about:
            return True
    return False


def _words(text: str) -> tuple[list[str], bool]:
    """The words of a text but pronouns and negations, and whether it has a negation."""
    found = [token for token in tokens(text) if token.kind != "pronoun"]
    plain = [opposite_key(token.text) for token in found if token.kind != "negation"]
    return plain, len(plain) < len(found)
