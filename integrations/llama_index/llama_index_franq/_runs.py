"""Finds which open run each span belongs to, and the answer of a run that has ended."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import BoundArguments
from typing import TYPE_CHECKING, Any
from weakref import finalize, ref

from llama_index.core.agent.workflow import ToolCall
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import MessageRole
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.workflow import Workflow

from franq_guard.basics.failures import OwnMessage, log_failure
from franq_guard.capture.evidence import EvidenceFrom
from franq_guard.capture.job import Job
from franq_guard.capture.watching import Watcher
from franq_guard.streaming.release import Release
from llama_index_franq._answer import Answer, answer_in, result_in
from llama_index_franq._call import Call, Watch
from llama_index_franq._capture import Capture
from llama_index_franq._models import Models
from llama_index_franq._streams import asteps, steps
from llama_index_franq._tools import call_key
from llama_index_franq._watched_tools import WatchedTools
from llama_index_franq._written import written_in

if TYPE_CHECKING:
    from franq_guard import Guard

_log = logging.getLogger(__name__)
_ANSWERING = (
    (BaseQueryEngine, ("query", "aquery", "synthesize", "asynthesize")),
    (BaseChatEngine, ("chat", "achat", "stream_chat", "astream_chat")),
    (Workflow, ("run",)),
)
_RESPONSES = (Response, PydanticResponse, StreamingResponse, AsyncStreamingResponse)
_STREAMS = (StreamingResponse, AsyncStreamingResponse, StreamingAgentChatResponse)
_WRITES = ("write_response_to_history", "awrite_response_to_history")
_ASKED = ("str_or_query_bundle", "query_bundle", "message", "user_msg", "query", "question")
_MOST = 100_000  # open spans; older ones are of runs that never ended


@dataclass(eq=False)
class Answering:
    """An open call of an engine, chat engine, workflow or tool; the innermost one for its spans.

    Attributes:
        span: the span that opened it.
        inside: answers of engines inside that have ended, used if it has no answer of its own.
        spans: all spans that belong to it; events of a stream refer to spans that have ended.
        tools: what ran in each of its tool calls, by its key.
    """

    span: str
    question: str
    instance: Any
    outer: Answering | None
    watched: bool
    models: Models | None
    capture: Capture = field(default_factory=Capture)
    inside: list[tuple[Answering, Answer]] = field(default_factory=list)
    spans: list[str] = field(default_factory=list)
    tools: dict[str, Capture] = field(default_factory=dict)

    @property
    def captures(self) -> list[Capture]:
        """The captures of this call and of the outer ones."""
        return [self.capture, *(self.outer.captures if self.outer else ())] if self.watched else []


class Runs:
    """The open runs of a process; thread-safe.

    Nothing of a run is kept after its end; of runs that never end, a limited number is kept.
    """

    def __init__(self, guard: Guard, watcher: Watcher, evidence: EvidenceFrom | None) -> None:
        self._guard, self._watcher, self._evidence = guard, watcher, evidence
        self._open: OrderedDict[str, Answering] = OrderedDict()
        self._writing: dict[int, Answering] = {}
        self._heard: dict[str, list[str]] = {}
        self._written_early: dict[int, tuple[ref[Any], str]] = {}
        self._models: dict[int, Models] = {}
        self._tools = WatchedTools()
        self._lock = threading.RLock()  # the garbage collector may call _unwritten anywhere

    # Spans ------------------------------------------------------------------------------------

    def enter(self, id_: str, args: BoundArguments, instance: Any, parent: str | None) -> None:
        """A span begins."""
        outer = self._at(parent or "")
        if _method(id_) in _WRITES:
            self._heard[id_] = []
        if _answers(instance, id_) and not (outer and outer.instance is instance):
            self.open(id_, question_in(args.arguments), instance, outer)
        elif outer is not None:
            self._put(id_, self._in_a_tool(id_, args.arguments.get("ev"), outer) or outer)

    def open(self, id_: str, question: str, instance: Any, outer: Answering | None) -> None:
        """A call that answers begins."""
        watched = self._watcher.watches(id_) if outer is None else outer.watched
        models = self._models_in(instance) if watched and instance is not None else None
        self._put(id_, Answering(id_, question, instance, outer, watched, models))

    def _in_a_tool(self, id_: str, event: Any, outer: Answering) -> Answering | None:
        """Begin to capture a tool call by itself, if the span is one."""
        if _method(id_) != "call_tool" or not isinstance(event, ToolCall):
            return None
        call = Answering(id_, outer.question, None, outer, outer.watched, None)
        outer.tools[call_key(event)] = call.capture
        return call

    def open_event(self, id_: str, question: str, parent: str | None) -> None:
        """:meth:`open` for callback events, which do not have the engine."""
        self.open(id_, question, None, self._at(parent or ""))

    def belongs(self, id_: str, parent: str | None) -> None:
        """A span or event is part of the call that is open at ``parent``."""
        outer = self._at(parent or "")
        if outer is not None:
            self._put(id_, outer)

    def exit(self, id_: str, instance: Any, result: Any) -> None:
        """A span ends with a result."""
        call, result = self._at(id_), result_in(result)
        if _method(id_) in _WRITES:
            self._written(instance, "".join(self._heard.pop(id_, ())).strip())
        if call is None or call.span != id_:
            return
        if not call.watched:
            self._forget(call)
        elif isinstance(result, _STREAMS) and getattr(result, "response_txt", None) is None:
            self._stream(call, result)
        else:
            self.end(call, result)

    def drop(self, id_: str) -> None:
        """A span fails or is cancelled, so its call has no answer."""
        self._heard.pop(id_, None)
        call = self._at(id_)
        if call is not None and call.span == id_:
            self._forget(call)

    def hear(self, id_: str | None, delta: str) -> None:
        """A piece of a chat's answer, reported in the span that writes it to the history."""
        pieces = self._heard.get(id_ or "")
        if pieces is not None:
            pieces.append(delta)

    def captures(self, id_: str | None) -> list[Capture]:
        """The captures for an event in a span."""
        call = self._at(id_ or "")
        return [] if call is None else call.captures

    def end(self, call: Answering, result: Any, pieces: list[Any] | None = None) -> None:
        """A call that answers has ended; ``pieces`` are the chunks of its stream."""
        self._forget(call)
        answer = answer_in(result, pieces)
        told = _first_told(call, answer)
        if call.outer is not None:
            call.outer.inside.append(told)
            if answer.text is None:
                call.outer.inside.extend(call.inside)
            return
        found = [told] if answer.text is not None else self._inside(call, result)
        for one, its in found:
            if its.text is not None and not its.guarded:
                self._offer(one, its)

    def _inside(self, call: Answering, result: Any) -> list[tuple[Answering, Answer]]:
        """The answers in a result that is no text: of engines inside, and of a workflow's models.

        If a workflow's result may have a text of a model, but none is found, that is a failure.
        """
        if not isinstance(call.instance, Workflow) or isinstance(result, _RESPONSES):
            return call.inside
        answers = {its.text.strip() for _, its in call.inside if its.text is not None}
        known = answers | {text.strip() for text in call.capture.released}
        written = written_in(result, call.capture.runs, known)
        if written.unread and not answers:
            self._watcher.offer(_unread)
        in_result = [(call, Answer(text, response=result)) for text in written.texts]
        return [*call.inside, *in_result]

    # Streams ----------------------------------------------------------------------------------

    def _stream(self, call: Answering, response: Any) -> None:
        """A stream that is still to be read; that of a chat may be written to the history.

        Only its reader keeps the call then, so that a stream which nobody reads to its end is
        closed as ever, and with it the connection to its model.
        """
        if isinstance(response, StreamingAgentChatResponse) and response.is_writing_to_memory:
            self._will_write(call, response)
            return
        self._forget(call)
        for name in ("response_gen", "achat_stream", "chat_stream"):
            chunks = vars(response).get(name)
            if chunks is not None:
                read = self._aread if isinstance(chunks, AsyncIterable) else self._read
                setattr(response, name, read(call, response, chunks))

    def _read(
        self, call: Answering, response: Any, chunks: Iterable[Any]
    ) -> Generator[Any, None, None]:
        """The unchanged chunks, recorded as they are read."""
        pieces: list[Any] = []
        for piece in steps(chunks, *call.captures):
            pieces.append(piece)
            yield piece
        self._ended(call, response, pieces)

    async def _aread(
        self, call: Answering, response: Any, chunks: AsyncIterable[Any]
    ) -> AsyncGenerator[Any, None]:
        pieces: list[Any] = []
        async for piece in asteps(chunks, *call.captures):
            pieces.append(piece)
            yield piece
        self._ended(call, response, pieces)

    def _ended(self, call: Answering, response: Any, pieces: list[Any]) -> None:
        with suppressed():
            self.end(call, response, pieces)

    def _will_write(self, call: Answering, response: StreamingAgentChatResponse) -> None:
        """A chat's answer that is known once a thread has written it to the history."""
        with self._lock:
            early = self._written_early.pop(id(response), None)
            if early is None:
                self._writing[id(response)] = call
                finalize(response, self._unwritten, id(response))
        if early is not None:
            self.end(call, response, [early[1]])

    def _written(self, response: Any, text: str) -> None:
        with self._lock:
            call = self._writing.pop(id(response), None)
            if call is None:  # the chat itself has not returned yet, or is not watched
                key, early = id(response), self._written_early
                early[key] = ref(response, lambda _: early.pop(key, None)), text
        if call is not None:
            self.end(call, response, [text])

    def _unwritten(self, response: int) -> None:
        """A chat's response is gone; if its writing failed, its call has no answer."""
        call = self._writing.pop(response, None)
        if call is not None:
            self._forget(call)

    # The rest ---------------------------------------------------------------------------------

    def _offer(self, call: Answering, answer: Answer) -> None:
        watch = Watch(
            self._guard,
            call.models or Models(None, self._guard),
            Release(),
            evidence=self._evidence,
        )
        made = Call(watch, call.question, call.capture, response=answer.response)
        text = answer.text or ""

        def gather() -> Job:
            if answer.calls is None:
                return made.job(text, answer.nodes, answer.claims)
            found = self._tools.evidence(made, answer.calls, call.tools, text)
            return made.job(text, found, answer.claims)

        self._watcher.offer(gather)

    def _models_in(self, instance: Any) -> Models:
        """The local models of an engine, searched once; the engine itself is not kept."""
        known = self._models.get(id(instance))
        if known is None:
            known = Models(instance, self._guard, recorded_only=True)
            self._models[id(instance)] = known
            finalize(instance, self._models.pop, id(instance), None)
        return known

    def _at(self, id_: str) -> Answering | None:
        with self._lock:
            return self._open.get(id_)

    def _put(self, id_: str, call: Answering) -> None:
        with self._lock:
            self._open[id_] = call
            call.spans.append(id_)
            if len(self._open) > _MOST:
                self._open.popitem(last=False)

    def _forget(self, call: Answering) -> None:
        with self._lock:
            for id_ in call.spans:
                self._open.pop(id_, None)
            call.spans.clear()


