"""Checks the answers of many requests together, in one worker thread next to the event loop.

An idle checker waits ``window_ms`` for more answers; answers that arrive while it works wait for
the next round, up to ``batch_size`` a round. If a check fails, that answer is returned as
unverified; the answers of other requests are not affected. A round that nobody waits for any more,
because deadlines are past or clients have left, is left to its thread, and the next one begins: a
single answer of many claims over many passages may take hours.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec, Protocol

from franq_guard import telemetry
from franq_guard.basics.background import Steps
from franq_guard.basics.deadline import Abandonable, DeadlineExceeded
from franq_guard.basics.failures import log_failure
from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Reason, Trace
from franq_guard.serve.errors import Closing, QueueFull
from franq_guard.serve.settings import OnError, Route, ServeSettings

_log = logging.getLogger(__name__)
P = ParamSpec("P")

_GRACE = 5.0
"""Seconds that a round is given to end after the last of its requests is over; most do."""
_MAX_ABANDONED = 4
"""How many rounds that nobody waits for may run at once: each takes memory and processor time."""


class Checks(Protocol):
    """The part of :class:`~franq_guard.Guard` that is used here."""

    @property
    def policy(self) -> Policy:
        """Decides how the text of an answer is changed."""
        ...

    def check_many(self, traces: Iterable[Trace], *, batch_size: int) -> Iterator[GuardedAnswer]:
        """The checked answer of each trace, in order."""
        ...

    def unverified(self, trace: Trace, reason: Reason, *, detail: str = "") -> GuardedAnswer:
        """The answer with every claim unverified."""
        ...


@dataclass(eq=False, slots=True)
class _Job:
    """One answer that waits or is being checked.

    ``due`` is its deadline on the event loop's clock. ``context`` is the telemetry context of its
    request, kept because one round checks answers of many requests.
    """

    trace: Trace
    done: asyncio.Future[GuardedAnswer]
    due: float | None
    context: Any = field(default_factory=telemetry.here)


class Checker:
    """Checks the answers of concurrent requests with one guard.

    Belongs to the event loop of its first :meth:`check`.

    Attributes:
        on_checked: called with each checked answer and the seconds it took, waiting included.
        on_generated: called with the seconds by which the guard delayed an answer and the seconds
            its model took to write it (see :meth:`generated`).
        on_unverified: called for each answer that is sent with claims which could not be checked:
            with its route and the ``on_error`` that applied to it (see :meth:`sent`).

    Args:
        guard: a :class:`~franq_guard.Guard`, or an object with the same methods.
        settings: size of the queue and of a round, window, deadline, ``on_error``.
    """

    def __init__(self, guard: Checks, settings: ServeSettings) -> None:
        self.guard, self.settings = guard, settings
        self.on_checked: list[Callable[[GuardedAnswer, float], None]] = []
        self.on_generated: list[Callable[[float, float], None]] = []
        self.on_unverified: list[Callable[[Route, OnError], None]] = []
        self.ready = False
        self._waiting: deque[_Job] = deque()
        self._rounds_task: asyncio.Task[None] | None = None
        self._round_is_full = asyncio.Event()
        self._has_room: asyncio.Event | None = None
        self._closing = False
        self._unanswered: set[asyncio.Future[GuardedAnswer]] = set()
        self._steps, self._abandoned = Steps("check"), Abandonable(_MAX_ABANDONED)

    @property
    def waiting(self) -> int:
        """How many answers wait, without those being checked."""
        return len(self._waiting)

    async def load(self) -> None:
        """Load the models, so that the first request need not wait for them.

        Raises:
            Exception: any error of loading them.
        """
        await asyncio.wrap_future(self._steps.submit(self._load))
        self.ready = True

    async def check(
        self,
        trace: Trace,
        *,
        deadline: float | None = None,
        began: float | None = None,
        closed: bool = False,
        admitted: bool = False,
    ) -> GuardedAnswer:
        """Check the answer of ``trace``.

        Args:
            trace: the answer to check.
            deadline: seconds it may take, including the wait; the settings' deadline applies if it
                is shorter. After it every claim is unverified, reason ``timeout``.
            began: when the deadline began, on the clock of ``time.perf_counter()``; None: now.
            closed: treat claims that could not be checked as weak, even if the settings say
                ``open``.
            admitted: take it even if the queue is full, because its request was let in before its
                model wrote the answer.

        Raises:
            QueueFull: if the queue is full.
            Closing: after :meth:`drain` was called.
        """
        if self._closing:
            raise Closing
        if not admitted and len(self._waiting) >= self.settings.queue:
            raise QueueFull
        began = time.perf_counter() if began is None else began
        answer = await self._answer(trace, began, self.deadline(deadline))
        return await self._finished(answer, began, closed)

    def deadline(self, requested: float | None) -> float | None:
        """The seconds an answer may take: those its request asks for, or the settings' if less."""
        limits = (requested, self.settings.deadline)
        return min((seconds for seconds in limits if seconds is not None), default=None)

    async def unverified(
        self, trace: Trace, reason: Reason, *, closed: bool = False
    ) -> GuardedAnswer:
        """The answer of ``trace`` with every claim unverified; the listeners are called as usual.

        For answers that cannot be checked at all, for example because no passages are known.
        """
        began = time.perf_counter()
        answer = await asyncio.to_thread(self.guard.unverified, trace, reason)
        return await self._finished(answer, began, closed)

    def policy(self, *, closed: bool) -> Policy:
        """The guard's policy, made stricter if the settings or the request ask for it."""
        policy = self.guard.policy
        strict = closed or self.settings.on_error == "closed"
        return replace(policy, on_error="closed") if strict else policy

    async def room(self) -> None:
        """Wait until the queue is short, for callers that need no reply at once, such as a batch.

        All batches together fill the next round and no more, so that an answer that somebody waits
        for finds room and is not held up by a whole batch.

        Raises:
            Closing: after :meth:`drain` was called.
        """
        limit = min(self.settings.queue, self.settings.batch_size)
        while not self._closing and len(self._waiting) >= limit:
            self._has_room = self._has_room or asyncio.Event()
            await self._has_room.wait()
        if self._closing:
            raise Closing

    def checked(self, answer: GuardedAnswer, seconds: float) -> None:
        """Report to the listeners an answer that was checked here or in a stream."""
        _notify(self.on_checked, answer, seconds)

    def generated(self, guard_seconds: float, generation_seconds: float) -> None:
        """Report to the listeners how long an answer was delayed and how long writing it took."""
        _notify(self.on_generated, guard_seconds, generation_seconds)

    def sent(self, route: Route, answer: GuardedAnswer, policy: Policy) -> None:
        """Report to the listeners that an answer is sent, if some claims could not be checked."""
        if any(verdict.label == "unverified" for verdict in answer.verdicts):
            _notify(self.on_unverified, route, policy.on_error)

    async def drain(self) -> None:
        """Accept no more answers; return when those asked for are checked or past their deadline.

        Not when the work is done: a model that hangs would never let the service end.
        """
        self._closing = True
        self._round_is_full.set()
        self._announce_room()
        if self._unanswered:
            await asyncio.wait(self._unanswered)
        self._steps.cancel()

    async def _answer(self, trace: Trace, began: float, deadline: float | None) -> GuardedAnswer:
        loop = asyncio.get_running_loop()
        spent = time.perf_counter() - began
        due = None if deadline is None else loop.time() + deadline - spent
        job = _Job(trace, loop.create_future(), due)
        self._unanswered.add(job.done)
        self._enqueue(job)
        try:
            async with asyncio.timeout_at(due):
                return await job.done
        except TimeoutError:
            return await asyncio.to_thread(self.guard.unverified, trace, "timeout")
        finally:  # also if the client disconnected and the request was cancelled
            self._unanswered.discard(job.done)
            with suppress(ValueError):
                self._waiting.remove(job)
                self._announce_room()

    def _enqueue(self, job: _Job) -> None:
        self._waiting.append(job)
        if len(self._waiting) >= self.settings.batch_size:
            self._round_is_full.set()
        if self._rounds_task is None or self._rounds_task.done():
            self._round_is_full = asyncio.Event()
            self._rounds_task = asyncio.create_task(self._run_rounds())

    def _announce_room(self) -> None:
        if self._has_room is not None:
            self._has_room.set()
            self._has_room = None

    async def _run_rounds(self) -> None:
        """Check in rounds until the queue is empty."""
        loop = asyncio.get_running_loop()
        await self._wait_for_more()
        while self._waiting:
            size = min(len(self._waiting), self.settings.batch_size)
            jobs = [self._waiting.popleft() for _ in range(size)]
            self._announce_room()
            jobs = [job for job in jobs if not job.done.done() and not _is_late(job, loop.time())]
            if jobs:
                await self._check_round(jobs)

    async def _check_round(self, jobs: Sequence[_Job]) -> None:
        work = self._steps.submit(self._check_jobs, jobs)
        result = asyncio.wrap_future(work)
        requests = asyncio.gather(*(job.done for job in jobs), return_exceptions=True)
        either: list[asyncio.Future[Any]] = [result, requests]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not result.done() and await self._abandon(work, result):
            return
        try:
            answers = await result
        except Exception as error:  # not even the unverified answers could be built
            for job in jobs:
                if not job.done.done():
                    job.done.set_exception(error)
            return
        for job, answer in zip(jobs, answers, strict=True):
            if not job.done.done():  # the request may be cancelled, or past its deadline
                job.done.set_result(answer)

    async def _abandon(self, work: Future[Any], result: asyncio.Future[Any]) -> bool:
        """Abandon a round that nobody waits for any more; False if it has ended meanwhile."""
        await asyncio.wait([result], timeout=_GRACE)
        with suppress(DeadlineExceeded):
            self._abandoned.admit()
            if self._abandoned.leave(work):
                _log.warning("a round of checks goes on although nobody waits for it any more")
                self._steps = Steps("check")
                result.cancel()  # only the wait for it
                return True
        await asyncio.wait([result])
        return False

    async def _wait_for_more(self) -> None:
        """Wait a moment for more answers, unless there are enough for a full round."""
        if self._closing or len(self._waiting) >= self.settings.batch_size:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.window_ms / 1000):
                await self._round_is_full.wait()

    def _check_jobs(self, jobs: Sequence[_Job]) -> list[GuardedAnswer]:
        """Check in the worker thread, within the telemetry contexts of the requests."""
        with telemetry.under([(job.trace, job.context) for job in jobs]):
            return self._check([job.trace for job in jobs])

    def _check(self, traces: Sequence[Trace]) -> list[GuardedAnswer]:
        try:
            answers = list(self.guard.check_many(traces, batch_size=self.settings.batch_size))
            if len(answers) != len(traces):
                raise RuntimeError(f"{len(answers)} answers for {len(traces)} traces")
        except Exception as error:
            if len(traces) > 1:  # check them one by one, so that only the cause fails
                return [answer for trace in traces for answer in self._check([trace])]
            # Only the error's type: its message may contain text of the request.
            return [self.guard.unverified(traces[0], "error", detail=type(error).__name__)]
        return answers

    async def _finished(self, answer: GuardedAnswer, began: float, closed: bool) -> GuardedAnswer:
        """Apply the policy of this request to the answer and report it to the listeners."""
        policy = self.policy(closed=closed)
        if policy != self.guard.policy and answer.status != "ok":
            # In a thread: to remove the claims of a long answer would hold up other requests.
            text = await asyncio.to_thread(apply_policy, policy, answer)
            answer = replace(answer, text=text, weak=policy.acts_against)
        self.checked(answer, time.perf_counter() - began)
        return answer

    def _load(self) -> None:
        # The calibrator loads the language model where answers that are given need it.
        for name in ("faithfulness", "calibrator"):
            getattr(self.guard, name, None)


def apply_policy(policy: Policy, answer: GuardedAnswer) -> str:
    """The text of a checked answer under ``policy``, even if the policy's action raises."""
    try:
        return policy.apply(answer.original, answer.verdicts)
    except Exception as error:  # the action may be the user's own function
        log_failure(_log, "the policy's action failed", error)
        return policy.on_failure(answer.original, answer.verdicts)


def _is_late(job: _Job, now: float) -> bool:
    """Whether the deadline passed in the queue; :meth:`Checker.check` then returns the timeout."""
    return job.due is not None and job.due <= now


def _notify(listeners: Iterable[Callable[P, None]], *args: P.args, **kwargs: P.kwargs) -> None:
    for listener in listeners:
        try:
            listener(*args, **kwargs)
        except Exception as error:  # a failing listener must not break the check
            log_failure(_log, "a listener failed", error)
