"""The thresholds that turn P(true) into a label."""

from __future__ import annotations

from dataclasses import dataclass

RATHER = 0.5
"""A passage with at least this P(entailment) rather states a claim than not; with at least this
P(contradiction) it rather contradicts it. Above this P(faithful) the passages rather say it."""

__all__ = ["RATHER", "LabelRule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRule:
    """The thresholds that turn a calibrator's P(true) into a label; see :meth:`.Policy.label`.

    Attributes:
        threshold: a claim with P(true) below it does not pass.
        false_below: a claim with P(true) below it is ``false`` even without evidence against it;
            None: P(true) alone never makes a claim ``false``.
        contradiction: from this P(contradiction) on a passage is evidence against a claim.
        entailment: from this P(entailment) on a passage states a claim.
        disagreement: from this P(contradiction) on a passage disagrees with another one that rather
            states the claim (P(entailment) of .5); None: as for ``contradiction`` and
            ``entailment``. Where one passage states a claim less is needed to say that another
            one does not.
        supported_from: above this P(faithful) a claim may pass: as supported or, where the passages
            rather do not say it (P(faithful) of at most .5), as unclear.
        unsupported_true: whether the claims that the calibrator was fitted on show that 7 in 10
            unsupported ones with a P(true) of at least ``threshold`` are true.

    Raises:
        ValueError: for a number outside [0, 1], or ``false_below`` above ``threshold``.
    """

    threshold: float = 0.5
    false_below: float | None = 0.25
    contradiction: float = 0.9
    entailment: float = 0.5
    supported_from: float = 0.5
    unsupported_true: bool = False
    disagreement: float | None = None

    def __post_init__(self) -> None:
        shares = (self.contradiction, self.entailment, self.supported_from, self.disagreement or 0)
        if not all(0 <= share <= 1 for share in shares):
            raise ValueError(
                "contradiction, entailment, supported_from and disagreement must lie in [0, 1]: "
                f"{shares}"
            )
        if not 0 <= (self.false_below or 0) <= self.threshold <= 1:
            raise ValueError(
                "thresholds must satisfy 0 <= false_below <= threshold <= 1, got "
                f"false_below={self.false_below}, threshold={self.threshold}"
            )

    def contradicts(self, contradiction: float | None) -> bool:
        """Whether a passage contradicts the claim."""
        return contradiction is not None and contradiction >= self.contradiction

    def entails(self, entailment: float | None) -> bool:
        """Whether a passage states the claim."""
        return entailment is not None and entailment >= self.entailment

    def conflict(self, contradiction: float | None, entailment: float | None) -> bool:
        """Whether one passage states the claim and another contradicts it."""
        if self.disagreement is None:
            return self.contradicts(contradiction) and self.entails(entailment)
        if contradiction is None or entailment is None:
            return False
        return contradiction >= self.disagreement and entailment >= RATHER
