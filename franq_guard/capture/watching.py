"""Watching without enforcing: answers are checked off their path and only reported.

What a framework's callback or event handler saw of a run comes in; reports go out. The answer waits
for nothing, is never changed, and nothing raises into it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any
from zlib import crc32

from franq_guard.basics.background import Background
from franq_guard.capture.evidence import EvidenceFrom, check_evidence
from franq_guard.capture.job import Job
from franq_guard.capture.outlet import check_guard
from franq_guard.records import GuardedAnswer
from franq_guard.streaming.release import OnReport
from franq_guard.telemetry import hooks

if TYPE_CHECKING:
    from franq_guard.guard import Guard

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Seen:
    """A run that has ended: how to gather its job, where it stood, and for whom it is reported."""

    gather: Callable[[], Job]
    place: Any
    context: Context


class Watching:
    """What the callback or event handler of each framework is, whatever it sees of a run.

    Args:
        guard: checks the answers; shared by anything else.
        on_report: called with each :class:`~franq_guard.GuardedAnswer`, in the thread of the checks
            and the context in which the run ended. What it raises is logged.
        sample: the share of root runs that is watched, in [0, 1]; which ones depends on their ids.
        queue_size: how many answers may wait to be checked.
        evidence: a key, a dotted path or a function; see the framework's wrappers.

    Raises:
        TypeError, ValueError: for arguments that cannot work.
    """

    def __init__(
        self,
        guard: Guard,
        on_report: OnReport | None,
        *,
        sample: float,
        queue_size: int,
        evidence: EvidenceFrom | None,
    ) -> None:
        check_guard(type(self).__name__, guard)
        check_evidence(evidence)
        self._guard, self._evidence = guard, evidence
        self._watcher = Watcher(on_report, sample=sample, queue_size=queue_size)

    @property
    def checked(self) -> int:
        """How many answers were checked and reported."""
        return self._watcher.checked

    @property
    def dropped(self) -> int:
        """How many were not checked because too many waited, or after :meth:`close`."""
        return self._watcher.dropped

    @property
    def failed(self) -> int:
        """How many could not be checked or reported; the log says why."""
        return self._watcher.failed

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that has ended is reported; False where ``timeout`` seconds are over."""
        return self._watcher.flush(timeout)

    def close(self, timeout: float | None = 2.0) -> bool:
        """Take nothing more, and :meth:`flush`; done at the end of the process, too."""
        return self._watcher.close(timeout)


class Watcher:
    """Checks what callbacks hand over, in one thread, and reports.

    One may serve any number of runs and threads; nothing of a run is kept once it is reported.

    Attributes:
        checked: how many answers were checked and reported.

    Args:
        on_report: called with each checked answer, in the thread of the checks and in the context
            in which the run ended. What it raises is logged.
        sample: the share of runs that is watched, in [0, 1]; which ones depends on their ids.
        queue_size: how many answers may wait; more are dropped and counted.

    Raises:
        TypeError, ValueError: for arguments that cannot work.
    """

    def __init__(
        self, on_report: OnReport | None = None, *, sample: float = 1.0, queue_size: int = 1000
    ) -> None:
        if not 0 <= sample <= 1:
            raise ValueError(f"sample is a share of the runs, between 0 and 1, not {sample}")
        if on_report is not None and not callable(on_report):
            raise TypeError("on_report is called with each report: give a function")
        self.checked = 0
        self._on_report, self._sample = on_report, sample
        self._lock = Lock()
        self._queue: Background[_Seen] = Background(self._check, what="watching", size=queue_size)

    def watches(self, run_id: str) -> bool:
        """Whether the run of this id is in the sample; the same for each call."""
        return crc32(run_id.encode()) < self._sample * 2**32

    def offer(self, gather: Callable[[], Job]) -> None:
        """Have the job that ``gather`` makes checked and reported; neither waits nor raises.

        Args:
            gather: called in the thread of the checks.
        """
        try:
            self._queue.put(_Seen(gather, hooks.here(), copy_context()))
        except Exception as error:  # who watches must not break what is watched
            _log.warning("a run was not watched: %s: %s", type(error).__name__, error)

    @property
    def dropped(self) -> int:
        """How many answers were not checked because too many waited, or after :meth:`close`."""
        return self._queue.dropped

    @property
    def failed(self) -> int:
        """How many could not be checked or reported; the log says why."""
        return self._queue.failed

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that has ended is reported; False where ``timeout`` seconds are over."""
        return self._queue.flush(timeout)

    def close(self, timeout: float | None = 2.0) -> bool:
        """Take nothing more, and :meth:`flush`; done at the end of the process, too."""
        return self._queue.close(timeout)

    def __deepcopy__(self, memo: dict[int, Any]) -> Watcher:
        return self

    def _check(self, seen: _Seen) -> None:
        job = seen.gather()
        with hooks.under([(trace, seen.place) for trace in job.traces]):
            answer = job.check()
        with self._lock:
            self.checked += 1
        if self._on_report is not None:
            seen.context.run(self._report, answer)

    def _report(self, answer: GuardedAnswer) -> None:
        if self._on_report is not None:
            self._on_report(answer)
