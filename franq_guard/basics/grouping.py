"""Process the items of a batch in groups."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_groups(
    items: Sequence[T], key: Callable[[T], Hashable], work: Callable[[Sequence[T]], Sequence[R]]
) -> list[R]:
    """Call ``work`` once for all items of equal key; the results are in the order of ``items``."""
    places: dict[Hashable, list[int]] = {}
    for i, item in enumerate(items):
        places.setdefault(key(item), []).append(i)
    found: dict[int, R] = {}
    for of_key in places.values():
        found |= zip(of_key, work([items[i] for i in of_key]), strict=True)
    return [found[i] for i in range(len(items))]
