"""What the passages say for and against a claim, in the words that every view of a verdict uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from franq_guard.records import Evidence, Passage, Verdict

__all__ = ["Stretch", "is_contradicted", "is_stated", "stretch_against", "stretch_for", "stretches"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a passage; ``lead`` says which passage it is of and how it bears on the claim.

    Attributes:
        lead: such as "passage 2 (Rome) says otherwise".
        text: of the passage, white space as it stands there.
    """

    lead: str
    text: str

    def line(self, width: int) -> str:
        """Lead and text on one line, the text cut to ``width`` characters."""
        text = " ".join(self.text.split())
        return f"{self.lead}: {text if len(text) <= width else text[: width - 1].rstrip() + '…'}"


def stretches(verdict: Verdict, passages: Sequence[Passage]) -> Iterator[Stretch]:
    """The stretch that supports the claim best, then the one that speaks against it."""
    for found in (stretch_for(verdict, passages), stretch_against(verdict, passages)):
        if found is not None:
            yield found


def stretch_for(verdict: Verdict, passages: Sequence[Passage]) -> Stretch | None:
    """The stretch that supports the claim best; of an unfaithful claim, the one closest to it.

    The closest one supports nothing, but shows what the passages do say; None where that is the
    stretch that speaks against the claim.
    """
    states = is_stated(verdict)
    if not states and _place(verdict.evidence) == _place(verdict.against):
        return None
    return _stretch(verdict.evidence, passages, "{} says" if states else "closest is {}")


def stretch_against(verdict: Verdict, passages: Sequence[Passage]) -> Stretch | None:
    """The stretch that contradicts the claim most; without certainty where no label rests on it.

    None where that is no more than a doubt about the very stretch that states the claim.
    """
    certain = is_contradicted(verdict)
    if not certain and is_stated(verdict) and _place(verdict.evidence) == _place(verdict.against):
        return None
    says = "says" if certain else "may say"
    return _stretch(verdict.against, passages, f"{{}} {says} otherwise")


def is_stated(verdict: Verdict) -> bool:
    """Whether a passage states the claim."""
    return (verdict.p_faithful or 0.0) > 0.5 or verdict.reason == "conflict"


def is_contradicted(verdict: Verdict) -> bool:
    """Whether a passage speaks against the claim, and its label rests on that."""
    return verdict.label == "false" or verdict.reason == "conflict"


def _place(found: Evidence | None) -> tuple[int, int, int] | None:
    return None if found is None else (found.passage, found.start, found.end)


def _stretch(found: Evidence | None, passages: Sequence[Passage], lead: str) -> Stretch | None:
    if found is None or found.passage >= len(passages):
        return None
    passage = passages[found.passage]
    title = f" ({passage.title})" if passage.title else ""
    which = f"passage {found.passage + 1}{title}"
    return Stretch(lead.replace("{}", which), passage.text[found.start : found.end])
