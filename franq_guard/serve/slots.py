"""Limits how much work of one kind goes on at once: 503 at once, where a semaphore would wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from franq_guard.serve.errors import Busy, QueueFull


class Slots:
    """The slots for one kind of work; for one event loop.

    Args:
        count: how many there are.
        error: makes the error for work that finds too few free.
    """

    def __init__(self, count: int, error: Callable[[], Busy] = QueueFull) -> None:
        self._free, self._error = count, error

    @contextmanager
    def take(self, count: int = 1) -> Iterator[None]:
        """Take ``count`` slots until the block ends.

        Raises:
            Busy: 503, if fewer are free.
        """
        if self._free < count:
            raise self._error()
        self._free -= count
        try:
            yield
        finally:
            self._free += count
