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
        kept: most values to keep.
        seconds: how long a value is kept after it was put.
        size: largest total size, in the unit that callers of :meth:`put` use; None: no limit.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        kept: int,
        seconds: float,
        *,
        size: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kept, self._seconds, self._most, self._clock = kept, seconds, size, clock
        self._values: OrderedDict[str, tuple[float, int, T]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._values)

    @property
    def size(self) -> int:
        """Total size of all values."""
        return self._size

    def put(self, key: str, value: T, *, size: int = 0) -> None:
        """Store ``value`` and drop the oldest ones if needed; skip it if it alone is too large."""
        self._drop(key)
        if self._most is not None and size > self._most:
            return
        self._values[key] = (self._clock() + self._seconds, size, value)
        self._size += size
        while self._over() or self._oldest_is_past():
            self._drop(next(iter(self._values)))

    def get(self, key: str) -> T | None:
        """The value; None if there is none or it has expired."""
        found = self._values.get(key)
        if found is None or found[0] <= self._clock():
            self._drop(key)
            return None
        return found[2]

    def _over(self) -> bool:
        return len(self._values) > self._kept or (
            self._most is not None and self._size > self._most
        )

    def _oldest_is_past(self) -> bool:
        until = next(iter(self._values.values()))[0] if self._values else None
        return until is not None and until <= self._clock()

    def _drop(self, key: str) -> None:
        if (found := self._values.pop(key, None)) is not None:
            self._size -= found[1]
