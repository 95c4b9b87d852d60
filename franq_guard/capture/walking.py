"""Finds the parts of an application's chain, engine or agent; recognises parts by class name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


def parts_in(whole: Any, inside: Callable[[Any], Iterable[Any] | None]) -> Iterator[Any]:
    """The parts of ``whole``, including itself, each once.

    Args:
        whole: a part, or mappings, lists and tuples of parts, nested to any depth.
        inside: returns what a part contains; None for an object that is not a part and is skipped.
    """
    return _walk(whole, inside, {})


def is_named(part: Any, *names: str) -> bool:
    """Whether the class of ``part`` or a base has one of the names; no package is imported."""
    return any(kind.__name__ in names for kind in type(part).__mro__)


def _walk(
    part: Any, inside: Callable[[Any], Iterable[Any] | None], seen: dict[int, Any]
) -> Iterator[Any]:
    if id(part) in seen:
        return
    seen[id(part)] = part  # kept, because the id of a freed object is given to another one
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
