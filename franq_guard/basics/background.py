"""A queue and one worker thread, for work that must delay neither the caller nor the exit."""

from __future__ import annotations

import atexit
import logging
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import Empty, Full, Queue
from threading import Lock, Thread
from typing import Any, Generic, ParamSpec, TypeVar

from franq_guard.basics.daemons import start_daemon
from franq_guard.basics.failures import log_failure

_log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

IDLE = 0.3
"""Seconds without an item after which the thread ends; the next item starts another one."""


class Background(Generic[T]):
    """Calls a function with one item after the other, in a thread of its own.

    The thread lives only while there are items, so that nothing is left of an object that its owner
    has dropped. A deep copy is the same object, so a copied chain keeps reporting to the same
    queue.

    Attributes:
        dropped: how many items were not handled because the queue was full or closed.
        failed: for how many items the function raised; each failure is logged.

    Args:
        handle: the function that is called with each item.
        what: what log messages call the items ("feedback").
        size: how many items may wait.
    """

    def __init__(self, handle: Callable[[T], object], *, what: str, size: int) -> None:
        if size < 1:
            raise ValueError(f"room for at least one item is needed, not {size}")
        self.dropped = 0
        self.failed = 0
        self._handle, self._what = handle, what
        self._waiting: Queue[tuple[T] | None] = Queue(size)
        self._lock = Lock()
        self._worker: Thread | None = None
        self._closed = False

    def put(self, item: T) -> bool:
        """Queue an item; neither waits nor raises. False if the item is dropped."""
        with self._lock:
            try:
                if self._closed:
                    raise Full
                self._waiting.put_nowait((item,))
            except Full:
                self._drop()
                return False
            if self._worker is None or not self._worker.is_alive():  # a fork copies no threads
                self._start()
            return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all items are handled; False if that takes over ``timeout`` seconds."""
        queue = self._waiting
        with queue.all_tasks_done:
            return queue.all_tasks_done.wait_for(lambda: not queue.unfinished_tasks, timeout)

    def close(self, timeout: float | None = 2.0) -> bool:
        """Accept no more items and :meth:`flush`; also called when the process ends."""
        began = time.monotonic()
        with self._lock:
            self._closed = True
        done = self.flush(timeout)
        if not done:
            for _ in self._taken_back():
                self._drop()
        with self._lock:  # the one call that takes the worker out also ends it, so it is ended once
            worker, self._worker = self._worker, None
            if worker is not None and worker.is_alive():
                self._waiting.put_nowait(None)
        if done and worker is not None:
            worker.join(None if timeout is None else max(0.0, timeout - time.monotonic() + began))
        atexit.unregister(self.close)
        return done

    def cancel(self) -> list[T]:
        """Accept no more items; returns those that still waited. Does not wait itself."""
        with self._lock:
            self._closed = True
        left = self._taken_back()
        self.close(0)
        return left

    def __deepcopy__(self, memo: dict[int, Any]) -> Background[T]:
        return self

    def _start(self) -> None:
        if self._worker is None:
            atexit.register(self.close)
        self._worker = start_daemon(self._what, self._work)

    def _drop(self) -> None:
        self.dropped += 1
        if self.dropped == 1:
            _log.warning("%s is dropped: too much of it waits, or it was closed", self._what)

    def _taken_back(self) -> list[T]:
        """The items that still waited, taken out of the queue."""
        left: list[T] = []
        while True:
            try:
                item = self._waiting.get_nowait()
            except Empty:
                return left
            if item is not None:
                left += item
            self._waiting.task_done()

    def _work(self) -> None:
        while (item := self._next()) is not None:
            try:
                self._handle(*item)
            except Exception as error:  # the next items are still handled
                self.failed += 1
                log_failure(_log, f"{self._what} failed", error)
            finally:
                del item  # so that the item can be freed while this thread waits
                self._waiting.task_done()

    def _next(self) -> tuple[T] | None:
        """The next item; None if this thread has to end."""
        while True:
            try:
                item = self._waiting.get(timeout=IDLE)
            except Empty:
                if self._rests():
                    return None
                continue
            if item is None:
                self._waiting.task_done()
            return item

    def _rests(self) -> bool:
        """Whether nothing has come since; then :meth:`put`, with the same lock, starts anew."""
        with self._lock:
            if not self._waiting.empty():
                return False
            self._worker = None
            atexit.unregister(self.close)
            return True


class Steps:
    """Runs one step after the other in a daemon thread, and tells what each returned or raised.

    A ``ThreadPoolExecutor`` would wait for a step that hangs when the process ends.

    Args:
        what: is part of the thread's name ("claims").
    """

    def __init__(self, what: str) -> None:
        self._work: Background[_Step] = Background(_Step.run, what=what, size=sys.maxsize)

    def submit(self, step: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Queue a step; its future is cancelled if :meth:`cancel` was called."""
        made: Future[R] = Future()
        if not self._work.put(_Step(partial(step, *args, **kwargs), made)):
            made.cancel()
        return made

    def cancel(self) -> None:
        """Cancel the steps that wait; does not wait for the one in work."""
        for left in self._work.cancel():
            left.made.cancel()


class _Step:
    def __init__(self, do: Callable[[], Any], made: Future[Any]) -> None:
        self._do, self.made = do, made

    def run(self) -> None:
        if not self.made.set_running_or_notify_cancel():
            return
        try:
            found = self._do()
        except BaseException as error:
            self.made.set_exception(error)
        else:
            self.made.set_result(found)
