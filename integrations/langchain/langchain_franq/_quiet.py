"""Keeps model calls out of sight: the guard's own, and those whose text is not checked yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langchain_core.runnables.config import var_child_runnable_config

NO_STREAM = "nostream"  # LangGraph's own tag: tokens of such calls do not enter the stream


@contextmanager
def unobserved() -> Iterator[None]:
    """Within, LangChain models that the guard calls (to split claims, say) have no parent run.

    Otherwise an outer guard would take their text for the chain's answer, and a stream would show
    it to the user.
    """
    token = var_child_runnable_config.set(None)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)
