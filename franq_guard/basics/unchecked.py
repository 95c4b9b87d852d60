"""Says why an answer without claims is not verified."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

Unchecked = Literal["no_answer", "no_claims"]
"""``no_answer``: blank, or a framework's note that there is none; ``no_claims``: only code, JSON or
a model's reasoning, which are not read as claims, a lone "Yes." whose question does not surely tell
what it states, only headings and their sources, or a splitter that found nothing at all."""

_NO_TEXT = frozenset(
    # The last three are "Empty Response", which LlamaIndex writes itself.
    {"no statement", "no answer", "the model said nothing", "nothing was asked of the model"}
)
_AROUND_HEADINGS = frozenset({"heading", "citation", "greeting"})
"""An answer of these alone has nothing that was read, although a heading may be its answer."""


def unchecked_because(answer: str, why: Collection[str | None]) -> Unchecked | None:
    """Why nothing in an answer was checked although it may state something; None otherwise.

    A refusal or a greeting states nothing: None. Code and JSON may state something, but are not
    read as claims. A lone "Yes." states something that only its question tells. Of headings above
    nothing but a source, one may be the answer: "**Tom Berg**".

    Args:
        answer: the whole text.
        why: of each part of it, why it is not a claim; None for a claim.
    """
    kinds = set(why)
    if not answer.strip():
        return "no_answer"
    if None in kinds:
        return None
    if kinds and kinds <= _NO_TEXT:
        return "no_answer"
    if kinds & {"code", "yes or no"} or kinds <= {"reasoning", *_NO_TEXT}:
        return "no_claims"
    if "heading" in kinds and kinds <= _AROUND_HEADINGS:
        return "no_claims"
    return None
