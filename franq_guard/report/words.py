"""Labels and reasons in plain words, used by all pages, tables and messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from franq_guard.label_rule import RATHER
from franq_guard.records import CitationFinding, CitedAs, Label, Reason

__all__ = [
    "CITED_WORDS",
    "LABEL_WORDS",
    "NUMBER_WORDS",
    "REASON_WORDS",
    "Words",
    "citation_words",
    "difference_words",
    "promise_words",
    "why",
]


class Words(NamedTuple):
    """A label's ``name`` for people, and its ``meaning``: one sentence on the claim.

    ``shape`` stands beside the label's colour, for those who cannot tell the colours apart.
    """

    name: str
    meaning: str
    shape: str


LABEL_WORDS: Mapping[Label, Words] = {
    "supported": Words("Supported", "The passages appear to say this.", "✓"),
    "unclear": Words("Unclear", "The passages may say this, but not clearly.", "≈"),
    "unsupported-true": Words(
        "Likely true", "The passages do not say this, but it is probably true.", "◇"
    ),
    "unsupported": Words(
        "Not in the passages",
        "The passages do not say this; whether it is true is unknown.",
        "○",
    ),
    "doubtful": Words("Doubtful", "This may be wrong: check it before you rely on it.", "?"),
    "false": Words("Likely false", "This is probably wrong.", "✗"),
    "unverified": Words("Not verified", "This could not be checked.", "–"),
    "not-a-claim": Words("Not a claim", "This says nothing that could be true or false.", ""),
}

NUMBER_WORDS: Mapping[str, tuple[str, str]] = {
    "p_true": (
        "P(true)",
        "How probable it is that the claim is true, from 0 to 1: by the passages, and by what the "
        "model that wrote it knows.",
    ),
    "p_faithful": (
        "P(faithful)",
        "How probable it is that the passages say the claim, from 0 to 1. A claim that they do not "
        "say may be true all the same.",
    ),
}
"""Name and meaning of the two numbers of a verdict that people are shown."""

REASON_WORDS: Mapping[Reason, str] = {
    "no_evidence": "no passages were found that the answer could be checked against",
    "no_prompt": "what the model was asked is not known",
    "no_logprobs": "the model's probabilities are not known",
    "no_contrast": "the passages could not be taken out of what the model was asked",
    "language": "the answer is in a language that the guard was not trained on",
    "prior": "there are no calibrated probabilities of the model that wrote it",
    "conflict": "one passage says this and another says otherwise",
    "error": "the check failed",
    "timeout": "the check took too long",
    "not_in_answer": "the claim was given with the answer, but does not stand in it",
}


def why(reason: str | None) -> str:
    """A verdict's reason in plain words; an unknown reason is shown unchanged."""
    known = (words for name, words in REASON_WORDS.items() if name == reason)
    return next(known, (reason or "").replace("_", " "))


CITED_WORDS: Mapping[CitedAs, str] = {
    "right": "which says this",
    "wrong passage": "which does not say this; another passage does",
    "nowhere": "which does not say this, and neither does another passage",
}


def citation_words(found: CitationFinding) -> str:
    """The result of checking a citation, such as "cites passage 2, which says this"."""
    which = f"passage {found.name}" if found.name.isdigit() else f'"{found.name}"'
    if found.passage is None:
        return f"cites {which}, but there is no such passage"
    if found.finding == "right" and (found.p_faithful or 0.0) <= RATHER:
        return f"cites {which}, which may say this"
    return f"cites {which}, {CITED_WORDS[found.finding]}"


def difference_words(own: str, other: str) -> str:
    """How a claim and the passage differ, such as 'differs: "ten", the passage has "nine"'.

    Args:
        own: words of the claim; "" for a negation that only the passage has.
        other: those of the passage in their place; "" for a negation that only the claim has.
    """
    if not other:
        return f'differs: "{own}", which the passage does not have'
    here = f'"{own}", ' if own else ""
    return f'differs: {here}the passage has "{other}"'


def promise_words(promise: Mapping[str, Any]) -> str:
    """A calibrator's promise in a sentence; missing values are shown as question marks."""
    share, confidence = (
        "?" if promise.get(key) is None else f"{100 * float(promise[key]):.3g}"
        for key in ("at_most_flagged", "confidence")
    )
    return (
        f"at most {share} % of the {promise.get('of', '?')} are flagged, "
        f"at {confidence} % confidence (n = {promise.get('n', '?')})"
    )
