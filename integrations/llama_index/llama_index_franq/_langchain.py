"""Reports what LangChain parts retrieve and write inside a LlamaIndex run to the guard's handlers.

A LangChain chain may be a query engine, or the tool of a LlamaIndex agent. LlamaIndex's events do
not tell of what happens in it: its text, which a model wrote, would count as what the tool found.
This module is imported only in a process that uses LangChain.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langchain_core.tracers.context import register_configure_hook
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMCompletionEndEvent
from llama_index.core.instrumentation.events.retrieval import (
    RetrievalEndEvent,
    RetrievalStartEvent,
)
from llama_index.core.schema import NodeWithScore, TextNode

from franq_guard.capture.evidence import passages_of
from franq_guard.capture.own_calls import is_own_call

_ROLES = {"system": "system", "ai": "assistant", "tool": "tool"}
_installing = threading.Lock()
_installed: list[ContextVar[Any]] = []


def install() -> None:
    """Listen to LangChain's callbacks from now on; a second call does nothing."""
    with _installing:
        if not _installed:
            # One for all runs: which run an event belongs to is a matter of LlamaIndex's context.
            handler = ContextVar("franq_to_llama_index", default=_ToLlamaIndex())  # noqa: B039
            _installed.append(handler)
            register_configure_hook(_installed[0], inheritable=True)


class _ToLlamaIndex(BaseCallbackHandler):
    """Passes events to the guard's handlers of the LlamaIndex run in which they occur.

    Not to the application's own handlers, which LlamaIndex's dispatcher would tell.
    """

    run_inline = True  # in the context of the run

    def __init__(self) -> None:
        self._asked: dict[UUID, str | list[ChatMessage]] = {}  # by the runs of models

    def on_retriever_start(self, serialized: Any, query: str, **_: Any) -> None:
        """A search begins; what models write until its end, they write inside it."""
        _tell(RetrievalStartEvent(str_or_query_bundle=query))

    def on_retriever_end(self, documents: Sequence[Document], **_: Any) -> None:
        """The documents are nodes."""
        _tell(RetrievalEndEvent(str_or_query_bundle="", nodes=_nodes(documents)))

    def on_llm_start(self, serialized: Any, prompts: list[str], *, run_id: UUID, **_: Any) -> None:
        """Keep the prompt until the model has written."""
        self._asked[run_id] = prompts[0]

    def on_chat_model_start(
        self, serialized: Any, messages: list[list[BaseMessage]], *, run_id: UUID, **_: Any
    ) -> None:
        """Keep the messages until the model has written."""
        self._asked[run_id] = [_message(message) for message in messages[0]]

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Report what the model was given and what it wrote."""
        asked = self._asked.pop(run_id, None)
        text = response.generations[0][0].text if response.generations[0] else ""
        if isinstance(asked, str):
            _tell(LLMCompletionEndEvent(prompt=asked, response=CompletionResponse(text=text)))
        elif asked is not None:
            written = ChatResponse(message=ChatMessage(role="assistant", content=text))
            _tell(LLMChatEndEvent(messages=asked, response=written))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """A model that failed has written nothing."""
        self._asked.pop(run_id, None)


def _tell(event: BaseEvent) -> None:
    if is_own_call():
        return
    for handler in get_dispatcher().event_handlers:
        if getattr(handler, "hears_langchain", False):  # one of this package's
            handler.handle(event)


def _nodes(documents: Sequence[Document]) -> list[NodeWithScore]:
    passages = [(passage, document) for document in documents for passage in passages_of(document)]
    return [
        NodeWithScore(
            node=TextNode(
                text=passage.text,
                id_=passage.id or str(document.id or passage.text),
                metadata={**passage.metadata, "title": passage.title},
            )
        )
        for passage, document in passages
    ]


def _message(message: BaseMessage) -> ChatMessage:
    return ChatMessage(role=_ROLES.get(message.type, "user"), content=str(message.text))