def _first_told(call: Answering, answer: Answer) -> tuple[Answering, Answer]:
    """The answer inside that a call passes on as a bare text; its evidence is known only there."""
    if answer.guarded or answer.calls is not None or (answer.nodes and call.question):
        return call, answer
    same = (one for one in reversed(call.inside) if answer.says(one[1].text))
    return next(same, (call, answer))


class UnreadError(ValueError, OwnMessage):
    """The answer of a run that was not found in what it returned."""


def _unread() -> Job:
    raise UnreadError("no text of a model was found in what a workflow returned")


def question_in(arguments: Mapping[str, Any]) -> str:
    """The question among the arguments of a call; empty if there is none.

    An agent that is given a history alone answers the user's last message in it.
    """
    start = arguments.get("start_event") or {}
    named = {**arguments, **(arguments.get("kwargs") or {})}
    history = start.get("chat_history", None)
    messages = history if isinstance(history, list) else []
    last = [m for m in messages if getattr(m, "role", None) == MessageRole.USER][-1:]
    for value in (*(named.get(name) or start.get(name, None) for name in _ASKED), *last):
        text = getattr(value, "query_str", None) or getattr(value, "content", None) or value
        if isinstance(text, str) and text.strip():
            return text
    return ""


def _answers(instance: Any, id_: str) -> bool:
    method = _method(id_)
    return any(isinstance(instance, kind) and method in names for kind, names in _ANSWERING)


def _method(id_: str) -> str:
    """The method that a span is of."""
    return id_.split("-", 1)[0].rpartition(".")[2]


class suppressed(suppress):
    """Context whose exceptions are logged: watching must not break the application."""

    def __init__(self) -> None:
        super().__init__(Exception)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if isinstance(error, Exception):
            log_failure(_log, "a run was not watched", error)
        return bool(super().__exit__(kind, error, trace))
