"""The models that may be run, and what is to be measured for one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.language_model.base import Contrast, LanguageModel
from franq_guard.records import Claim, Trace
from franq_guard.signals.similarity import Embed
from franq_guard.uncertainty.method import Level
from franq_guard.uncertainty.methods import find

__all__ = ["OF_DEFAULT_METHODS", "OF_NAMED_METHODS", "TEMPERATURE", "Models", "Request",
           "TokenRule"]  # fmt: skip

TEMPERATURE = 0.5
"""The temperature of samples: the best one for Semantic Entropy in its paper (arXiv 2302.09664).

With SmolLM2 the results at 0.5 and at 1 do not differ significantly (``docs/paper-tables.md``); at
0.5 more samples share a beginning, which is computed once."""


@dataclass(frozen=True, slots=True)
class Models:
    """The models that may be run; None for those that no chosen method needs.

    ``embed``: texts -> unit vectors, for SAR. If the trace has no samples, ``n_samples`` of up to
    ``sample_tokens`` tokens are drawn, at ``temperature``. ``evidence``: whether stretches of the
    passages are looked for.
    """

    language_model: LanguageModel | None = None
    faithfulness: FaithfulnessModel | None = None
    embed: Embed | None = None
    n_samples: int = 10
    sample_tokens: int = 32
    temperature: float = TEMPERATURE
    evidence: bool = True


@dataclass(frozen=True, slots=True)
class TokenRule:
    """Which tokens belong to a claim, and whose log-probabilities they have.

    The shipped calibrator was fitted with all three options True. Methods chosen by name, and the
    published tables, have always been computed with False. The options can be dropped once the
    calibrators are fitted again.

    Args:
        first_statement: True: a claim that repeats an earlier one has the tokens that stated it
            first; False: it has its own tokens.
        without_blanks: True: a token that shares only its leading blank with a claim does not
            belong to the claim; False: it does.
        as_sent: True: log-probabilities sent by a server are used as they are; False: the model in
            use reads the answer again, so that all values are of the same tokens.
    """

    first_statement: bool
    without_blanks: bool
    as_sent: bool


OF_DEFAULT_METHODS = TokenRule(first_statement=True, without_blanks=True, as_sent=True)
OF_NAMED_METHODS = TokenRule(first_statement=False, without_blanks=False, as_sent=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One answer, and the methods to compute for it.

    Args:
        trace: the answer; its log-probabilities and samples, if it has any, are used as they are.
        names: methods of :mod:`franq_guard.uncertainty.methods`.
        claims: of the answer, at claim level.
        level: the level of the wanted values.
        p_faithful: of each claim, or of question and answer, if it was measured already.
        contrast: the prompt without evidence, if it was built already.
        rule: which tokens belong to a claim.
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
        """The texts that the passages may entail: the claims, or the question with the answer.

        Claims are as they are written, as in the paper, not in full.
        """
        if self.level == "claim":
            return [claim.text for claim in self.claims]
        return [f"{self.trace.question} {self.trace.generation.text}"]
