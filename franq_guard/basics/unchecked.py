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
    """Return why nothing in an answer could be checked, None where that is no fault.

    An answer that states nothing, such as a refusal or a greeting, is no fault. Code is: what it
    says, or what JSON in it says, has been read by nobody. So is a lone "Yes.": it states something
    that only the question tells. So are headings above nothing but a source: "**Tom Berg**" may be
    the answer.

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
