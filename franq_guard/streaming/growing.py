"""Scores the claims of an answer while it grows; each claim is scored only once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from franq_guard.records import Claim, Trace, Verdict
from franq_guard.signals.clock import Clock
from franq_guard.signals.components import EVIDENCE
from franq_guard.signals.flow import cited
from franq_guard.signals.likelihoods import has_logprobs
from franq_guard.signals.measure import measure, read_ahead
from franq_guard.signals.request import Models
from franq_guard.signals.stated import Stated
from franq_guard.signals.verdict import verdict
from franq_guard.streaming.continued import ContinuedModel

if TYPE_CHECKING:
    from franq_guard.guard import Guard


class GrowingAnswer:
    """The claims of one unfinished answer; not thread-safe.

    The verdicts are those of :meth:`Guard.check_trace` on the whole answer, with two exceptions,
    which are judged by what is written so far: whether a prompt already contains the answer
    (:mod:`franq_guard.language_model.contrast`), and whether the answer is in a language that the
    model was not trained on (:mod:`franq_guard.claims.language`). So a first sentence in another
    language is unverified even if all that follows is English. Only the tokens of the new claims
    are examined, and of the answer before them only the beginning, for its language, so that the
    work is linear in the length of the answer.
    """

    def __init__(self) -> None:
        self._stated = Stated()
        self._model: ContinuedModel | None = None
        self._lacking = False
        self.timings: dict[str, float] = {}

    def check(
        self, guard: Guard, trace: Trace, claims: Sequence[Claim], *, deadline: float | None
    ) -> list[Verdict]:
        """The verdicts on ``claims``, which follow those checked before.

        Args:
            guard: what checks them.
            trace: its generation is the answer so far.
            claims: in order, their spans in the answer.
            deadline: seconds they may take, checked between stages; None: no limit.

        Raises:
            DeadlineExceeded: if they take longer.
            Exception: whatever a model raises. The claims then count as not checked before.
        """
        clock, choice, written = Clock(deadline), guard.choice, trace.generation
        since = min((start for claim in claims for start, _ in claim.spans), default=0)
        (measured,) = measure(
            choice.methods(written),
            [self._recent(trace, since)],
            [claims],
            self._models(guard, trace, since),
            form="long",
            clock=clock,
            earlier=[self._stated],
        )
        with clock.stage("franq"):
            calibrator, policy = guard.calibrator_of(trace), guard.policy
            found = [
                verdict(claim, signals, calibrator, policy, source=written.source)
                for claim, signals in zip(claims, measured, strict=True)
            ]
        found = cited(guard.choice, trace, found, clock)
        self._add(clock.timings)
        return found

    def read(self, guard: Guard, trace: Trace, *, since: int = 0) -> None:
        """Let the model read the answer so far, if its tokens are known and the model caches them.

        ``since``: the character up to which it was already checked or read.
        """
        written = trace.generation
        if written.source != "captured" or not guard.choice.reads(written):
            return
        methods = guard.choice.methods(written)
        if methods != EVIDENCE and hasattr(guard.language_model, "session"):
            clock = Clock(None)
            recent = self._recent(trace, since)
            read_ahead(methods, recent, self._models(guard, trace, since), clock=clock)
            self._add(clock.timings)

    def close(self) -> None:
        """Free what the language model has cached."""
        if self._model is not None:
            self._model.close()

    def _recent(self, trace: Trace, since: int) -> Trace:
        """The trace with only the tokens from character ``since`` on.

        With all tokens if some have no log-probability: the model then scores the whole answer.
        """
        generation = trace.generation
        if not generation.tokens or self._lacking:
            return trace
        recent = generation.since(since)
        self._lacking = not has_logprobs(recent)
        return trace if self._lacking else replace(trace, generation=recent)

    def _models(self, guard: Guard, trace: Trace, since: int) -> Models:
        """The guard's models, with a language model that continues from what it has read."""
        models = guard.choice.models(trace.generation)
        if models.language_model is None:
            return models
        if self._model is None or self._model.model is not models.language_model:
            self.close()
            self._model = ContinuedModel(models.language_model)
        self._model.set_answer(trace.generation, since=0 if self._lacking else since)
        return replace(models, language_model=self._model)

    def _add(self, timings: Mapping[str, float]) -> None:
        for stage, seconds in timings.items():
            self.timings[stage] = self.timings.get(stage, 0.0) + seconds
