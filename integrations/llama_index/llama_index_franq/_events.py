"""Passes LlamaIndex's events to the captures of the context they occur in.

LlamaIndex has one dispatcher for the whole process. One handler is added to it, once; it passes
each event to the captures of the current context, so runs never mix and nothing has to be cleaned
up. It only records: an event can neither change an answer nor hold it back.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import (
    LLMChatEndEvent,
    LLMChatInProgressEvent,
    LLMCompletionEndEvent,
    LLMCompletionInProgressEvent,
    LLMPredictStartEvent,
    LLMStructuredPredictStartEvent,
)
from llama_index.core.instrumentation.events.query import QueryEndEvent
from llama_index.core.instrumentation.events.retrieval import (
    RetrievalEndEvent,
    RetrievalStartEvent,
)
from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import NodeWithScore

from franq_guard.basics.failures import log_failure
from franq_guard.capture.own_calls import own_calls
from llama_index_franq._capture import Capture

_log = logging.getLogger(__name__)
_captures: ContextVar[tuple[Capture, ...]] = ContextVar("llama_index_franq", default=())
_installing = threading.Lock()


@contextmanager
def observed(*captures: Capture) -> Iterator[None]:
    """Context in which events reach ``captures``, also from tasks and threads that copy it."""
    _install()
    token = _captures.set((*_captures.get(), *captures))
    try:
        yield
    finally:
        _captures.reset(token)


@contextmanager
def unobserved() -> Iterator[None]:
    """Context in which the guard's own calls of LlamaIndex models are not recorded."""
    token = _captures.set(())
    try:
        with own_calls():
            yield
    finally:
        _captures.reset(token)


def announce(text: str, found: Sequence[NodeWithScore] = ()) -> None:
    """Report to the outer calls that a guard inside them has checked ``text``.

    ``found``: what it was checked against, if no retriever reports that (tools of an agent).
    """
    for capture in _captures.get():
        capture.on_released(text)
        capture.on_nodes(found)


def hear_langchain() -> None:
    """Also listen to LangChain, if the application uses it: its parts may run inside an engine."""
    if "langchain_core" not in sys.modules:
        return
    try:
        from llama_index_franq._langchain import install

        install()
    except (ImportError, AttributeError) as error:  # of another version, or still being imported
        log_failure(_log, "what LangChain does inside an engine is not captured", error)


def _install() -> None:
    hear_langchain()
    with _installing:
        if not any(isinstance(handler, _Router) for handler in get_dispatcher().event_handlers):
            get_dispatcher().add_event_handler(_Router())


class _Router(BaseEventHandler):
    """Passes events to the captures of the context they occur in."""

    hears_langchain: ClassVar[bool] = True

    @classmethod
    def class_name(cls) -> str:
        return "FranqRouter"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        for capture in _captures.get():
            try:
                tell(capture, event)
            except Exception as error:  # the dispatcher would hide it
                log_failure(_log, "an event was not captured", error)


def tell(capture: Capture, event: BaseEvent) -> None:
    """Record an event in ``capture``."""
    if isinstance(event, RetrievalEndEvent):
        capture.on_nodes(event.nodes, event.span_id)
    elif isinstance(event, RetrievalStartEvent):
        capture.on_retrieving(event.span_id)
    elif isinstance(event, (QueryEndEvent, SynthesizeEndEvent)):
        capture.on_answer(event.response)
    elif isinstance(event, (LLMPredictStartEvent, LLMStructuredPredictStartEvent)):
        capture.on_template(_variables(event.template, event.template_args or {}))
    elif isinstance(event, LLMCompletionInProgressEvent):
        capture.on_chunk(event.prompt, event.response)
    elif isinstance(event, LLMChatInProgressEvent):
        capture.on_chunk(event.messages, event.response)
    elif isinstance(event, LLMCompletionEndEvent):
        capture.on_end(event.prompt, event.response)
    elif isinstance(event, LLMChatEndEvent) and event.response is not None:
        capture.on_end(event.messages, event.response)


def _variables(template: BasePromptTemplate, args: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the variables in ``template``; an engine may pass others besides."""
    inner: Any = getattr(template, "default_template", template)
    renamed = inner.template_var_mappings or {}
    given = {**template.kwargs, **args}
    return {k: v for k, v in given.items() if renamed.get(k, k) in inner.template_vars}
