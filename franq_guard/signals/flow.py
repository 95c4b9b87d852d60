"""From traces and their claims to verdicts: signals, the FRANQ formula, citations."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from franq_guard.basics.failures import log_failure
from franq_guard.basics.grouping import in_groups
from franq_guard.calibration.store import Calibrator
from franq_guard.claims import ClaimSplitter, RuleSplitter
from franq_guard.claims.spans import whole
from franq_guard.language_model.base import LanguageModel
from franq_guard.policy import Policy, status_of
from franq_guard.records import (
    Claim,
    Form,
    Generation,
    GuardedAnswer,
    Passage,
    Reason,
    Trace,
    Verdict,
)
from franq_guard.signals.choice import Choice
from franq_guard.signals.citations import cites, with_citations
from franq_guard.signals.clock import Clock
from franq_guard.signals.given import with_the_rest
from franq_guard.signals.measure import measure
from franq_guard.signals.verdict import unchecked, verdict

__all__ = ["Checking", "cited", "claims_of", "finished", "unverified_claims", "warm"]

_log = logging.getLogger(__name__)
_WARMING = Passage("Rome is a town.")


Split = Callable[[Trace], tuple[Choice, list[Claim]]]
"""Splits an answer; returns what it is checked with, which may depend on its claims, and these."""


class Checking:
    """One check of traces; call it to run the check.

    It is an object so that the claims can be read even if the check is abandoned at the deadline.

    Args:
        split: splits an answer.
        policy: may override numbers of the labels' rule.
        batch: the traces; all or none of them need the language model.
        clock: measures the seconds of each stage.

    Attributes:
        claims: of each trace; None until the answers are split.
    """

    def __init__(self, split: Split, policy: Policy, batch: Sequence[Trace], clock: Clock) -> None:
        self._split, self._policy, self._batch, self._clock = split, policy, batch, clock
        self.claims: list[list[Claim]] | None = None

    def __call__(self) -> list[tuple[Choice, list[Verdict]]]:
        """What each trace was checked with, and its verdicts.

        Raises:
            DeadlineExceeded: when the clock's deadline has passed.
            Exception: whatever a model raises.
        """
        with self._clock.stage("claims"):
            split = [self._split(trace) for trace in self._batch]
        self.claims = [claims for _, claims in split]
        asked = [(t, *of) for t, of in zip(self._batch, split, strict=True)]
        return in_groups(
            asked, lambda one: id(one[1].calibrator(one[0].generation)), self._measured
        )

    def _measured(
        self, asked: Sequence[tuple[Trace, Choice, list[Claim]]]
    ) -> list[tuple[Choice, list[Verdict]]]:
        """The verdicts of traces that share a calibrator, and so a form."""
        traces, choices, claims = zip(*asked, strict=True)
        choice, clock, first = choices[0], self._clock, traces[0].generation
        calibrator, methods = choice.calibrator(first), choice.methods(first)
        form: Form = "short" if choice.form == "short" else "long"
        models = choice.models(first)
        measured = measure(methods, traces, claims, models, form=form, clock=clock)
        with clock.stage("franq"):
            verdicts = [
                [
                    # A given claim without a place is not in the answer: no verdict is about it.
                    unchecked(c, "not_in_answer")
                    if not (c.spans or choice.exact)
                    else verdict(c, s, calibrator, self._policy, source=trace.generation.source)
                    for c, s in zip(of_trace, found, strict=True)
                ]
                for trace, of_trace, found in zip(traces, claims, measured, strict=True)
            ]
        return [
            (choice, cited(choice, trace, of, clock))
            for trace, of in zip(traces, verdicts, strict=True)
        ]


def claims_of(
    trace: Trace,
    splitter: ClaimSplitter,
    form: Form | Literal["auto"],
    *,
    exact: bool = False,
    locate: bool = True,
) -> tuple[Form, list[Claim]]:
    """The form and claims of an answer: those of the trace, if it has some, and what they leave.

    Form ``auto`` is short for an answer that states one claim, long for any other. ``exact``: the
    trace's own claims alone are taken, because they are labelled and the others are not.
    ``locate``: see :func:`~franq_guard.signals.given.with_the_rest`.
    """
    alone = whole(trace.generation.text)
    if form == "short":
        return "short", alone
    if trace.claims and exact:
        return "long", list(trace.claims)
    claims = splitter.split(trace.generation.text, question=trace.question)
    if trace.claims:
        text = trace.generation.text
        return "long", with_the_rest(trace.claims, text, claims, locate=locate)
    why = [claim.not_a_claim for claim in claims]
    stated = why.count(None) or why.count("yes or no")  # alone, "No." needs its question
    return ("short", alone) if form == "auto" and stated == 1 else ("long", claims)


def unverified_claims(
    trace: Trace, reason: Reason, splitter: ClaimSplitter, choice: Choice
) -> list[Claim]:
    """The claims of an answer that is not verified, for this ``reason``; never fails.

    Given claims are not looked for in the answer, and past the deadline the rules split it: that
    takes long, and another splitter may hang.
    """
    splitter = RuleSplitter() if reason == "timeout" else splitter
    try:
        return claims_of(trace, splitter, choice.form, exact=choice.exact, locate=False)[1]
    except Exception as error:  # a guard that fails must still return a guarded answer
        _log.warning("splitting failed (%s): taken as one claim", type(error).__name__)
        return whole(trace.generation.text)


def cited(choice: Choice, trace: Trace, verdicts: list[Verdict], clock: Clock) -> list[Verdict]:
    """The verdicts with a finding for each citation of a passage."""
    if choice.form == "short" or not cites(trace, verdicts):
        return verdicts
    supported_from = choice.calibrator(trace.generation).labels.supported_from
    with clock.stage("citations"):
        model = choice.faithfulness()
        return with_citations(model, trace, verdicts, supported_from=supported_from)


def warm(
    model: LanguageModel | None, policy: Policy, split: Split, franq: Calibrator | None
) -> None:
    """Run the models once; raises whatever loading or running them raises.

    The answer is given the writer and source that ``franq``, the user's calibrator, was fitted for:
    who will write the answers is not known yet, so there must be no warning about another writer.
    """
    answer = Generation(_WARMING.text)
    if franq is not None:
        source = franq.fingerprint.get("source", "any")
        answer = replace(answer, writer=franq.writer, source="none" if source == "any" else source)
    if model is not None:
        model.score([_WARMING.text], [answer])
    Checking(split, policy, [Trace("What is Rome?", (_WARMING,), answer)], Clock(None))()


def finished(
    choice: Choice | None,
    policy: Policy,
    trace: Trace,
    verdicts: Sequence[Verdict],
    timings: Mapping[str, float],
) -> GuardedAnswer:
    """The checked answer, with the policy applied; an exception in the policy's action is caught.

    ``choice`` is the one used for the answer, and is named if a claim has a P(true).
    """
    answer, failed = trace.generation.text, False
    if all(found.p_true is None for found in verdicts):
        choice = None
    try:
        text = policy.apply(answer, verdicts)
    except Exception as error:  # a user's action must not break the chain; on_error decides
        log_failure(_log, "the policy's action failed", error)
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
