"""guard_chat_engine: a chat engine whose answers and memory are checked claim by claim."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Generator
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine.types import (
    AgentChatResponse,
    BaseChatEngine,
    StreamingAgentChatResponse,
)
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import ToolOutput

from franq_guard.capture.evidence import EvidenceOfTwo
from franq_guard.capture.outlet import REPORT_KEY, StreamMode, check_guard
from franq_guard.records import Label
from franq_guard.streaming.release import OnClaim, OnReport
from llama_index_franq._beside import Beside
from llama_index_franq._call import Call, Checked, Watch, watch_on
from llama_index_franq._engine import GuardedEngine
from llama_index_franq._events import observed
from llama_index_franq._evidence import nodes_found, unwritten
from llama_index_franq._memory import HeldMemory
from llama_index_franq._streams import areleased, asteps, released, steps

if TYPE_CHECKING:
    from franq_guard import Guard

History = list[ChatMessage] | None


def guard_chat_engine(
    engine: BaseChatEngine,
    guard: Guard,
    *,
    stream: StreamMode = "buffer",
    on_report: OnReport | None = None,
    on_claim: OnClaim | None = None,
    raise_on: Collection[Label] = (),
    evidence: EvidenceOfTwo | None = None,
) -> GuardedChatEngine:
    """``engine`` with every answer checked by ``guard`` before it is returned or remembered.

    The memory of the engine has the guarded answers, so the next turn never builds on a claim
    that was removed. The report (schema ``franq.answer/1``) is in ``response.metadata["franq"]``;
    for a stream the mapping is filled when the stream ends. ``engine`` itself is not changed; both
    share one memory.

    Args:
        engine: context, condense-question, condense-plus-context, simple; or one of your own that
            keeps its history in ``_memory``.
        guard: any number of engines and threads may share it.
        stream: ``buffer``: no unchecked text is shown; a stream has the answer in one piece.
            ``claims``: in a stream each sentence is released as soon as its claims are checked,
            while the model goes on writing. ``tail``: advisory only; a stream shows the raw text,
            and its last piece says which claims are weak; the memory has the guarded answer.
        on_report: called with each :class:`~franq_guard.GuardedAnswer`; its exceptions are raised.
        on_claim: called in a stream of claims with each :class:`~franq_guard.streaming.Released`.
        raise_on: labels, such as ``("false",)``; an answer with such a claim is neither returned
            nor remembered, but raises :class:`FactualityError`.
        evidence: where the passages are if no retriever and no source reports them: a key or dotted
            path in the response or its metadata, or a function of the message and the response.
            Default: the nodes of this turn, else passages under a usual name in the metadata or in
            the prompt's template, else the nodes of the last turn that had any.

    Raises:
        TypeError: if ``engine`` is not a chat engine or has no memory that the guard can find, or
            if ``guard`` is not a guard.
        ValueError: for an unknown ``stream`` mode or label, ``on_claim`` in another mode
            than ``claims``, a guard that cannot check claim by claim.
    """
    check_guard("guard_chat_engine", guard)
    if not isinstance(engine, BaseChatEngine):
        raise TypeError(
            f"guard_chat_engine guards a LlamaIndex chat engine, not {type(engine).__name__}"
        )
    if not isinstance(getattr(engine, "_memory", None), BaseMemory):
        raise TypeError(
            f"{type(engine).__name__} has no memory in `_memory`: unchecked answers would stay in "
            "its history. Keep the history in a BaseMemory of that name"
        )
    watch = watch_on(
        engine,
        guard,
        stream=stream,
        on_report=on_report,
        on_claim=on_claim,
        raise_on=raise_on,
        evidence=evidence,
    )
    return GuardedChatEngine(engine, watch)


@dataclass
class GuardedChatStream(StreamingAgentChatResponse):
    """A streamed chat response that also has ``metadata``, which is filled when it ends."""

    metadata: dict[str, Any] = field(default_factory=dict)


class GuardedChatEngine(GuardedEngine[BaseChatEngine], BaseChatEngine):
    """A chat engine and its guard; made by :func:`guard_chat_engine`.

    It can be deep-copied and pickled if the engine can. Event handlers and tracers observe the
    inner engine and do see the raw text.
    """

    _made_by = staticmethod(guard_chat_engine)

    def __init__(self, engine: BaseChatEngine, watch: Watch) -> None:
        super().__init__(engine, watch)
        self._last = _LastTurn()

    def chat(self, message: str, chat_history: History = None, **options: Any) -> AgentChatResponse:
        """Answer, checked; ``options`` are the engine's own (``prev_chunks`` of a context chat)."""
        turn = self._turn(message, chat_history)
        with observed(turn.call.capture):
            response = turn.engine.chat(message, chat_history, **options)
        turn.heard(response)
        checked = turn.call.check(response.response, nodes_of(response))
        turn.memory.settle(checked.text)
        return _answered(turn.call, response, checked)

    async def achat(
        self, message: str, chat_history: History = None, **options: Any
    ) -> AgentChatResponse:
        """:meth:`chat`, with the check in a thread."""
        turn = self._turn(message, chat_history)
        with observed(turn.call.capture):
            response = await turn.engine.achat(message, chat_history, **options)
        turn.heard(response)
        checked = await turn.call.acheck(response.response, nodes_of(response))
        await turn.memory.asettle(checked.text)
        return await asyncio.to_thread(_answered, turn.call, response, checked)

    def stream_chat(
        self, message: str, chat_history: History = None, **options: Any
    ) -> GuardedChatStream:
        """Answer as a stream, which releases text as the ``stream`` option allows."""
        turn = self._turn(message, chat_history)
        with observed(turn.call.capture):
            response = turn.engine.stream_chat(message, chat_history, **options)
        turn.heard(response)
        beside, report = Beside(turn.call, nodes_of(response)), dict[str, Any]()

        def done(checked: Checked) -> None:
            turn.memory.settle(checked.text)
            report.update(beside.report(checked.report))

        def chunks() -> Generator[ChatResponse, None, None]:
            left = steps(response.response_gen, turn.call.capture)
            for text in released(turn.call, left, nodes_of(response), done):
                yield _chunk(text)

        return _streamed(response, beside, report, chat_stream=chunks())

    async def astream_chat(
        self, message: str, chat_history: History = None, **options: Any
    ) -> GuardedChatStream:
        """:meth:`stream_chat`, async."""
        turn = self._turn(message, chat_history)
        with observed(turn.call.capture):
            response = await turn.engine.astream_chat(message, chat_history, **options)
        turn.heard(response)
        beside, report = Beside(turn.call, nodes_of(response)), dict[str, Any]()

        async def done(checked: Checked) -> None:
            await turn.memory.asettle(checked.text)
            report.update(beside.report(checked.report))

        async def chunks() -> AsyncGenerator[ChatResponse, None]:
            left = asteps(response.async_response_gen(), turn.call.capture)
            async for text in areleased(turn.call, left, nodes_of(response), done):
                yield _chunk(text)

        return await asyncio.to_thread(_streamed, response, beside, report, achat_stream=chunks())

    def reset(self) -> None:
        """Forget the conversation."""
        self._engine.reset()
        self._last.nodes = []

    @property
    def chat_history(self) -> list[ChatMessage]:
        """The conversation, with guarded answers."""
        return self._engine.chat_history

    def _turn(self, message: str, history: History) -> _Turn:
        engine: Any = copy(self._engine)
        engine._memory = memory = HeldMemory(engine._memory)
        call = self._watch.call(message)
        if history is not None:  # another conversation, whose earlier turns are unknown
            self._last.nodes = []
        call.earlier = list(self._last.nodes)
        return _Turn(engine, memory, call, self._last)


