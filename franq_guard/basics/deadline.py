"""Deadlines: a time at which a check has to end, and steps that are abandoned when it passes.

A model that works in batches calls :func:`between_batches` before each batch, so that a long stage
ends soon after the deadline. A call that hangs is abandoned in its thread (:class:`Abandonable`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from math import inf
from time import perf_counter
from typing import Any, TypeVar

from franq_guard.basics.daemons import start_daemon

__all__ = ["STREAMS", "Abandonable", "DeadlineExceeded", "between_batches", "until"]

R = TypeVar("R")
_MOST = 32
"""How many abandoned threads may run at the same time. Without a limit, a model that hangs forever
would fill the process with threads."""
STREAMS = 128
"""How many threads of streams that were closed, or are past their deadline, may still run: more,
since a stream may be closed (by a reader who leaves) while its check is well within its time."""

_ends: ContextVar[float] = ContextVar("franq_deadline", default=inf)


class DeadlineExceeded(Exception):
    """The time allowed for checking an answer has passed."""


@contextmanager
def until(ends: float) -> Iterator[None]:
    """Context in which :func:`between_batches` raises once ``perf_counter()`` is past ``ends``."""
    token = _ends.set(ends)
    try:
        yield
    finally:
        _ends.reset(token)


def between_batches() -> None:
    """Called by models before each batch.

    Raises:
        DeadlineExceeded: when the deadline of the current check has passed.
    """
    if perf_counter() > _ends.get():
        raise DeadlineExceeded("the deadline passed between two batches")


class Abandonable:
    """Runs steps that may hang, each in a thread of its own; thread-safe.

    An abandoned step runs on in its thread until it returns, and its result is dropped. The threads
    are daemons: they do not keep the process alive. A copy starts with no abandoned steps.

    Args:
        most: how many abandoned steps may run at the same time.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.RLock()  # an abandoned step may return while it is being counted
        self._left = 0

    def __reduce__(self) -> tuple[type[Abandonable], tuple[int]]:
        return type(self), (self._most,)

    def run(self, step: Callable[[], R], seconds: float) -> R:
        """Return or raise what ``step()`` does; it runs with the caller's context variables.

        Raises:
            DeadlineExceeded: if the step takes longer than ``seconds``, or if too many abandoned
                steps are still running.
        """
        self.admit()
        made: Future[R] = Future()
        start_daemon("check", self._work, copy_context().run, step, made)
        try:
            return made.result(min(seconds, threading.TIMEOUT_MAX))  # infinite: no limit
        except BaseException as error:
            timeout = isinstance(error, TimeoutError)
            if not self.leave(made):
                if timeout:  # the step's own, or it ended since
                    return made.result()
                raise
            if timeout:
                raise DeadlineExceeded(
                    f"{seconds:.3g} s have passed; the check was abandoned"
                ) from None
            raise

    def admit(self) -> None:
        """Refuse another step while too many abandoned ones still run.

        Raises:
            DeadlineExceeded: if so.
        """
        with self._lock:
            if self._left >= self._most:
                raise DeadlineExceeded(f"{self._left} abandoned checks still run")

    def leave(self, step: Future[Any]) -> bool:
        """Count a step that nobody waits for until it returns; False if it has returned."""
        with self._lock:
            if step.done():
                return False
            self._left += 1
            step.add_done_callback(self._came_back)
            return True

    def _came_back(self, _: object) -> None:
        with self._lock:
            self._left -= 1

    @staticmethod
    def _work(run: Callable[[Callable[[], R]], R], step: Callable[[], R], made: Future[R]) -> None:
        try:
            found = run(step)
        except BaseException as error:
            made.set_exception(error)
        else:
            made.set_result(found)
