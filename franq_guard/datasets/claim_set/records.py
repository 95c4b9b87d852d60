"""The judgement of one claim by one source, with the labels of arXiv 2505.21072."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Faithfulness = Literal["faithful", "unfaithful-contra", "unfaithful-neutral"]
"""Whether the passages entail the claim, contradict it, or do neither."""

Factuality = Literal["true", "false", "unverifiable"]
"""Whether the claim is true in the world; ``unverifiable``: no available source can decide it."""

SAMPLED, CHOSEN = "review.v1-sampled", "review.v1-chosen"
"""``version`` of a person's vote: whether the claim was drawn at random or selected."""

KINDS = ("gold", "edit", "judge", "person")
"""The kinds of sources: a gold answer, an edit made on purpose, a language model, a person."""


@dataclass(frozen=True, slots=True)
class ClaimJudgement:
    """One source's judgement of one claim.

    Args:
        answer: id of the answer.
        claim: index of the claim in the answer, from 0.
        source: ``gold``, ``edit``, ``judge:NAME`` or ``person:NAME``.
        faithfulness: None if the source gives no such label.
        factuality: None if the source gives no such label.
        quote: text copied word for word from a passage, on which the label is based.
        passage: index of the passage that contains ``quote``.
        error: why there is no judgement (an unreadable reply, a time-out); None if there is one.
        version: version of the judge's prompt, or of the rule that made the label.

    Raises:
        ValueError: for an unknown label or source, or a negative index.
    """

    answer: str
    claim: int
    source: str
    faithfulness: Faithfulness | None = None
    factuality: Factuality | None = None
    quote: str | None = None
    passage: int | None = None
    error: str | None = None
    version: str | None = None

    def __post_init__(self) -> None:
        _one_of("faithfulness", self.faithfulness, get_args(Faithfulness))
        _one_of("factuality", self.factuality, get_args(Factuality))
        kind, _, name = self.source.partition(":")
        if kind not in KINDS or (kind in ("judge", "person")) != bool(name):
            raise ValueError(
                f"source must be gold, edit, judge:NAME or person:NAME: {self.source!r}"
            )
        if not self.answer or self.claim < 0 or (self.passage or 0) < 0:
            raise ValueError("answer must be an id, claim and passage must not be negative")

    @property
    def kind(self) -> str:
        """``gold``, ``edit``, ``judge`` or ``person``."""
        return self.source.partition(":")[0]

    @property
    def is_true(self) -> bool | None:
        """Whether the claim is true; None if that is not known or unverifiable."""
        return {"true": True, "false": False}.get(self.factuality or "")

    @property
    def is_faithful(self) -> bool | None:
        """Whether the passages entail the claim; None if that is not known."""
        return None if self.faithfulness is None else self.faithfulness == "faithful"

    @property
    def empty(self) -> bool:
        """Whether it has no label: an error, or a vote that was withdrawn."""
        return self.faithfulness is None and self.factuality is None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values; unknown ones are left out."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> ClaimJudgement:
        """The inverse of :meth:`to_dict`.

        Raises:
            ValueError: if a key is missing or unknown, or a value is wrong.
        """
        try:
            return cls(**row)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"not a judgement of a claim: {error}") from None


def _one_of(name: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
