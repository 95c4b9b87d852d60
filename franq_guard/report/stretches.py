"""Quotes what the passages say for and against a claim, in the wording shared by all views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from franq_guard.label_rule import RATHER
from franq_guard.records import Evidence, Label, Passage, Verdict

_STATED: dict[Label, bool] = {
    "supported": True,
    "unclear": True,
    "doubtful": True,
    "unsupported-true": False,
    "unsupported": False,
}
"""What a label says of whether a passage states the claim; the others say nothing about it."""

__all__ = [
    "Stretch", "is_clear", "is_contradicted", "is_stated", "stretch_against", "stretch_for",
    "stretches",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stretch:
    """A quotation from a passage; ``lead`` names the passage and its relation to the claim.

    Attributes:
        lead: such as "passage 2 (Rome) says otherwise".
        text: the quoted text, with its original white space.
    """

    lead: str
    text: str

    def line(self, width: int) -> str:
        """Lead and text on one line, the text cut to ``width`` characters."""
        text = " ".join(self.text.split())
        return f"{self.lead}: {text if len(text) <= width else text[: width - 1].rstrip() + '…'}"


def stretches(verdict: Verdict, passages: Sequence[Passage]) -> Iterator[Stretch]:
    """The text that supports the claim best, then the text that contradicts it."""
    for found in (stretch_for(verdict, passages), stretch_against(verdict, passages)):
        if found is not None:
            yield found


def stretch_for(verdict: Verdict, passages: Sequence[Passage]) -> Stretch | None:
    """The text that supports the claim best; for an unfaithful claim, the text closest to it.

    The closest text does not support the claim but shows what the passages say instead. None if
    that is the text that contradicts the claim. A calibrator's label may rest on a P(faithful)
    below one half: then the text is not said to state the claim, only that it may.
    """
    states = is_stated(verdict)
    if not states and _place(verdict.evidence) == _place(verdict.against):
        return None
    lead = ("{} says" if is_clear(verdict) else "{} may say so") if states else "closest is {}"
    return _stretch(verdict.evidence, passages, lead)


def stretch_against(verdict: Verdict, passages: Sequence[Passage]) -> Stretch | None:
    """The text that contradicts the claim most; worded as uncertain if no label is based on it.

    None if it is only a weak contradiction by the same text that states the claim.
    """
    certain = is_contradicted(verdict)
    if not certain and is_stated(verdict) and _place(verdict.evidence) == _place(verdict.against):
        return None
    says = "says" if certain else "may say"
    return _stretch(verdict.against, passages, f"{{}} {says} otherwise")


def is_stated(verdict: Verdict) -> bool:
    """Whether a passage states the claim."""
    if verdict.label in _STATED:  # the label knows the calibrator's bound on P(faithful)
        return _STATED[verdict.label]
    return (verdict.p_faithful or 0.0) > 0.5


def is_clear(verdict: Verdict) -> bool:
    """Whether a passage that states the claim, as its label says, does so clearly."""
    return verdict.reason == "conflict" or (verdict.p_faithful or 0.0) > RATHER


def is_contradicted(verdict: Verdict) -> bool:
    """Whether a passage contradicts the claim and the label is based on that."""
    return verdict.label == "false" or verdict.reason == "conflict"


def _place(found: Evidence | None) -> tuple[int, int, int] | None:
    return None if found is None else (found.passage, found.start, found.end)


def _stretch(found: Evidence | None, passages: Sequence[Passage], lead: str) -> Stretch | None:
    if found is None or not 0 <= found.passage < len(passages):  # of a user's model
        return None
    passage = passages[found.passage]
    title = f" ({passage.title})" if passage.title else ""
    which = f"passage {found.passage + 1}{title}"
    return Stretch(lead.replace("{}", which), passage.text[found.start : found.end])
