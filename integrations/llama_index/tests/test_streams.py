"""What a stream releases and when: nothing before the check, or remarks after raw text."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.query_engine import CustomQueryEngine

from franq_guard import Policy
from llama_index_franq import FactualityError, guard_agent, guard_chat_engine, guard_query_engine

from .agent_fakes import function_agent, run_of
from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, marked, memory_of, question, rag, said


def pieces_of(engine, way):
    if way == "sync":
        return list(engine.query(question(7)).response_gen)

    async def run():
        response = await engine.aquery(question(7))
        return [piece async for piece in response.async_response_gen()]

    return asyncio.run(run())


@pytest.mark.parametrize("way", ["sync", "async"])
def test_buffer_gives_the_checked_answer_in_one_piece(way):
    engine = guard_query_engine(rag(ScriptedLLM(), streaming=True), ScriptedGuard())
    assert pieces_of(engine, way) == [marked(7)]


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("label", ["supported", "false"])
def test_tail_gives_the_raw_text_and_then_remarks(way, label):
    guard = ScriptedGuard(label=label)
    engine = guard_query_engine(rag(ScriptedLLM(), streaming=True), guard, stream="tail")
    pieces = pieces_of(engine, way)
    raw = said("run 7")
    assert "".join(pieces[:-1]) == raw
    assert len(pieces) > 5
    assert pieces[-1] == ("" if label == "supported" else f"\n[likely false] {raw}")
    assert engine.query(question(7)).metadata["franq"] == {}


def test_tail_says_nothing_of_labels_that_the_policy_lets_pass():
    for weak, remark in ((("false", "unsupported"), "[not in the passages]"), (("false",), "")):
        guard = ScriptedGuard(label="unsupported", policy=Policy(weak=weak))
        engine = guard_query_engine(rag(ScriptedLLM(), streaming=True), guard, stream="tail")
        last = pieces_of(engine, "sync")[-1]
        assert last.strip().startswith(remark)
        assert bool(last) == bool(remark)


def test_the_model_has_written_nothing_when_the_stream_is_opened():
    llm = ScriptedLLM()
    stream = guard_query_engine(rag(llm, streaming=True), ScriptedGuard()).query(question(1))
    assert llm.prompts == []
    assert str(stream) == marked(1)
    assert str(stream) == marked(1)  # read once, kept
    assert len(llm.prompts) == 1


@pytest.mark.parametrize("way", ["stream_chat", "astream_chat"])
def test_tail_in_a_chat_engine_still_remembers_the_checked_answer(way):
    memory = memory_of()
    inner = SimpleChatEngine.from_defaults(llm=ScriptedChat(), memory=memory)
    engine = guard_chat_engine(inner, ScriptedGuard(label="doubtful"), stream="tail")

    async def run():
        response = await engine.astream_chat(question(2))
        return [piece async for piece in response.async_response_gen()]

    if way == "stream_chat":
        pieces = list(engine.stream_chat(question(2)).response_gen)
    else:
        pieces = asyncio.run(run())
    assert "".join(pieces) == f"{said('run 2')}\n[doubtful] {said('run 2')}"
    assert memory.get_all()[-1].content == f"{said('run 2')} [checked: ]"


class Numbers(CustomQueryEngine):
    def custom_query(self, query_str):
        return StreamingResponse(response_gen=iter([1, 2]))


def test_a_stream_of_something_else_is_not_let_through():
    response = guard_query_engine(Numbers(), ScriptedGuard()).query("?")
    with pytest.raises(TypeError, match="a stream of int cannot be checked"):
        next(response.response_gen)


def test_a_stream_that_the_engine_has_read_itself():
    class Read(CustomQueryEngine):
        def custom_query(self, query_str):
            return StreamingResponse(response_gen=iter([]), response_txt="It is tall.")

    response = guard_query_engine(Read(), ScriptedGuard()).query("?")
    assert list(response.response_gen) == ["It is tall. [checked: ]"]


@pytest.mark.parametrize("streaming", [False, True])
def test_raise_on_stops_an_answer(streaming):
    guard = ScriptedGuard(label="false")
    engine = guard_query_engine(
        rag(ScriptedLLM(), streaming=streaming), guard, raise_on=("false", "doubtful")
    )
    with pytest.raises(FactualityError, match="1 of 1 claims: false") as caught:
        str(engine.query(question(1)))
    assert caught.value.answer.original == said("run 1")
    assert "tower" not in str(caught.value)
    lenient = guard_query_engine(rag(ScriptedLLM()), guard, raise_on=("doubtful",))
    assert lenient.query(question(1)).response == marked(1)


def test_a_stopped_answer_is_not_remembered():
    guard = ScriptedGuard(label="false")
    memory = memory_of()
    inner = SimpleChatEngine.from_defaults(llm=ScriptedChat(), memory=memory)
    with pytest.raises(FactualityError):
        guard_chat_engine(inner, guard, raise_on=("false",)).chat(question(1))
    assert [message.role.value for message in memory.get_all()] == ["user"]


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
def test_raise_on_ends_the_run_of_an_agent():
    agent = guard_agent(function_agent(), ScriptedGuard(label="false"), raise_on=("false",))
    with pytest.raises(FactualityError):
        asyncio.run(run_of(agent, question(1)))


@pytest.mark.parametrize("labels", ["false", ("wrong",)])
def test_unknown_labels_are_refused(labels):
    with pytest.raises(ValueError, match="raise_on takes labels"):
        guard_query_engine(rag(ScriptedLLM()), ScriptedGuard(), raise_on=labels)
