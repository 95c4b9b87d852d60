"""Guard: a trace goes in, a verdict for each claim comes out."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from typing import Literal, Self

from franq_guard.calibration.defaults import choose
from franq_guard.calibration.store import Calibrator
from franq_guard.claims import ClaimSplitter, RuleSplitter
from franq_guard.claims.spans import whole
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.language_model.base import LanguageModel
from franq_guard.policy import Policy, status_of
from franq_guard.records import (
    Claim,
    Form,
    GuardedAnswer,
    Passage,
    Reason,
    Trace,
    Verdict,
)
from franq_guard.rows.traces import trace_of
from franq_guard.signals.clock import Clock, DeadlineExceeded
from franq_guard.signals.components import DEFAULTS, check_form, components
from franq_guard.signals.lazy import Lazy, check_kind
from franq_guard.signals.measure import measure
from franq_guard.signals.request import Models
from franq_guard.signals.verdict import unchecked, verdict
from franq_guard.telemetry import hooks

_log = logging.getLogger(__name__)


class Guard:
    """Checks answers claim by claim with FRANQ (arXiv 2505.21072).

    One guard may serve any number of threads; it keeps nothing of a run.

    Args:
        language_model: gives log-probabilities with and without the passages; a
            :class:`~franq_guard.language_model.base.LanguageModel`, or a function that returns one
            (called at the first use). None: only log-probabilities that come with a trace.
        faithfulness: gives P(faithful); the same two ways.
        claims: splits an answer; default the rule-based splitter.
        franq: calibrated weights of the formula. Default: the calibrator shipped for exactly this
            pair of models where there is one, otherwise uncalibrated (said in every result).
        policy: what happens to the text.
        form: ``long`` (claims of an answer), ``short`` (the answer is one claim, judged by
            samples) or ``auto`` (short where the answer states one claim, long elsewhere; the
            samples it draws show in ``timings``).
        uq_faith: the method of UQ_faith by its name in ``franq methods``; default the paper's.
        uq_unfaith: the method of UQ_unfaith, likewise.
        n_samples: samples drawn in the short form where the trace brings none.
        deadline: seconds an answer may take; past it its claims are ``unverified``, reason
            ``timeout``. Looked at between stages, so one stage may overrun it; loading the models
            does not count.
        strict: a calibrator fitted for other models or methods makes every claim ``unverified``
            (and :attr:`calibrator` raises) instead of only being warned of.

    Raises:
        TypeError, ValueError: for settings that cannot work, at once.
    """

    def __init__(
        self,
        *,
        faithfulness: FaithfulnessModel | Callable[[], FaithfulnessModel],
        language_model: LanguageModel | Callable[[], LanguageModel] | None = None,
        claims: ClaimSplitter | None = None,
        franq: Calibrator | None = None,
        policy: Policy | None = None,
        form: Form | Literal["auto"] = "long",
        uq_faith: str | None = None,
        uq_unfaith: str | None = None,
        n_samples: int = 10,
        deadline: float | None = None,
        strict: bool = False,
    ) -> None:
        check_form(form, n_samples, chosen=bool(uq_faith or uq_unfaith or franq))
        if deadline is not None and not deadline > 0:
            raise ValueError("deadline must be a positive number of seconds")
        check_kind("faithfulness", faithfulness, "score", loader=True)
        if language_model is not None:
            check_kind("language_model", language_model, "score", loader=True)
        for name, part, method in (
            ("claims", claims, "split"),
            ("policy", policy, "apply"),
            ("franq", franq, "apply"),
        ):
            if part is not None:
                check_kind(name, part, method)
        if franq is not None and franq.form != form:
            raise ValueError(f"the calibrator is for form {franq.form!r}, the guard's is {form!r}")
        self.policy = policy or Policy()
        self.claims = claims or RuleSplitter()
        self.form: Form | Literal["auto"] = form
        self.components = components("long" if form == "auto" else form, uq_faith, uq_unfaith)
        self.n_samples = n_samples
        self.deadline = deadline
        self.strict = strict
        self._language_model = None if language_model is None else Lazy(language_model)
        self._faithfulness = Lazy(faithfulness)
        self._franq = franq
        self._calibrator: Calibrator | None = None
        self._forms: dict[Form, Guard] = {}
        self._lock = threading.RLock()

    @classmethod
    def offline(
        cls,
        *,
        policy: Policy | None = None,
        claims: ClaimSplitter | None = None,
        franq: Calibrator | None = None,
        form: Form | Literal["auto"] = "long",
        uq_faith: str | None = None,
        uq_unfaith: str | None = None,
        n_samples: int = 10,
        deadline: float | None = None,
        strict: bool = False,
    ) -> Guard:
        """The embedded default: bundled SmolLM2 and the small faithfulness model, no download.

        Raises:
            MissingModelError: with the command to run, where a bundled part is not installed.
        """
        from franq_guard.faithfulness.small.model import SmallFaithfulness
        from franq_guard.language_model.transformers.smollm2 import bundled_file, load_bundled

        bundled_file()  # a missing package is told now, not in the middle of a chain
        return cls(
            language_model=load_bundled,
            faithfulness=SmallFaithfulness.bundled,
            policy=policy,
            claims=claims,
            franq=franq,
            form=form,
            uq_faith=uq_faith,
            uq_unfaith=uq_unfaith,
            n_samples=n_samples,
            deadline=deadline,
            strict=strict,
        )

    @property
    def language_model(self) -> LanguageModel | None:
        """The language model, loaded at the first use."""
        return None if self._language_model is None else self._language_model()

    @property
    def loaded_language_model(self) -> LanguageModel | None:
        """The language model where it has been loaded (or given live) already; loads nothing."""
        return None if self._language_model is None else self._language_model.loaded

    @property
    def faithfulness(self) -> FaithfulnessModel:
        """The faithfulness model, loaded at the first use."""
        return self._faithfulness()

    @property
    def calibrator(self) -> Calibrator:
        """What turns the signals into P(true); uncalibrated when nothing fits the models."""
        with self._lock:
            if self._calibrator is None:
                if self.form == "auto":
                    return self._of_form("long").calibrator
                self._calibrator = choose(self._franq, self.fingerprint, strict=self.strict)
            return self._calibrator

    @property
    def fingerprint(self) -> dict[str, str]:
        """What determines the signals; a calibrator fitted on them holds for nothing else."""
        model = self.language_model
        return {
            "language_model": "none" if model is None else model.fingerprint,
            "faithfulness": self.faithfulness.fingerprint,
            "claims": self.claims.fingerprint,
            "methods": f"{self.components.uq_faith} + {self.components.uq_unfaith}",
            "form": self.form,
        }

    def using(self, *, language_model: LanguageModel) -> Guard:
        """This guard with another language model, sharing all the rest.

        The guard itself where it has loaded the very same network already: then the model keeps its
        name, and so its calibrator.
        """
        own = getattr(self.loaded_language_model, "model", None)
        if own is not None and own is getattr(language_model, "model", None):
            return self
        other = self._fresh()
        other._language_model = Lazy(language_model)
        return other

    def _of_form(self, form: Form) -> Guard:
        """A guard of form ``auto`` for one form only, with that form's methods and calibrator."""
        with self._lock:
            if form not in self._forms:
                other = self._fresh()
                other.form, other.components = form, DEFAULTS[form]
                self._forms[form] = other
            return self._forms[form]

    def _fresh(self) -> Self:
        """A guard of this very class and settings that has not chosen its calibrator yet."""
        other = copy(self)
        other._calibrator, other._forms, other._lock = None, {}, threading.RLock()
        return other

    def check(self, question: str, passages: Sequence[str | Passage], answer: str) -> GuardedAnswer:
        """Check an answer for which nothing was captured: it is teacher-forced.

        Raises:
            TypeError, ValueError: for arguments of the wrong kind or an empty question.
        """
        return self.check_trace(trace_of(question, passages, answer))

    async def acheck(
        self, question: str, passages: Sequence[str | Passage], answer: str
    ) -> GuardedAnswer:
        """:meth:`check` in a thread, so that the event loop stays free."""
        return await asyncio.to_thread(self.check, question, passages, answer)

    def check_trace(self, trace: Trace) -> GuardedAnswer:
        """Check a captured answer; log-probabilities it brings are not computed again.

        Raises:
            TypeError: if ``trace`` is no :class:`Trace`.
        """
        if not isinstance(trace, Trace):
            raise TypeError(f"a Trace is wanted, not {type(trace).__name__}; see check()")
        return self._check([trace])[0]

    async def acheck_trace(self, trace: Trace) -> GuardedAnswer:
        """:meth:`check_trace` in a thread."""
        return await asyncio.to_thread(self.check_trace, trace)

    def check_many(
        self,
        traces: Iterable[Trace],
        *,
        batch_size: int = 8,
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[GuardedAnswer]:
        """Check traces as they come, ``batch_size`` at a time; results in the same order.

        Args:
            traces: read lazily, so a file of any length fits.
            batch_size: answers whose model calls are pooled.
            progress: called with the number of answers done after each batch.
        """
        if batch_size < 1:
            raise ValueError("batch_size must be at least 1")
        # Under a deadline every answer has its own time.
        return self._batches(iter(traces), 1 if self.deadline else batch_size, progress)

    def _batches(
        self, traces: Iterator[Trace], size: int, progress: Callable[[int], None] | None
    ) -> Iterator[GuardedAnswer]:
        done = 0
        while batch := list(islice(traces, size)):
            yield from self._check(batch)
            done += len(batch)
            if progress is not None:
                progress(done)

    def unverified(self, trace: Trace, reason: Reason, *, detail: str = "") -> GuardedAnswer:
        """The answer of ``trace`` with every claim unverified; what a failure turns into."""
        if detail:
            _log.warning("answer %s not verified: %s: %s", trace.id or "", reason, detail)
        return hooks.watched([trace], lambda _: [self._unverified(trace, reason)])[0]

    def _unverified(self, trace: Trace, reason: Reason) -> GuardedAnswer:
        try:
            claims = self._claims_of(trace)
        except Exception as error:  # a guard that fails must still return a guarded answer
            _log.warning("splitting failed (%s); the answer is taken as one claim", error)
            claims = whole(trace.generation.text)
        verdicts = [unchecked(claim, reason) for claim in claims]
        return self.finished(trace, verdicts, {})

    def _check(self, batch: Sequence[Trace]) -> list[GuardedAnswer]:
        return hooks.watched(batch, self._tried)

    def _tried(self, batch: Sequence[Trace]) -> list[GuardedAnswer]:
        """The flow; a failure makes its own trace unverified and costs no other."""
        try:
            self.language_model, self.faithfulness  # noqa: B018  (loading is on nobody's clock)
        except Exception as error:  # a model that cannot be had fails all answers alike
            hooks.failed(error)
            detail = f"{type(error).__name__}: {error}"
            return [self.unverified(trace, "error", detail=detail) for trace in batch]
        try:
            return self._by_form(batch) if self.form == "auto" else self._flow(batch, self.form)
        except DeadlineExceeded as error:
            return [self.unverified(trace, "timeout", detail=str(error)) for trace in batch]
        except Exception as error:  # a live chain must not break on a failure of ours
            if len(batch) > 1:
                return [answer for trace in batch for answer in self._check([trace])]
            hooks.failed(error)
            _log.debug("check failed", exc_info=True)
            detail = f"{type(error).__name__}: {error}"
            return [self.unverified(batch[0], "error", detail=detail)]

    def _flow(self, batch: Sequence[Trace], form: Form) -> list[GuardedAnswer]:
        """From traces to claims to signals to FRANQ to policy."""
        clock = Clock(self.deadline)
        with clock.stage("claims"):
            claims = [self._claims_of(trace) for trace in batch]
        measured = measure(self.components, batch, claims, self.models, form=form, clock=clock)
        with clock.stage("franq"):
            verdicts = [
                [
                    verdict(c, s, self.calibrator_of(trace), self.policy)
                    for c, s in zip(of_trace, found, strict=True)
                ]
                for trace, of_trace, found in zip(batch, claims, measured, strict=True)
            ]
        share = {stage: seconds / len(batch) for stage, seconds in clock.timings.items()}
        return [self.finished(t, v, share) for t, v in zip(batch, verdicts, strict=True)]

    def calibrator_of(self, trace: Trace) -> Calibrator:
        """The calibrator for a trace; none is shipped for log-probabilities that a server sent."""
        if trace.generation.source == "server" and self._franq is None:
            return Calibrator.uncalibrated(form="short" if self.form == "short" else "long")
        return self.calibrator

    def _by_form(self, batch: Sequence[Trace]) -> list[GuardedAnswer]:
        """Form ``auto``: short for an answer that states one claim, long for any other."""
        found: list[GuardedAnswer] = []
        for trace in batch:
            stated = sum(claim.not_a_claim is None for claim in self._claims_of(trace))
            short = stated == 1 and not trace.claims
            found += self._of_form("short" if short else "long")._check([trace])
        return found

    def _claims_of(self, trace: Trace) -> list[Claim]:
        answer = trace.generation.text
        if self.form == "short":
            return whole(answer)
        given = trace.claims
        return list(given) if given else self.claims.split(answer, question=trace.question)

    @property
    def models(self) -> Models:
        """The two models, loaded at the first use, and how many samples are drawn."""
        return Models(self.language_model, self.faithfulness, n_samples=self.n_samples)

    def finished(
        self, trace: Trace, verdicts: Sequence[Verdict], timings: Mapping[str, float]
    ) -> GuardedAnswer:
        """The checked answer: the policy applied, whatever its action does."""
        answer = trace.generation.text
        try:
            text = self.policy.apply(answer, verdicts)
        except Exception as error:  # a user's action must not break the chain; on_error decides
            _log.warning("the policy's action failed: %s: %s", type(error).__name__, error)
            text = self.policy.on_failure(answer, verdicts)
        checked = any(found.p_true is not None for found in verdicts)
        return GuardedAnswer(
            text=text,
            original=answer,
            verdicts=tuple(verdicts),
            status=status_of(verdicts) if answer.strip() else "unverified",
            calibrator=self.calibrator_of(trace).name if checked else None,
            timings=timings,
            id=trace.id,
        )
