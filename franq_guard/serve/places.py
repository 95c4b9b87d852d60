"""Limits how much work of one kind goes on at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from franq_guard.serve.errors import Busy, QueueFull


class Places:
    """The places for one kind of work; for one event loop.

    Args:
        most: how many there are.
        full: makes the error for work that finds none free.
    """

    def __init__(self, most: int, full: Callable[[], Busy] = QueueFull) -> None:
        self._free, self._full = most, full

    @contextmanager
    def take(self, count: int = 1) -> Iterator[None]:
        """Take ``count`` places until the block ends.

        Raises:
            Busy: 503, if fewer are free.
        """
        if self._free < count:
            raise self._full()
        self._free -= count
        try:
            yield
        finally:
            self._free += count
