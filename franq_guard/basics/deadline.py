"""A point in time past which a check is to end, and steps that are left behind when it comes.

A model that works in batches calls :func:`between_batches` before each: a long stage then ends
soon after the deadline. A call that hangs is left behind in its thread (:class:`Abandonable`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from math import inf
from time import perf_counter
from typing import TypeVar

__all__ = ["Abandonable", "DeadlineExceeded", "between_batches", "until"]

R = TypeVar("R")
_MOST = 32
"""Threads that may be left behind at a time: a model that hangs for good must not fill the
process with them."""

_ends: ContextVar[float] = ContextVar("franq_deadline", default=inf)


class DeadlineExceeded(Exception):
    """The time an answer may take is over."""


@contextmanager
def until(ends: float) -> Iterator[None]:
    """Within it, :func:`between_batches` ends the work when ``perf_counter()`` is past ``ends``."""
    token = _ends.set(ends)
    try:
        yield
    finally:
        _ends.reset(token)


def between_batches() -> None:
    """Called by models before each batch.

    Raises:
        DeadlineExceeded: when the time of the check that asked for the work is over.
    """
    if perf_counter() > _ends.get():
        raise DeadlineExceeded("the deadline passed between two batches")


class Abandonable:
    """Runs steps that may hang, each in a thread of its own; safe for many threads.

    A step that is left behind goes on in its thread until it ends by itself, and what it gives is
    dropped. The thread ends no later than the process.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a step may come back while it is being counted
        self._left = 0

    def run(self, step: Callable[[], R], seconds: float) -> R:
        """What ``step()`` returns or raises, in the caller's context (its variables, its span).

        Raises:
            DeadlineExceeded: when it takes longer, or too many that took longer still run.
        """
        with self._lock:
            if self._left >= _MOST:
                raise DeadlineExceeded(f"{self._left} checks that were left behind still run")
        made: Future[R] = Future()
        work = threading.Thread(
            target=self._work,
            args=(copy_context().run, step, made),
            daemon=True,
            name="franq-check",
        )
        work.start()
        try:
            return made.result(seconds)
        except BaseException as error:
            with self._lock:
                if made.done():
                    raise
                self._left += 1
                made.add_done_callback(self._came_back)
            if isinstance(error, TimeoutError):
                raise DeadlineExceeded(
                    f"{seconds:.3g} s were over; the check is left behind"
                ) from None
            raise

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
