"""A cache of what was used last, for whoever computes many values in one call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The values of the keys that were used last. Thread-safe.

    ``functools.lru_cache`` computes one value at a time; a model needs all that are missing at
    once, to read them in batches.

    Args:
        room: how many values are kept; 0: none.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    def known(self, keys: Iterable[K]) -> dict[K, V]:
        """The values of those of the keys that are kept."""
        found = {}
        with self._lock:
            for key in keys:
                if key in self._values:
                    self._values.move_to_end(key)
                    found[key] = self._values[key]
        return found

    def keep(self, values: Mapping[K, V]) -> None:
        """Keep these values, too, in place of those that were not used for longest."""
        with self._lock:
            self._values.update(values)
            while len(self._values) > self._room:
                self._values.popitem(last=False)

    def forget(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._values.clear()
