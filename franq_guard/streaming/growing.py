"""Scoring the claims of an answer while it grows: what was scored once is not scored again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Claim, Generation, Signals, Trace, Verdict
from franq_guard.signals import long_form as signals
from franq_guard.signals.clock import Clock
from franq_guard.signals.verdict import verdict

if TYPE_CHECKING:
    from franq_guard.guard import Guard
    from franq_guard.language_model.session import Session

_SESSIONS = 2
"""Prompts of one answer: with evidence and without it."""


class GrowingAnswer:
    """The claims of one unfinished answer; not for several threads at once.

    The verdicts are those of :meth:`Guard.check_trace` on the whole answer, except where that looks
    ahead: whether a prompt already tells the answer (see :mod:`.language_model.contrast`) is judged
    by what is written so far.
    """

    def __init__(self) -> None:
        self._claims: list[Claim] = []
        self._supports: list[signals.Support] = []
        self._model: _Continued | None = None
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
        clock = Clock(deadline)
        stated = [claim for claim in claims if claim.not_a_claim is None]
        measured = iter(self._measured(guard, trace, stated, clock) if stated else ())
        with clock.stage("franq"):
            found = [
                verdict(
                    claim,
                    next(measured) if claim.not_a_claim is None else Signals(),
                    guard.calibrator_of(trace),
                    guard.policy,
                )
                for claim in claims
            ]
        self._add(clock.timings)
        return found

    def read(self, guard: Guard, trace: Trace) -> None:
        """Read the answer so far under its prompts, where its tokens are known and can be kept."""
        if trace.generation.source == "captured" and hasattr(guard.language_model, "session"):
            clock = Clock(None)
            with clock.stage("language_model"):
                signals.confidence(self._continued(guard), [trace])
            self._add(clock.timings)

    def close(self) -> None:
        """Let go of what the language model holds."""
        if self._model is not None:
            self._model.close()

    def _measured(
        self, guard: Guard, trace: Trace, stated: Sequence[Claim], clock: Clock
    ) -> list[Signals]:
        with clock.stage("faithfulness"):
            (new,) = signals.support(guard.faithfulness, [trace], [stated], form="long")
        claims, supports = [*self._claims, *stated], [*self._supports, *new]
        with clock.stage("language_model"):
            # All claims so far: a repetition is judged where it was first stated.
            (found,) = signals.long_form(self._continued(guard), [trace], [claims], [supports])
        self._claims, self._supports = claims, supports
        return found[-len(stated) :]

    def _continued(self, guard: Guard) -> LanguageModel | None:
        model = guard.language_model
        if model is not None and (self._model is None or self._model.model is not model):
            self._model = _Continued(model)
        return None if model is None else self._model

    def _add(self, timings: Mapping[str, float]) -> None:
        for stage, seconds in timings.items():
            self.timings[stage] = self.timings.get(stage, 0.0) + seconds


class _Continued:
    """A language model that continues scoring where it stopped, prompt by prompt."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self._sessions: dict[str | tuple[int, ...], Session] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """As the model's own."""
        return [self._session(p).score(a) for p, a in zip(prompts, answers, strict=True)]

    def close(self) -> None:
        """Let go of all sessions."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def _session(self, prompt: str | Sequence[int]) -> Session:
        from franq_guard.language_model.session import session_of

        key = prompt if isinstance(prompt, str) else tuple(prompt)
        if key not in self._sessions:
            while len(self._sessions) >= _SESSIONS:
                self._sessions.pop(next(iter(self._sessions))).close()
            self._sessions[key] = session_of(self.model, key)
        return self._sessions[key]
