"""Guard: a trace goes in, a verdict for each claim comes out."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import Literal, Self, Unpack

from franq_guard.basics.deadline import STREAMS, Abandonable
from franq_guard.basics.failures import loggable
from franq_guard.basics.grouping import in_groups
from franq_guard.calibration.store import Calibrator
from franq_guard.claims import ClaimSplitter, RuleSplitter
from franq_guard.claims.spans import whole
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.language_model.base import LanguageModel
from franq_guard.policy import Policy
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
from franq_guard.rows.traces import Given, as_trace, trace_of
from franq_guard.signals.choice import Choice
from franq_guard.signals.clock import Clock, DeadlineExceeded
from franq_guard.signals.components import DEFAULTS, Components, components
from franq_guard.signals.flow import Checking, claims_of, finished, unverified_claims, warm
from franq_guard.signals.lazy import Lazy
from franq_guard.signals.offline import bundled_language_model, faithfulness_named
from franq_guard.signals.request import TEMPERATURE
from franq_guard.signals.settings import Options, check_settings
from franq_guard.signals.verdict import unchecked
from franq_guard.telemetry import hooks

_log = logging.getLogger(__name__)


class Guard:
    """Checks answers claim by claim with FRANQ (arXiv 2505.21072).

    An answer captured from a model that a calibrator is shipped for is judged by the passages and
    that model's own log-probabilities, which come with the answer. Any other answer is judged by
    the passages alone. No language model runs for either, unless ``franq`` or a method by name asks
    for what did not come with the answer. A guard is thread-safe and keeps no state of a check.

    Args:
        language_model: gives log-probabilities with and without the passages; a
            :class:`~franq_guard.language_model.base.LanguageModel`, or a function that returns one
            (called when an answer first needs it). None: only what comes with a trace is used.
        faithfulness: gives P(faithful); a model, or a function that returns one.
        claims: splits an answer into claims; default: the rule-based splitter.
        franq: the calibrator. Default: the shipped one for the answer's writer and these models, or
            the one for any writer if there is none; every result names it.
        policy: what happens to the text.
        form: ``long`` (claims of an answer), ``short`` (the answer is one claim, read together with
            its question) or ``auto`` (short where the answer states one claim, long elsewhere).
        uq_faith: the method of UQ_faith by its name in ``franq methods``; default: what the
            calibrator was fitted with.
        uq_unfaith: the method of UQ_unfaith, likewise.
        n_samples: samples drawn in the short form, at ``temperature``, if a method compares samples
            and the trace has none; their time is in ``timings``.
        deadline: seconds that checking an answer may take; after that its claims are
            ``unverified``, reason ``timeout``. The check runs in a thread of its own, which is
            abandoned if a call hangs. The time to load the models does not count.
        strict: if the calibrator was fitted for another writer, source, model, method or sampling,
            claims are ``unverified`` (and :meth:`calibrator_of` raises); otherwise that is logged.
        evidence: whether to look for stretches of the passages that support or contradict a claim.
            Without them a check is faster; the labels are the same.

    Raises:
        TypeError, ValueError: for settings that cannot work.
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
        temperature: float = TEMPERATURE,
        deadline: float | None = None,
        strict: bool = False,
        evidence: bool = True,
    ) -> None:
        check_settings(
            {
                "faithfulness": (faithfulness, "score"),
                "language_model": (language_model, "score"),
                "claims": (claims, "split"),
                "franq": (franq, "apply"),
            },
            form=form,
            franq=franq,
            policy=policy,
            n_samples=n_samples,
            temperature=temperature,
            deadline=deadline,
            chosen=bool(uq_faith or uq_unfaith or franq),
        )
        self.policy, self.claims = policy or Policy(), claims or RuleSplitter()
        self.form: Form | Literal["auto"] = form
        self.n_samples, self.deadline, self.strict = n_samples, deadline, strict
        self.choice = Choice(
            faithfulness=Lazy(faithfulness),
            language_model=None if language_model is None else Lazy(language_model),
            claims=self.claims,
            franq=franq,
            components=components("long" if form == "auto" else form, uq_faith, uq_unfaith, franq),
            named=bool(uq_faith or uq_unfaith),
            form=form,
            n_samples=n_samples,
            temperature=temperature,
            strict=strict,
            evidence=evidence,
        )
        self._of_form: dict[Form, Choice] = {}
        self._steps = Abandonable()
        self._streams = Abandonable(STREAMS)  # steps of its streams, counted by `streaming` alone
        self._lock = threading.RLock()

    @classmethod
    def offline(
        cls,
        *,
        faithfulness: FaithfulnessModel | Callable[[], FaithfulnessModel] | str | None = None,
        language_model: LanguageModel | Callable[[], LanguageModel] | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """The embedded default: bundled SmolLM2 and the small faithfulness model, no download.

        Args:
            faithfulness: instead of the small one. What ``--faithfulness`` takes, such as
                ``larger``, or as for :class:`Guard`.
            language_model: instead of the bundled one; as for :class:`Guard`.
            options: ``policy``, ``form``, ``deadline`` and all others of :class:`Guard`.

        Raises:
            MissingModelError: if a bundled model is not installed; names the command to run.
            ValueError: for an unknown name of a faithfulness model; lists the known ones.
        """
        # A missing package raises here, not in a chain.
        judge = "small" if faithfulness is None else faithfulness
        judge = faithfulness_named(judge) if isinstance(judge, str) else judge
        model = bundled_language_model() if language_model is None else language_model
        return cls(language_model=model, faithfulness=judge, **options)

    @property
    def language_model(self) -> LanguageModel | None:
        """The language model, loaded on first use."""
        return self.choice.model()

    @property
    def loaded_language_model(self) -> LanguageModel | None:
        """The language model if it is loaded already (or was given as an object), else None."""
        model = self.choice.language_model
        return None if model is None else model.loaded

    @property
    def renderer(self) -> LanguageModel | None:
        """The language model, to render prompts of remote models; not loaded for that alone."""
        reads = self.choice.reads(Generation(""))
        return self.language_model if reads else self.loaded_language_model

    @property
    def faithfulness(self) -> FaithfulnessModel:
        """The faithfulness model, loaded on first use."""
        return self.choice.faithfulness()

    @property
    def components(self) -> Components:
        """The two uncertainty methods by name or of ``franq``; a shipped one brings its own."""
        return self.choice.components

    def warm(self) -> Self:
        """Load the models and run one tiny check; raises whatever these raise."""
        warm(self.language_model, self.policy, self._split, self.choice.franq)
        return self

    def __getstate__(self) -> dict[str, object]:
        """For pickle and deepcopy: everything but the lock, which a copy creates anew."""
        return {k: v for k, v in vars(self).items() if k != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    @property
    def calibrator(self) -> Calibrator:
        """The calibrator for an answer whose writer is not known."""
        return self.calibrator_of(Trace("", (), Generation("")))

    def calibrator_of(self, trace: Trace) -> Calibrator:
        """The calibrator for a trace, by its writer and the source of its log-probabilities.

        Raises:
            ValueError: with ``strict``, if the given one was fitted for something else.
        """
        return self._choice_of(trace).calibrator(trace.generation)

    def _choice_of(self, trace: Trace) -> Choice:
        return self._split(trace)[0] if self.form == "auto" else self.choice

    @property
    def fingerprint(self) -> dict[str, str]:
        """What determines the signals. A calibrator of log-probabilities is valid only for this."""
        return self.choice.setting(reads=True)

    def using(self, *, language_model: LanguageModel) -> Guard:
        """This guard with another language model, sharing everything else.

        Returns this guard itself if it has already loaded the very same network: then the model
        keeps its name, and with it its calibrator.
        """
        own = getattr(self.loaded_language_model, "model", None)
        if own is not None and own is getattr(language_model, "model", None):
            return self
        return self._with(replace(self.choice, language_model=Lazy(language_model)))

    def uncalibrated(self) -> Guard:
        """This guard measuring log-probabilities, and given claims alone, uncalibrated: to fit."""
        flat = Calibrator.uncalibrated(form="short" if self.form == "short" else "long")
        return self._with(replace(self.choice, franq=flat, exact=True))

    def _with(self, choice: Choice) -> Self:
        """A guard of the same class and settings with another choice of calibrator and models."""
        other = copy(self)
        other.choice, other.form, other._of_form = choice, choice.form, {}
        return other

    def check(self, question: str, passages: Sequence[str | Passage], answer: str) -> GuardedAnswer:
        """Check an answer of which only the text is known.

        ``passages`` are the retrieved texts. Without any, every claim is ``unverified``.

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
        """Check a captured answer; log-probabilities that it has are not computed again.

        Raises:
            TypeError: if ``trace`` is not a :class:`Trace`.
        """
        if not isinstance(trace, Trace):
            raise TypeError(f"a Trace is wanted, not {type(trace).__name__}; see check()")
        return self._check([trace])[0]

    async def acheck_trace(self, trace: Trace) -> GuardedAnswer:
        """:meth:`check_trace` in a thread."""
        return await asyncio.to_thread(self.check_trace, trace)

    def check_many(
        self,
        traces: Iterable[Trace | Given],
        *,
        batch_size: int = 8,
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[GuardedAnswer]:
        """Check answers, ``batch_size`` at a time; yields the results in the same order.

        Args:
            traces: traces or tuples (question, passages, answer). They are read lazily, so a file
                may be larger than the memory.
            batch_size: how many answers share each model call.
            progress: called with the number of answers done after each batch.

        Raises:
            TypeError, ValueError: on reaching an item of the wrong kind or without a question.
        """
        if batch_size < 1:
            raise ValueError("batch_size must be at least 1")
        # The deadline is for each answer, so answers are then checked one at a time.
        return self._batches(map(as_trace, traces), 1 if self.deadline else batch_size, progress)

    def _batches(
        self, traces: Iterator[Trace], size: int, progress: Callable[[int], None] | None
    ) -> Iterator[GuardedAnswer]:
        done = 0
        while batch := list(islice(traces, size)):
            yield from self._check(batch)
            done += len(batch)
            if progress is not None:
                progress(done)

    def unverified(
        self,
        trace: Trace,
        reason: Reason,
        *,
        detail: str = "",
        claims: Sequence[Claim] | None = None,
    ) -> GuardedAnswer:
        """The answer of ``trace`` with every claim unverified: the result of a failed check.

        ``claims``: of the answer, if they are known already.
        """
        if detail:  # whoever asked chose the id, which may have line breaks, or be long
            _log.warning("answer %.80r not verified: %s: %s", trace.id or "", reason, detail)
        return hooks.watched([trace], lambda _: [self._unverified(trace, reason, claims)])[0]

    def _unverified(
        self, trace: Trace, reason: Reason, claims: Sequence[Claim] | None
    ) -> GuardedAnswer:
        if claims is None:
            claims = unverified_claims(trace, reason, self.claims, self.choice)
        verdicts = [unchecked(claim, reason) for claim in claims]
        return finished(None, self.policy, trace, verdicts, {})

    def _check(self, batch: Sequence[Trace]) -> list[GuardedAnswer]:
        return hooks.watched(batch, self._check_groups)

    def _check_groups(self, batch: Sequence[Trace]) -> list[GuardedAnswer]:
        """Check a batch; a failure makes its own trace unverified and does not affect others."""
        return in_groups(batch, lambda t: self.choice.reads(t.generation), self._check_group)

    def _check_group(self, batch: Sequence[Trace]) -> list[GuardedAnswer]:
        """Check traces that all need the language model, or that all do not."""
        try:
            self.choice.models(batch[0].generation)  # load them before the deadline starts
        except Exception as error:  # without the model no answer can be checked
            _log.warning("a model cannot be loaded: %s", error)  # it has seen no text of users
            return self._failed(batch, error)
        try:
            return self._flow(batch)
        except Exception as error:  # a live chain must not break on a failure of ours
            if len(batch) > 1:
                return [answer for trace in batch for answer in self._check([trace])]
            return self._failed(batch, error)

    def _failed(
        self, batch: Sequence[Trace], error: Exception, claims: Sequence[list[Claim] | None] = ()
    ) -> list[GuardedAnswer]:
        hooks.failed(error)
        _log.debug("check failed", exc_info=True)
        pairs = zip(batch, claims or [None] * len(batch), strict=True)
        return [self.unverified(t, "error", detail=loggable(error), claims=of) for t, of in pairs]

    def _flow(self, batch: Sequence[Trace]) -> list[GuardedAnswer]:
        """Claims, signals and FRANQ, within the deadline; then the policy."""
        clock = Clock(self.deadline)
        step = Checking(self._split, self.policy, batch, clock)
        try:
            found = step() if self.deadline is None else self._steps.run(step, self.deadline)
        except DeadlineExceeded as error:
            said = f"{error} (stage {clock.at!r})"
            split: Sequence[list[Claim] | None] = step.claims or [None] * len(batch)
            pairs = zip(batch, split, strict=True)
            return [self.unverified(t, "timeout", detail=said, claims=of) for t, of in pairs]
        except Exception as error:
            if len(batch) > 1:
                raise  # then each is tried alone
            # A splitter that failed is not asked again: this is no longer within the deadline.
            return self._failed(batch, error, step.claims or [whole(batch[0].generation.text)])
        share = {stage: seconds / len(batch) for stage, seconds in clock.timings.items()}
        return [
            finished(choice, self.policy, trace, of, share)
            for trace, (choice, of) in zip(batch, found, strict=True)
        ]

    def _split(self, trace: Trace) -> tuple[Choice, list[Claim]]:
        """The claims of an answer, and the choice for its form, which ``auto`` tells by them."""
        form, claims = claims_of(trace, self.claims, self.form, exact=self.choice.exact)
        if self.form != "auto":
            return self.choice, claims
        with self._lock:
            if form not in self._of_form:
                chosen = replace(self.choice, form=form, components=DEFAULTS[form])
                self._of_form[form] = chosen
            return self._of_form[form], claims

    def finished(
        self, trace: Trace, verdicts: Sequence[Verdict], timings: Mapping[str, float]
    ) -> GuardedAnswer:
        """The checked answer, with the policy applied; an exception in its action is caught."""
        return finished(self._choice_of(trace), self.policy, trace, verdicts, timings)