@dataclass
class _LastTurn:
    """The nodes of a conversation's last turn that had any."""

    nodes: list[NodeWithScore] = field(default_factory=list)


@dataclass
class _Turn:
    """One turn: the engine with a memory that holds answers back, and what is captured."""

    engine: Any
    memory: HeldMemory
    call: Call
    last: _LastTurn

    def heard(self, response: Any) -> None:
        """Keep the evidence in the response, and the stand-alone question that it answers."""
        self.call.response = response
        found = unwritten(nodes_of(response), self.call.capture)
        self.last.nodes = found or nodes_found(self.call.capture) or self.last.nodes
        for source in response.sources:
            if source.tool_name == "query_engine":
                self.call.question = str(source.raw_input.get("query") or self.call.question)


def nodes_of(response: Any) -> list[NodeWithScore]:
    """The nodes of a chat response; they may be only in its sources."""
    found = [
        node
        for source in response.sources
        for node in getattr(source.raw_output, "source_nodes", None) or ()
    ]
    return list(response.source_nodes) or found


def _answered(call: Call, response: AgentChatResponse, checked: Checked) -> AgentChatResponse:
    beside = Beside(call, nodes_of(response), response.response, checked.text)
    sources = [_settled(beside, i, s, checked.text) for i, s in enumerate(response.sources)]
    nodes = beside.nodes(response.source_nodes)
    metadata = beside.metadata(response.metadata)
    return replace(
        response,
        response=checked.text,
        sources=sources,
        source_nodes=nodes,
        metadata={**metadata, REPORT_KEY: beside.report(checked.report)},
    )


def _streamed(
    response: Any, beside: Beside, report: dict[str, Any], **stream: Any
) -> GuardedChatStream:
    return GuardedChatStream(
        sources=[_settled(beside, i, source, None) for i, source in enumerate(response.sources)],
        source_nodes=beside.nodes(nodes_of(response)),
        is_writing_to_memory=False,
        metadata={REPORT_KEY: report},
        **stream,
    )


def _settled(beside: Beside, place: int, source: ToolOutput, text: str | None) -> ToolOutput:
    """A source without unchecked text; ``text`` is the checked text of the answer itself."""
    raw, where = source.raw_output, f"sources[{place}]"
    if source.tool_name != "query_engine" or not hasattr(raw, "source_nodes"):
        settled: ToolOutput = beside.value(source, where)
        return settled
    nodes, metadata = beside.nodes(raw.source_nodes), beside.metadata(raw.metadata)
    return ToolOutput(
        content=text or "",
        tool_name=source.tool_name,
        raw_input=source.raw_input,
        raw_output=Response(text, source_nodes=nodes, metadata=metadata),
    )


def _chunk(text: str) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text), delta=text)
