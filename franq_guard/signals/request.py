"""What may be run, and what is asked of one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.language_model.base import Contrast, LanguageModel
from franq_guard.records import Claim, Trace
from franq_guard.signals.similarity import Embed
from franq_guard.uncertainty.method import Level
from franq_guard.uncertainty.methods import find

__all__ = ["OF_DEFAULT_METHODS", "OF_NAMED_METHODS", "Models", "Request", "TokenRule"]


@dataclass(frozen=True, slots=True)
class Models:
    """What may be run; None where no asked method needs it.

    ``embed``: texts -> unit vectors, for SAR. ``n_samples`` of up to ``sample_tokens``
    tokens are drawn where the trace brings none. ``evidence``: whether stretches of the passages
    are looked for.
    """

    language_model: LanguageModel | None = None
    faithfulness: FaithfulnessModel | None = None
    embed: Embed | None = None
    n_samples: int = 10
    sample_tokens: int = 32
    evidence: bool = True


@dataclass(frozen=True, slots=True)
class TokenRule:
    """Which tokens state a claim, where two readings are possible.

    The shipped calibrator was fitted on the first reading of each; methods chosen by name have
    always been computed by the second, and so are the published tables. One of them will do as soon
    as the calibrators are fitted again.

    Args:
        first_statement: a claim that repeats an earlier one has the tokens that stated it first; or
            its own.
        without_blanks: a token that shares only its leading blank with a claim is none of its
            tokens; or it is.
        as_told: log-probabilities told by a server are used as they are; or the model in use reads
            the answer again, so that all values are of the same tokens.
    """

    first_statement: bool
    without_blanks: bool
    as_told: bool


OF_DEFAULT_METHODS = TokenRule(first_statement=True, without_blanks=True, as_told=True)
OF_NAMED_METHODS = TokenRule(first_statement=False, without_blanks=False, as_told=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One answer, and the methods that are to have a value for it.

    Args:
        trace: the answer; log-probabilities and samples that it brings are used as they are.
        names: methods of :mod:`franq_guard.uncertainty.methods`.
        claims: of the answer, at claim level.
        level: the one the values are wanted at.
        p_faithful: of each claim, or of question and answer, where it was measured already.
        contrast: the prompt without evidence, where it was made already.
        rule: which tokens state a claim.
    """

    trace: Trace
    names: Sequence[str]
    claims: Sequence[Claim] = ()
    level: Level = "sequence"
    p_faithful: Sequence[float] | None = None
    contrast: Contrast | None = None
    rule: TokenRule = OF_NAMED_METHODS

    @property
    def needs(self) -> frozenset[str]:
        """The statistics that the methods read.

        Raises:
            ValueError: for an unknown method.
        """
        return frozenset(find(name).need for name in self.names)

    @property
    def stated(self) -> list[str]:
        """What the passages may entail: the claims, or the question with the answer."""
        if self.level == "claim":
            return [claim.text for claim in self.claims]
        return [f"{self.trace.question} {self.trace.generation.text}"]
