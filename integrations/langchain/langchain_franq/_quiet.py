"""Hides model calls from streams: the guard's own, and those whose text is not checked yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import iscoroutinefunction
from typing import Any, NoReturn
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.messages import ToolMessage
from langchain_core.outputs import LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from franq_guard.capture.own_calls import own_calls
from franq_guard.capture.walking import is_named
from langchain_franq._events import text_in
from langchain_franq._state import with_updates
from langchain_franq._texts import Path, is_prose, mapped

_GRAPH_STREAM = "__pregel_stream"  # LangGraph's keys for where a subgraph streams to,
_GRAPH_TASK = "__pregel_call"  # and for what runs an @task
_SOURCES = (
    "on_retriever_start",
    "on_retriever_end",
    "on_retriever_error",
    "on_tool_error",
)

_Telling = Callable[[BaseCallbackHandler], "_SourcesOnly | None"]
"""Makes of a handler that streams one that may go on, or none."""


@contextmanager
def unobserved() -> Iterator[None]:
    """Context in which LangChain models that the guard calls (to split claims) have no parent run.

    Otherwise an outer guard would treat their text as the chain's answer, and a stream would show
    it to the user.
    """
    with own_calls(), _running_under(None):
        yield


def out_of_sight(config: RunnableConfig) -> RunnableConfig:
    """``config`` for what runs inside a guard, so that no outer stream shows any of it.

    LangGraph's streams of messages and tools, ``astream_events`` and ``astream_log`` listen by
    callback handlers that every run inherits; subgraphs stream by an entry of ``configurable``.
    These are removed, whatever model runs inside. Retriever and tool events still reach
    ``astream_events`` (without the text of a tool in which a model ran); all other handlers
    (tracers) see everything. A tag would not be enough: it hides neither a subgraph nor a run with
    its node's name, and it also disables streams that are read inside the guard.
    """
    return _hidden(config, _sources_for, {_GRAPH_STREAM: _Nowhere(), _GRAPH_TASK: _refused})


def words_out_of_sight(config: RunnableConfig) -> RunnableConfig:
    """:func:`out_of_sight` for a user's own tool, whose calls and custom events stay visible.

    They are shown by ``astream_events`` and by LangGraph's stream of tools. The tool may also run
    LangGraph tasks.
    """
    return _hidden(config, _own_events_for, {_GRAPH_STREAM: _Nowhere()})


def _hidden(
    config: RunnableConfig, telling: _Telling, configured: Mapping[str, Any]
) -> RunnableConfig:
    hidden: RunnableConfig = {**config}
    if config.get("callbacks") is not None:
        hidden["callbacks"] = _without_streams(config["callbacks"], telling)
    if given := config.get("configurable"):
        # Replaced and not removed: LangGraph fills in missing values from the outer run.
        here = {key: value for key, value in configured.items() if key in given}
        hidden["configurable"] = {**given, **here}
    return hidden


def observed_by(callback: BaseCallbackHandler, config: RunnableConfig) -> RunnableConfig:
    """``config`` with one more handler.

    ``merge_configs`` is not used because it would add the handlers of the outer run, including its
    streams.
    """
    known = config.get("callbacks")
    if isinstance(known, BaseCallbackManager):
        known = known.copy()
        known.add_handler(callback, inherit=True)
        return {**config, "callbacks": known}
    return {**config, "callbacks": [*(known or ()), callback]}


@contextmanager
def running_out_of_sight(
    callback: BaseCallbackHandler | None = None,
    hide: Callable[[RunnableConfig], RunnableConfig] = out_of_sight,
) -> Iterator[None]:
    """Context whose configuration hides runs, as ``hide`` does; ``callback`` sees them.

    A LangGraph graph reads the context's configuration even if it is given one as an argument.
    """
    around = var_child_runnable_config.get()
    if around is None and callback is None:
        yield
        return
    config = hide(around or {})
    if callback is not None:
        config = observed_by(callback, config)
    with _running_under(config):
        yield


def stay_out_of_sight() -> None:
    """Hide the runs of a stream in its own context, which ends with it: nothing has to be reset.

    A chain ``with_config`` would otherwise join the outer run's handlers to those it is given.
    """
    if (around := var_child_runnable_config.get()) is not None:
        var_child_runnable_config.set(out_of_sight(around))


@contextmanager
def _running_under(config: RunnableConfig | None) -> Iterator[None]:
    token = var_child_runnable_config.set(config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _without_streams(callbacks: Any, telling: _Telling) -> Any:
    made: dict[int, _SourcesOnly] = {}  # one for both lists: it knows runs and those inside

    def quiet(handlers: Sequence[BaseCallbackHandler]) -> list[BaseCallbackHandler]:
        kept = []
        for handler in handlers:
            if not _streams(handler):
                kept.append(handler)
            elif (quieter := made.get(id(handler)) or telling(handler)) is not None:
                kept.append(made.setdefault(id(handler), quieter))
        return kept

    if isinstance(callbacks, BaseCallbackManager):
        fewer = callbacks.copy()
        fewer.handlers = quiet(callbacks.handlers)
        fewer.inheritable_handlers = quiet(callbacks.inheritable_handlers)
        return fewer
    return quiet(callbacks)


def _streams(handler: BaseCallbackHandler) -> bool:
    return hasattr(handler, "tap_output_iter") or type(handler).__module__.startswith("langgraph.")


def _tells_events(handler: BaseCallbackHandler) -> bool:
    return is_named(handler, "_AstreamEventsCallbackHandler")


def _sources_for(handler: BaseCallbackHandler) -> _SourcesOnly | None:
    return _SourcesOnly(handler) if _tells_events(handler) else None


def _own_events_for(handler: BaseCallbackHandler) -> _SourcesOnly | None:
    listens = _tells_events(handler) or type(handler).__name__ == "StreamToolCallHandler"
    return _SourcesOnly(handler, custom=True) if listens else None


class _SourcesOnly(BaseCallbackHandler):
    """Passes the events of retrievers and tools to a handler, but no text of a model or chain.

    If a model ran inside a tool, the tool's result is not passed on either, because it may be that
    model's text; nor are the words of other models in a result, as of an agent that hands over.
    ``custom``: pass on custom events, which functions send themselves.
    """

    # Under asyncio LangChain (1.7) tells only such handlers that a plain LLM starts, if there is
    # one: the guard's own is.
    run_inline = True

    def __init__(self, handler: BaseCallbackHandler, *, custom: bool = False) -> None:
        self._handler: Any = handler
        self._custom = custom
        self._parents: dict[UUID, UUID | None] = {}
        self._written: set[UUID] = set()
        self._said: set[str] = set()
        for event in (*_SOURCES, "on_custom_event"):
            setattr(self, event, getattr(handler, event))
        # Async if the handler's own method is, because that may use a context variable.
        if iscoroutinefunction(handler.on_tool_end):
            setattr(self, "on_tool_start", self._atool_start)  # noqa: B010
            setattr(self, "on_tool_end", self._atool_end)  # noqa: B010

    def __eq__(self, other: object) -> bool:
        """Equal for the same handler.

        LangChain joins the handlers of the context and of the call; equal ones are added once.
        """
        return isinstance(other, _SourcesOnly) and other._handler is self._handler

    def __hash__(self) -> int:
        return hash(id(self._handler))

    ignore_custom_event = property(lambda self: not self._custom)

    def on_chain_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Keep the run tree."""
        self._parents[run_id] = parent_run_id

    def on_llm_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note that a model runs inside all parent runs."""
        above = parent_run_id
        while above is not None:
            self._written.add(above)
            above = self._parents.get(above)

    on_chat_model_start = on_llm_start

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Keep what a model wrote."""
        self._said |= {text for text in [text_in(response)] if is_prose(text)}

    def on_tool_start(
        self, *args: Any, run_id: UUID, parent_run_id: UUID | None = None, **about: Any
    ) -> None:
        """Pass on that a tool was called."""
        self._parents[run_id] = parent_run_id
        self._handler.on_tool_start(*args, run_id=run_id, parent_run_id=parent_run_id, **about)

    def on_tool_end(self, output: Any, *, run_id: UUID, **about: Any) -> None:
        """Pass on what a tool returned, without its text if a model ran inside."""
        self._handler.on_tool_end(self._shown(output, run_id), run_id=run_id, **about)

    async def _atool_start(
        self, *args: Any, run_id: UUID, parent_run_id: UUID | None = None, **about: Any
    ) -> None:
        self._parents[run_id] = parent_run_id
        about |= {"run_id": run_id, "parent_run_id": parent_run_id}
        await self._handler.on_tool_start(*args, **about)

    async def _atool_end(self, output: Any, *, run_id: UUID, **about: Any) -> None:
        await self._handler.on_tool_end(self._shown(output, run_id), run_id=run_id, **about)

    def _shown(self, output: Any, run_id: UUID) -> Any:
        if run_id in self._written:
            return _wordless(output)

        def hide(_: Path, text: str) -> str:
            return "" if text in self._said else text

        return mapped(with_updates(output, hide), hide)


def _wordless(output: Any) -> Any:
    """What a tool returned, without its text."""
    if not isinstance(output, ToolMessage):
        return ""
    return output.model_copy(update={"content": "", "artifact": None})


class _Nowhere:
    """A LangGraph stream that drops everything, in every mode."""

    modes: frozenset[str] = frozenset()

    def __call__(self, chunk: Any) -> None:
        """Drop the chunk."""


def _refused(*_: Any, **__: Any) -> NoReturn:
    raise TypeError(
        "a @task inside a guarded node streams its result unchecked: call a plain function there, "
        "or guard the chain inside the task with guard_chain"
    )
