"""The record that describes one method; the catalogue has one for each method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from franq_guard.uncertainty.statistics import Statistics

Level = Literal["sequence", "claim"]
OfSequence = Callable[[Statistics], float]
OfClaim = Callable[[Statistics, int], float]
ToConfidence = Callable[[float, int], float]


def nats(uncertainty: float, _: int) -> float:
    """Confidence exp(-u) of a negative log-probability or an entropy; below 0 counts as 0."""
    return math.exp(-max(uncertainty, 0.0))


def squashed(uncertainty: float, _: int) -> float:
    """Confidence for an uncertainty without a natural scale: only the order is kept."""
    return 1.0 / (1.0 + math.exp(min(uncertainty, 700.0)))


_COSTS = {
    "logprobs": "free",
    "entropies": "free",
    "p_faithful": "the faithfulness score",
    "answer_p_faithful": "the faithfulness score",
    "entailed": "NLI of each passage",
    "parametric": "one forward pass",
    "unconditional": "one forward pass",
    "p_true": "one short forward pass per statement",
    "p_true_polygraph": "one short forward pass per statement",
    "alternatives": "NLI of each token's alternatives",
    "relevance": "sentence similarity per token",
    "samples": "samples",
    "sample_nli": "samples, NLI of their pairs",
    "similarity": "samples, sentence similarity of their pairs",
    "relevances": "samples, sentence similarity per token",
}


@dataclass(frozen=True, slots=True)
class Method:
    """One method.

    Args:
        name: for ``compute`` and the command line.
        title: as in the paper's tables.
        family: information, reflexive, diversity or rag.
        need: the most expensive statistic it reads.
        source: where it was published.
        sequence: computes its uncertainty for a whole answer; None if it has no such level.
        claim: computes its uncertainty for claim number i; None if it has no such level.
        confidence: (uncertainty, number of samples) -> confidence, decreasing; not yet clipped.
    """

    name: str
    title: str
    family: str
    need: str
    source: str
    sequence: OfSequence | None
    claim: OfClaim | None
    confidence: ToConfidence

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels it can be computed at: whole answers, claims, or both."""
        there: tuple[Level, ...] = ("sequence",) if self.sequence else ()
        return (*there, "claim") if self.claim else there

    @property
    def reciprocal_of(self) -> str | None:
        """The method with the same uncertainty and another confidence; None for most."""
        base, _, variant = self.name.rpartition(":")
        return base if variant == "reciprocal" else None

    @property
    def in_nats(self) -> bool:
        """Whether its confidence is exp(-uncertainty)."""
        return self.confidence is nats

    @property
    def has_scale(self) -> bool:
        """Whether its confidence is a probability or share even before calibration."""
        return self.confidence is not squashed

    @property
    def cost(self) -> str:
        """What has to be computed for it besides the answer itself."""
        return _COSTS[self.need]

    def row(self) -> dict[str, str]:
        """Its line in the output of ``franq methods``; every value is text."""
        return {
            "name": self.name,
            "title": self.title,
            "family": self.family,
            "level": ", ".join(self.levels),
            "cost": self.cost,
            "source": self.source,
            "sign": "higher = less certain",
        }
