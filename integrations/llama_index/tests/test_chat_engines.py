"""Guarded chat engines: every kind, every way to chat, and a memory of checked answers only."""

from __future__ import annotations

import asyncio
import gc
import warnings

import pytest
from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine
from llama_index.core.llms import ChatMessage

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness
from llama_index_franq import guard_chat_engine, guard_query_engine

from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    marked,
    memory_of,
    node,
    question,
    rag,
    said,
)

WAYS = ("chat", "achat", "stream_chat", "astream_chat")


def context(llm):
    return ContextChatEngine.from_defaults(RunRetriever(), llm=llm, memory=memory_of())


def condense_plus_context(llm):
    return CondensePlusContextChatEngine.from_defaults(RunRetriever(), llm=llm, memory=memory_of())


def condense_question(llm):
    return CondenseQuestionChatEngine.from_defaults(rag(llm), llm=llm, memory=memory_of())


def simple(llm):
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory_of())


ENGINES = [context, condense_plus_context, condense_question]


def turn(engine, way, message, *rest, **options):
    """(response, text) of one turn."""
    if way == "chat":
        response = engine.chat(message, *rest, **options)
        return response, response.response
    if way == "stream_chat":
        response = engine.stream_chat(message, *rest, **options)
        assert response.metadata["franq"] == {}
        return response, "".join(response.response_gen)

    async def run():
        if way == "achat":
            response = await engine.achat(message, *rest, **options)
            return response, response.response
        response = await engine.astream_chat(message, *rest, **options)
        return response, "".join([delta async for delta in response.async_response_gen()])

    return asyncio.run(run())


def remembered(engine):
    return [(message.role.value, message.content) for message in engine.chat_history]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", ENGINES)
@pytest.mark.parametrize("llm", [ScriptedLLM, ScriptedChat])
def test_one_turn(make, way, llm):
    guard = ScriptedGuard()
    inner = make(llm())
    engine = guard_chat_engine(inner, guard)
    response, text = turn(engine, way, question(7))
    assert text == response.response == marked(7)
    assert [n.node.node_id for n in response.source_nodes] == ["7-tall", "7-old"]
    assert response.metadata["franq"]["text"] == marked(7)
    (trace,) = guard.traces
    assert trace.question == question(7)
    assert [p.id for p in trace.passages] == ["7-tall", "7-old"]
    assert question(7) in trace.generation.prompt
    assert "The archive says" not in trace.contrast_prompt
    assert remembered(engine) == [("user", question(7)), ("assistant", marked(7))]
    assert remembered(inner) == remembered(engine)
    assert "[checked" in str([source.content for source in response.sources]) or (
        make is not condense_question or "stream" in way
    )


@pytest.mark.parametrize("way", WAYS)
def test_an_engine_without_retrieval(way):
    guard = ScriptedGuard()
    engine = guard_chat_engine(simple(ScriptedChat()), guard)
    _, text = turn(engine, way, question(3))
    assert text == "The tower of run 3 is tall. It has 3 steps. [checked: ]"
    assert guard.traces[0].passages == ()
    assert remembered(engine)[-1] == ("assistant", text)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [*ENGINES, simple])
def test_the_next_turn_builds_on_the_checked_answer(make, way):
    llm = ScriptedChat()
    engine = guard_chat_engine(make(llm), ScriptedGuard())
    turn(engine, way, question(1))
    before = len(llm.prompts)
    turn(engine, way, "And how old is it, in run 2?")
    asked = llm.prompts[before]
    assert "It has 1 steps. [checked" in asked
    assert asked.count("It has 1 steps.") == asked.count("It has 1 steps. [checked")
    assert len(engine.chat_history) == 4


def test_the_condensed_question_is_the_question():
    llm = ScriptedLLM(script=["It is tall.", question(2), "It is old."])
    guard = ScriptedGuard()
    engine = guard_chat_engine(condense_question(llm), guard)
    engine.chat(question(1))
    engine.chat("And the second one?")
    assert [trace.question for trace in guard.traces] == [question(1), question(2)]
    assert [p.id for p in guard.traces[1].passages] == ["2-tall", "2-old"]
    assert guard.traces[1].generation.text == "It is old."


@pytest.mark.parametrize("way", ["chat", "achat"])
def test_a_guarded_engine_in_a_guarded_chat_marks_a_claim_once(way):
    guard = Guard(faithfulness=FakeFaithfulness())
    llm = ScriptedLLM(script=["Purple unicorns guard it at night."])
    chat = CondenseQuestionChatEngine.from_defaults(
        guard_query_engine(rag(llm), guard), llm=llm, memory=memory_of()
    )
    response, text = turn(guard_chat_engine(chat, guard), way, question(4))
    assert text == "Purple unicorns guard it at night [not in the passages]."
    assert [v["label"] for v in response.metadata["franq"]["verdicts"]] == ["unsupported"]


@pytest.mark.parametrize("way", ["chat", "achat"])
def test_the_raw_answer_is_in_no_source(way):
    engine = guard_chat_engine(condense_question(ScriptedLLM()), ScriptedGuard())
    response, _ = turn(engine, way, question(4))
    (source,) = response.sources
    assert source.content == source.raw_output.response == marked(4)


@pytest.mark.parametrize("way", ["stream_chat", "astream_chat"])
def test_the_raw_stream_is_in_no_source(way):
    engine = guard_chat_engine(condense_question(ScriptedLLM()), ScriptedGuard())
    response, _ = turn(engine, way, question(4))
    (source,) = response.sources
    assert (type(source.raw_output), source.raw_output.response) == (Response, None)


