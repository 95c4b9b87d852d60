"""From traces and their claims to verdicts: signals, the FRANQ formula, citations."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from franq_guard.claims import RuleSplitter
from franq_guard.claims.spans import whole
from franq_guard.policy import Policy, status_of
from franq_guard.records import Claim, Form, Generation, GuardedAnswer, Passage, Trace, Verdict
from franq_guard.signals.choice import Choice
from franq_guard.signals.citations import cites, with_citations
from franq_guard.signals.clock import Clock
from franq_guard.signals.measure import measure
from franq_guard.signals.verdict import verdict

__all__ = ["Checking", "cited", "claims_in_haste", "finished", "form_of", "warm"]

_log = logging.getLogger(__name__)
_WARMING = Passage("Rome is a town.")


class Checking:
    """One check of traces that share a calibrator; call it to run the check.

    It is an object so that the claims can be read even if the check is abandoned at the deadline.

    Args:
        choice: the calibrator, methods and models of the answers.
        policy: may override numbers of the labels' rule.
        batch: the traces.
        claims_of: splits an answer.
        clock: measures the seconds of each stage.

    Attributes:
        claims: of each trace; None until the answers are split.
    """

    def __init__(
        self,
        choice: Choice,
        policy: Policy,
        batch: Sequence[Trace],
        claims_of: Callable[[Trace], list[Claim]],
        clock: Clock,
    ) -> None:
        self._choice, self._policy, self._batch = choice, policy, batch
        self._claims_of, self._clock = claims_of, clock
        self.claims: list[list[Claim]] | None = None

    def __call__(self) -> list[list[Verdict]]:
        """The verdicts of each trace.

        Raises:
            DeadlineExceeded: when the clock's deadline has passed.
            Exception: whatever a model raises.
        """
        choice, clock, first = self._choice, self._clock, self._batch[0].generation
        calibrator, methods = choice.calibrator(first), choice.methods(first)
        form: Form = "short" if choice.form == "short" else "long"
        with clock.stage("claims"):
            self.claims = claims = [self._claims_of(trace) for trace in self._batch]
        models = choice.models(first)
        measured = measure(methods, self._batch, claims, models, form=form, clock=clock)
        with clock.stage("franq"):
            verdicts = [
                [
                    verdict(c, s, calibrator, self._policy, source=trace.generation.source)
                    for c, s in zip(of_trace, found, strict=True)
                ]
                for trace, of_trace, found in zip(self._batch, claims, measured, strict=True)
            ]
        return [
            cited(choice, trace, of, clock) for trace, of in zip(self._batch, verdicts, strict=True)
        ]


def form_of(claims: Sequence[Claim]) -> Form:
    """Form ``auto``: short for an answer that states one claim, long for any other."""
    why = [claim.not_a_claim for claim in claims]
    stated = why.count(None) or why.count("yes or no")  # alone, "No." needs its question
    return "short" if stated == 1 else "long"


def cited(choice: Choice, trace: Trace, verdicts: list[Verdict], clock: Clock) -> list[Verdict]:
    """The verdicts with a finding for each citation of a passage."""
    if choice.form == "short" or not cites(trace, verdicts):
        return verdicts
    supported_from = choice.calibrator(trace.generation).labels.supported_from
    with clock.stage("citations"):
        model = choice.faithfulness()
        return with_citations(model, trace, verdicts, supported_from=supported_from)


def claims_in_haste(trace: Trace, form: str) -> list[Claim]:
    """The trace's claims, or those of the rule-based splitter: a model-based one may hang.

    Used after a timeout.
    """
    answer, given = trace.generation.text, trace.claims
    if form == "short":
        return whole(answer)
    return list(given) if given else RuleSplitter().split(answer, question=trace.question)


def warm(choice: Choice, policy: Policy, claims_of: Callable[[Trace], list[Claim]]) -> None:
    """Load the models and run each once; raises whatever loading or running them raises."""
    answer, model = Generation(_WARMING.text), choice.model()
    if model is not None:
        model.score([_WARMING.text], [answer])
    Checking(
        choice, policy, [Trace("What is Rome?", (_WARMING,), answer)], claims_of, Clock(None)
    )()


def finished(
    choice: Choice | None,
    policy: Policy,
    trace: Trace,
    verdicts: Sequence[Verdict],
    timings: Mapping[str, float],
) -> GuardedAnswer:
    """The checked answer, with the policy applied; an exception in the policy's action is caught.

    ``choice`` is the one used for the answer; None if no claim has a P(true).
    """
    answer, failed = trace.generation.text, False
    try:
        text = policy.apply(answer, verdicts)
    except Exception as error:  # a user's action must not break the chain; on_error decides
        _log.warning("the policy's action failed: %s: %s", type(error).__name__, error)
        text, failed = policy.on_failure(answer, verdicts), True
    written = trace.generation
    return GuardedAnswer(
        text=text,
        original=answer,
        verdicts=tuple(verdicts),
        status="policy_error" if failed else status_of(verdicts, answer),
        calibrator=choice.calibrator(written).name if choice else None,
        timings=timings,
        id=trace.id,
        likelihoods=choice.likelihoods(written) if choice else "none",
        question=trace.question,
        passages=trace.passages,
        weak=policy.acts_against,
    )
