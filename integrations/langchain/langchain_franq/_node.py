"""Calls the writer of a node as LangGraph calls a node, but hidden from its streams."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from franq_guard.basics.awaited import is_async
from langchain_franq._capture import Capture
from langchain_franq._quiet import observed_by, out_of_sight

_FROM_RUNTIME = {"writer": "stream_writer", "store": "store", "previous": "previous"}


def runnable_of(writer: Any) -> Runnable[Any, Any] | None:
    """The writer as a Runnable that gets what LangGraph injects into a node.

    This depends on the names of its parameters: ``config``, ``runtime``, ``writer`` (the stream
    writer), ``store`` and ``previous``.

    Raises:
        TypeError: for anything but a function or a Runnable.
    """
    if writer is None or isinstance(writer, Runnable):
        return writer
    if not callable(writer):
        raise TypeError(
            "guard_node guards the function or Runnable that writes the answer, not "
            f"{type(writer).__name__}: guard_node(guard, write)"
        )
    names = inspect.signature(writer).parameters
    wanted = [n for n in ("config", "runtime", *_FROM_RUNTIME) if n in list(names)[1:]]
    name = getattr(writer, "__name__", "writer")
    if is_async(writer):
        return RunnableLambda(_async(writer, wanted), name=name)
    return RunnableLambda(_sync(writer, wanted), name=name)


def inside(config: RunnableConfig, capture: Capture) -> RunnableConfig:
    """The configuration for a writer, whose runs are captured and hidden."""
    hidden = observed_by(capture, out_of_sight(config))
    hidden.pop("run_id", None)
    hidden.pop("run_name", None)
    return hidden


def _sync(writer: Callable[..., Any], wanted: list[str]) -> Callable[..., Any]:
    def write(state: Any, config: RunnableConfig) -> Any:
        return writer(state, **_injected(wanted, config))

    return write


def _async(writer: Callable[..., Any], wanted: list[str]) -> Callable[..., Any]:
    async def write(state: Any, config: RunnableConfig) -> Any:
        return await writer(state, **_injected(wanted, config))

    return write


def _injected(wanted: list[str], config: RunnableConfig) -> dict[str, Any]:
    if not wanted:
        return {}
    runtime = _runtime() if set(wanted) - {"config"} else None
    values = {name: getattr(runtime, own, None) for name, own in _FROM_RUNTIME.items()}
    return {name: {**values, "config": config, "runtime": runtime}[name] for name in wanted}


def _runtime() -> Any:
    from langgraph.runtime import get_runtime

    return get_runtime()