SEARCH = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
CALLS = [
    ChatMessage(
        role="assistant",
        content="I think it is tall.",
        additional_kwargs={"tool_calls": [SEARCH], "reasoning_content": "Tall, surely."},
    ),
    ChatMessage(
        role="assistant",
        blocks=[
            TextBlock(text="I think it is tall."),
            ToolCallBlock(tool_call_id="c1", tool_name="search", tool_kwargs={}),
        ],
    ),
]


class Calling(BaseChatEngine):
    """A chat engine of one's own: it calls a tool, with some words of the model beside the call."""

    def __init__(self, call):
        self._memory = memory_of()
        self._found = node(7, "tall")
        self._answer = AgentChatResponse(said("run 7"), source_nodes=[self._found])
        self._turn = [
            ChatMessage(role="assistant", content="A draft."),
            call,
            ChatMessage(role="tool", content=self._found.node.text),
            ChatMessage(role="assistant", content=self._answer.response),
        ]

    def chat(self, message, chat_history=None):
        self._memory.put(ChatMessage(role="user", content=message))
        self._memory.put_messages(self._turn)
        return self._answer

    async def achat(self, message, chat_history=None):
        await self._memory.aput(ChatMessage(role="user", content=message))
        await self._memory.aput_messages(self._turn)
        return self._answer

    stream_chat = astream_chat = reset = None

    @property
    def chat_history(self):
        return self._memory.get_all()


Calling.__abstractmethods__ = frozenset()


@pytest.mark.parametrize("way", ["chat", "achat"])
@pytest.mark.parametrize("call", CALLS)
def test_tool_calls_of_an_engine_of_ones_own_stay_before_their_results(call, way):
    engine = guard_chat_engine(Calling(call), ScriptedGuard())
    _, text = turn(engine, way, question(7))
    roles, texts = zip(*remembered(engine), strict=True)
    assert roles == ("user", "assistant", "tool", "assistant")
    assert texts == (question(7), "", node(7, "tall").node.text, text)
    called = engine.chat_history[1]
    assert called.additional_kwargs.get("tool_calls") == call.additional_kwargs.get("tool_calls")
    assert "reasoning_content" not in called.additional_kwargs
    assert called.blocks[1:] == call.blocks[1:]


class Nothing(RunRetriever):
    def _retrieve(self, query_bundle):
        return []


@pytest.mark.parametrize("way", WAYS)
def test_what_the_engine_itself_takes_reaches_it(way):
    guard = ScriptedGuard()
    inner = ContextChatEngine.from_defaults(Nothing(), llm=ScriptedChat(), memory=memory_of())
    turn(guard_chat_engine(inner, guard), way, question(7), prev_chunks=[node(7, "wide")])
    assert [p.id for p in guard.traces[0].passages] == ["7-wide"]


@pytest.mark.parametrize("way", WAYS)
def test_a_history_given_with_the_call(way):
    engine = guard_chat_engine(context(ScriptedChat()), ScriptedGuard())
    given = [ChatMessage(role="user", content="Hi"), ChatMessage(role="assistant", content="Hello")]
    turn(engine, way, question(5), given)
    assert remembered(engine)[:2] == [("user", "Hi"), ("assistant", "Hello")]
    assert remembered(engine)[-1] == ("assistant", marked(5))
    engine.reset()
    assert remembered(engine) == []


def test_a_stream_nobody_reads_leaves_no_unchecked_answer():
    inner = context(ScriptedChat())
    engine = guard_chat_engine(inner, ScriptedGuard())
    response = engine.stream_chat(question(1))
    del response
    assert remembered(engine) == [("user", question(1))]

    async def opened():
        await engine.astream_chat(question(2))
        await asyncio.sleep(0.05)

    asyncio.run(opened())
    assert remembered(engine) == [("user", question(1)), ("user", question(2))]


def test_the_default_memory():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        inner = ContextChatEngine.from_defaults(RunRetriever(), llm=ScriptedChat())
        engine = guard_chat_engine(inner, ScriptedGuard())
        for way in ("chat", "stream_chat"):
            turn(engine, way, question(1))
        said_so_far = [message.content for message in engine.chat_history]
        del inner, engine
        gc.collect()
    assert said_so_far == [question(1), marked(1)] * 2


def test_the_engine_itself_stays_as_it_was():
    inner = context(ScriptedChat())
    memory = inner._memory
    guard_chat_engine(inner, ScriptedGuard()).chat(question(1))
    assert inner._memory is memory
    assert inner.chat(question(2)).response == "The tower of run 2 is tall. It has 2 steps."


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="not str"):
        guard_chat_engine("engine", ScriptedGuard())
    with pytest.raises(ValueError, match="buffer"):
        guard_chat_engine(simple(ScriptedChat()), ScriptedGuard(), stream="fast")
    engine = simple(ScriptedChat())
    del engine._memory
    with pytest.raises(TypeError, match="no memory"):
        guard_chat_engine(engine, ScriptedGuard())


def test_exceptions_of_the_engine_reach_the_caller():
    class Broken(ScriptedChat):
        def answer(self, prompt):
            raise LookupError("the model is gone")

    for way in ("chat", "achat"):
        engine = guard_chat_engine(context(Broken()), ScriptedGuard())
        with pytest.raises(LookupError, match="the model is gone"):
            turn(engine, way, question(1))
        assert [role for role, _ in remembered(engine)] in ([], ["user"])
