"""Scoring the claims of an answer while it grows: what was scored once is not scored again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from franq_guard.records import Claim, Trace, Verdict
from franq_guard.signals.clock import Clock
from franq_guard.signals.components import EVIDENCE
from franq_guard.signals.measure import measure, read_ahead
from franq_guard.signals.request import Models
from franq_guard.signals.verdict import verdict
from franq_guard.streaming.continued import ContinuedModel

if TYPE_CHECKING:
    from franq_guard.guard import Guard


class GrowingAnswer:
    """The claims of one unfinished answer; not for several threads at once.

    The verdicts are those of :meth:`Guard.check_trace` on the whole answer, except where that looks
    ahead: whether a prompt already tells the answer is judged by what is written so far
    (:mod:`franq_guard.language_model.contrast`).
    """

    def __init__(self) -> None:
        self._claims: list[Claim] = []
        self._model: ContinuedModel | None = None
        self.timings: dict[str, float] = {}

    def check(
        self, guard: Guard, trace: Trace, claims: Sequence[Claim], *, deadline: float | None
    ) -> list[Verdict]:
        """Verdicts of ``claims``, the ones that the answer so far adds to those checked before.

        Args:
            guard: what checks them.
            trace: its generation is the answer so far.
            claims: in order, their spans in the answer.
            deadline: seconds they may take, looked at between stages; None: any.

        Raises:
            DeadlineExceeded: when they took longer.
            Exception: whatever a model raises. The claims then count as never seen.
        """
        clock, choice, written = Clock(deadline), guard.choice, trace.generation
        (measured,) = measure(
            choice.methods(written),
            [trace],
            [claims],
            self._models(guard, trace),
            form="long",
            clock=clock,
            earlier=[self._claims],
        )
        self._claims += [claim for claim in claims if claim.not_a_claim is None]
        with clock.stage("franq"):
            calibrator, policy = guard.calibrator_of(trace), guard.policy
            found = [
                verdict(claim, signals, calibrator, policy, source=written.source)
                for claim, signals in zip(claims, measured, strict=True)
            ]
        self._add(clock.timings)
        return found

    def read(self, guard: Guard, trace: Trace) -> None:
        """Read the answer so far under its prompts, where its tokens are known and can be kept."""
        written = trace.generation
        if written.source != "captured" or not guard.choice.reads(written):
            return
        methods = guard.choice.methods(written)
        if methods != EVIDENCE and hasattr(guard.language_model, "session"):
            clock = Clock(None)
            read_ahead(methods, trace, self._models(guard, trace), clock=clock)
            self._add(clock.timings)

    def close(self) -> None:
        """Let go of what the language model holds."""
        if self._model is not None:
            self._model.close()

    def _models(self, guard: Guard, trace: Trace) -> Models:
        """The guard's models, the language model going on from what it has read."""
        models = guard.choice.models(trace.generation)
        if models.language_model is None:
            return models
        if self._model is None or self._model.model is not models.language_model:
            self.close()
            self._model = ContinuedModel(models.language_model)
        self._model.answer = trace.generation.text
        return replace(models, language_model=self._model)

    def _add(self, timings: Mapping[str, float]) -> None:
        for stage, seconds in timings.items():
            self.timings[stage] = self.timings.get(stage, 0.0) + seconds
