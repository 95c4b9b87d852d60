"""A bounded queue with one thread: work that must not hold up whoever asks for it."""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Callable
from queue import Empty, Full, Queue
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Background(Generic[T]):
    """Hands items to a function, one after the other, in a thread of its own.

    It is one thing wherever it is copied to: a deep copy of a chain that reports to it goes on
    reporting to it.

    Attributes:
        dropped: how many items were not handled because too many waited, or after :meth:`close`.
        failed: how many made the function fail; each is logged.

    Args:
        handle: what is done with an item.
        what: the items, as logs call them ("feedback").
        size: how many may wait.
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
        """Have it handled; neither waits nor raises. False where it is dropped."""
        with self._lock:
            try:
                if self._closed:
                    raise Full
                self._waiting.put_nowait((item,))
            except Full:
                self._drop()
                return False
            if self._worker is None or not self._worker.is_alive():  # also after a fork
                self._start()
            return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all is handled; False where ``timeout`` seconds are over before that."""
        queue = self._waiting
        with queue.all_tasks_done:
            return queue.all_tasks_done.wait_for(lambda: not queue.unfinished_tasks, timeout)

    def close(self, timeout: float | None = 2.0) -> bool:
        """Take nothing more, and :meth:`flush`; done at the end of the process, too."""
        began = time.monotonic()
        with self._lock:
            self._closed = True
        done = self.flush(timeout)
        if not done:
            self._forget()
        if self._worker is not None and self._worker.is_alive():
            self._waiting.put(None)
            if done:
                left = None if timeout is None else max(0.0, timeout - time.monotonic() + began)
                self._worker.join(left)
        atexit.unregister(self.close)
        return done

    def __deepcopy__(self, memo: dict[int, Any]) -> Background[T]:
        return self

    def _start(self) -> None:
        if self._worker is None:
            atexit.register(self.close)
        self._worker = Thread(target=self._work, name=f"franq-{self._what}", daemon=True)
        self._worker.start()

    def _drop(self) -> None:
        self.dropped += 1
        if self.dropped == 1:
            _log.warning("%s is dropped: too much of it waits, or it was closed", self._what)

    def _forget(self) -> None:
        """Drop what still waits."""
        while True:
            try:
                self._waiting.get_nowait()
            except Empty:
                return
            self._drop()
            self._waiting.task_done()

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            try:
                self._handle(*item)
            except Exception as error:  # one item costs no other
                self.failed += 1
                _log.warning("%s failed: %s: %s", self._what, type(error).__name__, error)
            finally:
                del item  # nothing is kept while the next one is waited for
                self._waiting.task_done()
        self._waiting.task_done()
