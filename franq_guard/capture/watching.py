"""Watching without enforcing: answers are checked in the background and only reported.

Its input is what a framework's callback or event handler saw of a run; its output are reports. The
answer is never delayed or changed, and no exception reaches the application.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from zlib import crc32

from franq_guard.basics.background import Background
from franq_guard.basics.failures import log_failure
from franq_guard.capture.evidence import EvidenceFrom, check_evidence
from franq_guard.capture.job import Job
from franq_guard.capture.outlet import check_guard
from franq_guard.streaming.release import OnReport, check_called
from franq_guard.telemetry import hooks

if TYPE_CHECKING:
    from franq_guard.guard import Guard

_log = logging.getLogger(__name__)
_MOST_TEXTS = 1000
"""How many texts of models inside tools are kept."""

FoundT = TypeVar("FoundT")


@dataclass(frozen=True)
class _Seen:
    """A run that has ended: how to gather its job, its telemetry context, its own context."""

    gather: Callable[[], Job | None]
    place: Any
    context: Context


class Watcher:
    """Checks the runs that callbacks pass to it, in one thread of its own, and reports them.

    It is thread-safe and keeps nothing of a run after its report.

    Attributes:
        checked: how many answers were checked and reported.

    Args:
        on_report: called with each checked answer, in the checking thread and in the context in
            which the run ended. Its exceptions are logged.
        sample: the share of runs to watch, in [0, 1]; their ids determine which ones.
        queue_size: how many answers may wait; further ones are dropped and counted.

    Raises:
        TypeError, ValueError: for arguments that cannot work.
    """

    def __init__(
        self, on_report: OnReport | None = None, *, sample: float = 1.0, queue_size: int = 1000
    ) -> None:
        if not 0 <= sample <= 1:
            raise ValueError(f"sample is the share of runs to watch, between 0 and 1, not {sample}")
        check_called("on_report", on_report)
        self.checked = 0
        self._on_report, self._sample = on_report, sample
        self._lock = Lock()
        self._queue: Background[_Seen] = Background(self._check, what="watching", size=queue_size)

    def watches(self, run_id: str) -> bool:
        """Whether the run with this id is in the sample; the same at each call."""
        return crc32(run_id.encode()) < self._sample * 2**32

    def offer(self, gather: Callable[[], Job | None]) -> None:
        """Queue a job to be checked and reported; neither waits nor raises.

        Args:
            gather: makes the job, or None if there is nothing to check; called in the checking
                thread.
        """
        try:
            self._queue.put(_Seen(gather, hooks.here(), copy_context()))
        except Exception as error:  # watching must not break the application
            log_failure(_log, "a run was not watched", error)

    @property
    def dropped(self) -> int:
        """How many answers were not checked because too many waited, or after :meth:`close`."""
        return self._queue.dropped

    @property
    def failed(self) -> int:
        """How many could not be checked or reported; the log says why."""
        return self._queue.failed

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every ended run is reported; False if that takes over ``timeout`` seconds."""
        return self._queue.flush(timeout)

    def close(self, timeout: float | None = 2.0) -> bool:
        """Accept no more runs and :meth:`flush`; also called when the process ends."""
        return self._queue.close(timeout)

    def __deepcopy__(self, memo: dict[int, Any]) -> Watcher:
        return self  # a copied model keeps reporting to the same callback

    def _check(self, seen: _Seen) -> None:
        job = seen.gather()
        if job is None:
            return
        with hooks.under([(trace, seen.place) for trace in job.traces]):
            answer = job.check()
        with self._lock:
            self.checked += 1
        if self._on_report is not None:
            seen.context.run(self._on_report, answer)


class Watching(Watcher):
    """The base class of each framework's callback or event handler.

    Args:
        guard: checks the answers; may be used elsewhere at the same time.
        on_report: called with each :class:`~franq_guard.GuardedAnswer`, in the checking thread and
            in the context in which the run ended. Its exceptions are logged.
        sample: the share of root runs to watch, in [0, 1]; their ids determine which ones.
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
        super().__init__(on_report, sample=sample, queue_size=queue_size)
        self._guard, self._evidence = guard, evidence


class FoundForTexts(Generic[FoundT]):
    """Texts that a model inside a tool wrote in earlier runs, each with what the tool had found.

    In a follow-up turn such a text is among the messages. It is not evidence itself; what the tool
    had found takes its place. Only the newest texts are kept. Not thread-safe: only the thread of
    the checks uses it.
    """

    def __init__(self) -> None:
        self._found: OrderedDict[str, Sequence[FoundT]] = OrderedDict()

    def note(self, text: str, found: Sequence[FoundT]) -> None:
        """Keep what the tool had found when a model wrote ``text``; may be empty."""
        self._found.pop(text.strip(), None)
        self._found[text.strip()] = found
        if len(self._found) > _MOST_TEXTS:
            self._found.popitem(last=False)

    def found(self, text: str) -> Sequence[FoundT] | None:
        """What the tool had found; None if no model is known to have written this text."""
        return self._found.get(text.strip())
