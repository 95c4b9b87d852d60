"""A temporary store of values, limited in number, total size and age."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Store(Generic[T]):
    """Keeps the latest values by key; not thread-safe.

    Args:
        count: most values to keep.
        seconds: how long a value is kept after it was put.
        size: largest total size, in the unit that callers of :meth:`put` use; None: no limit.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        count: int,
        seconds: float,
        *,
        size: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_count, self._seconds, self._max_size, self._clock = count, seconds, size, clock
        self._values: OrderedDict[str, tuple[float, int, T]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._values)

    def put(self, key: str, value: T, *, size: int = 0) -> None:
        """Store ``value`` and drop the oldest ones if needed; skip it if it alone is too large."""
        self._drop(key)
        if self._max_size is not None and size > self._max_size:
            return
        self._values[key] = (self._clock() + self._seconds, size, value)
        self._size += size
        while self._is_over_limit() or self._oldest_has_expired():
            self._drop(next(iter(self._values)))

    def get(self, key: str) -> T | None:
        """The value; None if there is none or it has expired."""
        entry = self._values.get(key)
        if entry is None or entry[0] <= self._clock():
            self._drop(key)
            return None
        return entry[2]

    def _is_over_limit(self) -> bool:
        return len(self._values) > self._max_count or (
            self._max_size is not None and self._size > self._max_size
        )

    def _oldest_has_expired(self) -> bool:
        expires = next(iter(self._values.values()))[0] if self._values else None
        return expires is not None and expires <= self._clock()

    def _drop(self, key: str) -> None:
        if (entry := self._values.pop(key, None)) is not None:
            self._size -= entry[1]
