"""Streams of pydantic objects that are written field by field: only the checked one is shown."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.query_engine import CustomQueryEngine
from pydantic import BaseModel

from franq_guard import Policy
from llama_index_franq import FactualityError, guard_query_engine
from llama_index_franq._events import _captures

from .fakes import ScriptedGuard, ScriptedLLM, node


class Tower(BaseModel):
    name: str | None = None
    height_m: int | None = None


STATES = [Tower(), Tower(name="Tour 5"), Tower(name="Tour 5", height_m=5)]
LISTS = [[STATES[1]], [STATES[1], STATES[2]]]


class Writing(CustomQueryEngine):
    """Streams the states of an object; the model is called before each."""

    states: list
    llm: ScriptedLLM

    def custom_query(self, query_str):
        def steps():
            for state in self.states:
                self.llm.complete(f"{node(5, 'tall').node.text} {query_str}")
                yield state

        return StreamingResponse(steps(), source_nodes=[node(5, "tall")])

    async def acustom_query(self, query_str):
        async def steps():
            for state in self.states:
                await self.llm.acomplete(f"{node(5, 'tall').node.text} {query_str}")
                yield state

        return AsyncStreamingResponse(steps(), source_nodes=[node(5, "tall")])


def read(engine, way):
    """(response, everything that left) of one query."""
    if way == "sync":
        response = engine.query("How tall?")
        return response, list(response.response_gen)

    async def run():
        response = await engine.aquery("How tall?")
        return response, [state async for state in response.response_gen]

    return asyncio.run(run())


WAYS = pytest.mark.parametrize("way", ["sync", "async"])


@WAYS
@pytest.mark.parametrize("states", [STATES, LISTS])
def test_the_finished_object_leaves_once_with_a_report(way, states):
    guard = ScriptedGuard()
    engine = guard_query_engine(Writing(states=states, llm=ScriptedLLM()), guard)
    response, left = read(engine, way)
    assert left == [states[-1]]
    report = response.metadata["franq"]
    claims = [verdict["claim"]["text"] for verdict in report["verdicts"]]
    assert claims[-2:] == ["name: Tour 5", "height m: 5"]
    (trace,) = guard.traces
    assert trace.generation.text == report["original"]
    assert [p.id for p in trace.passages] == ["5-tall"]
    assert "How tall?" in trace.generation.prompt
    assert _captures.get() == ()


@WAYS
def test_it_stays_where_the_policy_takes_something_out(way):
    guard = ScriptedGuard(policy=Policy(action="filter"))
    response, left = read(guard_query_engine(Writing(states=STATES, llm=ScriptedLLM()), guard), way)
    assert left == []
    assert "checked" in response.metadata["franq"]["text"]


@WAYS
def test_tail_shows_every_state_and_reports_at_the_end(way):
    guard = ScriptedGuard(label="false")
    engine = guard_query_engine(Writing(states=STATES, llm=ScriptedLLM()), guard, stream="tail")
    response, left = read(engine, way)
    assert left == STATES
    assert {v["label"] for v in response.metadata["franq"]["verdicts"]} == {"false"}


@WAYS
def test_raise_on_stops_it(way):
    guard = ScriptedGuard(label="false")
    engine = guard_query_engine(
        Writing(states=STATES, llm=ScriptedLLM()), guard, raise_on=("false",)
    )
    with pytest.raises(FactualityError, match="2 of 2 claims: false"):
        read(engine, way)


@WAYS
def test_text_and_nothing_at_all_pass_as_before(way):
    guard = ScriptedGuard()
    texts = guard_query_engine(Writing(states=["It is", " tall."], llm=ScriptedLLM()), guard)
    assert read(texts, way)[1] == ["It is tall. [checked: Tower 5]"]
    nothing = guard_query_engine(Writing(states=[], llm=ScriptedLLM()), guard)
    assert read(nothing, way)[1] == [" [checked: Tower 5]"]


@WAYS
@pytest.mark.parametrize("states", [[3], [["a"]], [STATES[0], "text"]])
def test_anything_else_does_not_leave(way, states):
    engine = guard_query_engine(Writing(states=states, llm=ScriptedLLM()), ScriptedGuard())
    with pytest.raises(TypeError, match="cannot be checked"):
        read(engine, way)


@WAYS
def test_an_abandoned_object_is_not_checked(way):
    guard = ScriptedGuard()
    engine = guard_query_engine(Writing(states=STATES, llm=ScriptedLLM()), guard, stream="tail")
    if way == "sync":
        stream = engine.query("?").response_gen
        next(stream)
        stream.close()
    else:

        async def leave():
            stream = (await engine.aquery("?")).response_gen
            await anext(stream)
            await stream.aclose()

        asyncio.run(leave())
    assert guard.traces == []
    assert _captures.get() == ()
