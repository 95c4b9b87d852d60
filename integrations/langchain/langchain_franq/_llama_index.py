"""Reports what LlamaIndex parts retrieve and write inside a LangChain run to the guard's handlers.

A query engine may be a tool of a LangChain agent, or a step of a chain. LangChain's callbacks are
not told of what happens in it: its text, which a model wrote, would count as what the tool found.
This module is imported only in a process that uses LlamaIndex.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, Generation, LLMResult
from langchain_core.runnables.config import var_child_runnable_config
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMCompletionEndEvent
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent
from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent

from franq_guard.basics.failures import log_failure
from franq_guard.capture.evidence import passages_of
from franq_guard.capture.own_calls import is_own_call
from franq_guard.capture.watching import Watching
from langchain_franq._documents import document_of
from langchain_franq._events import Events, captures

_log = logging.getLogger(__name__)
_installing = threading.Lock()


def install() -> None:
    """Listen to LlamaIndex's events from now on; a second call does nothing."""
    with _installing:
        handlers = get_dispatcher().event_handlers
        if not any(isinstance(handler, _ToLangChain) for handler in handlers):
            get_dispatcher().add_event_handler(_ToLangChain())


class _ToLangChain(BaseEventHandler):
    """Passes events to the guard's handlers of the LangChain run in which they occur."""

    @classmethod
    def class_name(cls) -> str:
        return "FranqToLangChain"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        for handler, parent in _handlers_here():
            try:
                _tell(handler, event, {"run_id": uuid4(), "parent_run_id": parent})
            except Exception as error:  # the dispatcher would hide it
                log_failure(_log, "an event of LlamaIndex was not captured", error)


def _handlers_here() -> Iterator[tuple[Any, UUID | None]]:
    """The guard's handlers of the current LangChain run, each with the id of that run.

    In a function under ``capture`` there need not be a run.
    """
    if is_own_call():
        return
    callbacks = (var_child_runnable_config.get() or {}).get("callbacks")
    if isinstance(callbacks, BaseCallbackManager) and callbacks.parent_run_id is not None:
        for handler in callbacks.handlers:
            if isinstance(handler, (Events, Watching)):
                yield handler, callbacks.parent_run_id
        return
    for level in captures:
        if (events := level.get()) is not None:
            yield events, None


def _tell(handler: Any, event: BaseEvent, ids: dict[str, UUID | None]) -> None:
    """Report an event as LangChain would have reported a retriever, a model or a step."""
    ended = {"run_id": ids["run_id"]}
    if isinstance(event, RetrievalEndEvent):
        asked = event.str_or_query_bundle
        query = asked if isinstance(asked, str) else asked.query_str
        handler.on_retriever_start({}, query, **ids)
        handler.on_retriever_end(_documents(event.nodes), **ended)
    elif isinstance(event, SynthesizeEndEvent):  # a postprocessor may have replaced the nodes
        handler.on_chain_start({}, {}, **ids)
        handler.on_chain_end(_documents(event.response.source_nodes), **ended)
    elif isinstance(event, LLMCompletionEndEvent):
        handler.on_llm_start({}, [event.prompt], **ids)
        result = LLMResult(generations=[[Generation(text=event.response.text)]])
        handler.on_llm_end(result, **ended)
    elif isinstance(event, LLMChatEndEvent) and event.response is not None:
        handler.on_chat_model_start({}, [[*map(_message, event.messages)]], **ids)
        generation = ChatGeneration(message=AIMessage(event.response.message.content or ""))
        handler.on_llm_end(LLMResult(generations=[[generation]]), **ended)


def _documents(nodes: Sequence[Any]) -> list[Document]:
    return [document_of(passage) for passage in passages_of(list(nodes))]


def _message(message: ChatMessage) -> BaseMessage:
    text, role = message.content or "", message.role.value
    if role in ("system", "developer"):
        return SystemMessage(text)
    if role in ("tool", "function"):
        return ToolMessage(text, tool_call_id="")
    return AIMessage(text) if role in ("assistant", "model") else HumanMessage(text)
