"""Tells functions whose calls have to be awaited."""

from __future__ import annotations

from inspect import iscoroutinefunction

__all__ = ["is_async"]


def is_async(function: object) -> bool:
    """Whether it is an async function, or an object with an async ``__call__``."""
    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  (its call, not whether it has one)
    )
