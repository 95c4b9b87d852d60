"""Walk through the parts of an application's chain, engine or agent; tell parts by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


def parts_in(whole: Any, inside: Callable[[Any], Iterable[Any] | None]) -> Iterator[Any]:
    """The parts of ``whole``, itself included, each once.

    Args:
        whole: a part, or mappings, lists and tuples of them, however deep.
        inside: what a part holds; None for what is no part, which is neither given nor followed.
    """
    return _walk(whole, inside, set())


def is_named(part: Any, *names: str) -> bool:
    """Whether a class of ``part`` has one of the names: its package need not be installed."""
    return any(kind.__name__ in names for kind in type(part).__mro__)


def _walk(
    part: Any, inside: Callable[[Any], Iterable[Any] | None], seen: set[int]
) -> Iterator[Any]:
    if id(part) in seen:
        return
    seen.add(id(part))
    held: Iterable[Any] | None
    if isinstance(part, Mapping):
        held = list(part.values())
    elif isinstance(part, (list, tuple)):
        held = part
    else:
        held = inside(part)
        if held is not None:
            yield part
    for inner in held or ():
        yield from _walk(inner, inside, seen)
