"""Tells the guard's own calls of models, to split claims, from those of the application.

An outer guard must not take their texts for what the application's models wrote, also where they
are models of another framework.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_checking: ContextVar[bool] = ContextVar("franq_checking", default=False)


@contextmanager
def own_calls() -> Iterator[None]:
    """Context in which models are called by a guard."""
    token = _checking.set(True)
    try:
        yield
    finally:
        _checking.reset(token)


def is_own_call() -> bool:
    """Whether a guard calls a model in this context."""
    return _checking.get()
