"""Guarded agents: the answer, what is streamed, what is remembered, and where evidence is found."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.agent.workflow import (
    AgentOutput,
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Context

from llama_index_franq import FactualityError, guard_agent, guard_query_engine

from .agent_fakes import ScriptedCaller, function_agent, look_up, run_of
from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    marked,
    memory_of,
    question,
    rag,
    said,
)

pytestmark = [
    # The workflow package looks at every attribute of an agent, pydantic's deprecated ones too.
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    # LlamaIndex's ReActAgent asks it of the workflow package.
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]


def checked(number, titles="towers"):
    return f"{said(f'run {number}')} [checked: {titles}]"


def remembered(memory):
    return [(m.role.value, m.content) for m in memory.get_all() if m.content]


@pytest.mark.parametrize("streaming", [True, False])
def test_function_agent(streaming):
    guard = ScriptedGuard()
    memory = memory_of()
    agent = guard_agent(function_agent(streaming=streaming), guard)
    result, events, streamed = asyncio.run(run_of(agent, question(7), memory=memory))
    assert result.response.content == str(result) == checked(7)
    assert result.response.additional_kwargs["franq"]["text"] == checked(7)
    assert [call.tool_name for call in result.tool_calls] == ["towers"]
    assert streamed == (checked(7) if streaming else "")
    (trace,) = guard.traces
    assert trace.question == question(7)
    assert [(p.title, p.text) for p in trace.passages] == [("towers", look_up("run 7"))]
    assert look_up("run 7") in trace.generation.prompt
    assert "The archive" not in trace.contrast_prompt
    assert remembered(memory)[-1] == ("assistant", checked(7))
    assert all("franq" not in m.additional_kwargs for m in memory.get_all())
    # Nothing raw in any event, the model's own object included; the report quotes the original.
    raw = said("run 7")
    for event in events:
        if isinstance(event, AgentOutput):
            event.response.additional_kwargs.pop("franq", None)
        text = repr(event.model_dump()) + repr(getattr(event, "raw", None))
        assert text.count(raw) == text.count(checked(7))


def react_agent(llm, **options):
    return ReActAgent(
        tools=[FunctionTool.from_defaults(look_up, name="towers")], llm=llm, **options
    )


REACT = [
    'Thought: I need a tool.\nAction: towers\nAction Input: {"input": "run 4"}',
    "Thought: The tower is tall, I know it.\nAnswer: The tower is tall. It has 9 steps.",
]


@pytest.mark.parametrize("streaming", [True, False])
def test_react_agent(streaming):
    guard = ScriptedGuard()
    memory = memory_of()
    agent = guard_agent(react_agent(ScriptedChat(script=[*REACT]), streaming=streaming), guard)
    result, events, streamed = asyncio.run(run_of(agent, question(4), memory=memory))
    expected = "The tower is tall. It has 9 steps. [checked: towers]"
    assert result.response.content == expected
    (trace,) = guard.traces
    assert trace.generation.text == "The tower is tall. It has 9 steps."
    assert trace.passages[0].text == look_up("run 4")
    assert look_up("run 4") in trace.generation.prompt
    assert look_up("run 4") not in trace.contrast_prompt
    assert "I know it" not in str(remembered(memory))
    assert expected in remembered(memory)[-1][1]
    # Of the first step, which only called a tool, the call is shown and no thought.
    assert streamed == (expected if streaming else "")
    shown = [repr(event.model_dump()) for event in events]
    assert not any("I know it" in text or "I need a tool" in text for text in shown)


def test_react_agent_that_answers_without_a_tool():
    guard = ScriptedGuard()
    agent = guard_agent(react_agent(ScriptedChat(script=["It is just tall."])), guard)
    result, _, _ = asyncio.run(run_of(agent, "How tall?"))
    assert result.response.content == "It is just tall. [checked: ]"
    assert guard.traces[0].passages == ()


def engine_tool(engine, **options):
    return QueryEngineTool.from_defaults(engine, name="towers", description="towers", **options)


def test_source_nodes_of_a_query_engine_tool_are_the_evidence():
    guard = ScriptedGuard()
    agent = guard_agent(function_agent(tools=[engine_tool(rag(ScriptedLLM()))]), guard)
    asyncio.run(run_of(agent, question(5)))
    assert [p.id for p in guard.traces[0].passages] == ["5-tall", "5-old"]


def test_nodes_of_a_retriever_tool_are_the_evidence():
    guard = ScriptedGuard()
    tool = RetrieverTool.from_defaults(RunRetriever(), name="towers", description="towers")
    asyncio.run(run_of(guard_agent(function_agent(tools=[tool]), guard), question(5)))
    assert [p.id for p in guard.traces[0].passages] == ["5-tall", "5-old"]


def test_a_failed_tool_is_no_evidence():
    def broken(input: str) -> str:
        """Fails."""
        raise LookupError("no run 3 here")

    guard = ScriptedGuard()
    tool = FunctionTool.from_defaults(broken, name="towers")
    result, _, _ = asyncio.run(run_of(guard_agent(function_agent(tools=[tool]), guard), "Ask"))
    assert result.response.content == "The tower of run 3 is tall. It has 3 steps. [checked: ]"


def test_a_guarded_query_engine_as_a_tool():
    guard = ScriptedGuard()
    tool = engine_tool(guard_query_engine(rag(ScriptedLLM()), guard))
    llm = ScriptedCaller()
    result, _, _ = asyncio.run(run_of(function_agent(llm, tools=[tool]), question(6)))
    assert llm.seen[-1][-1].content == marked(6)  # all that the agent saw
    (trace,) = guard.traces
    assert [p.id for p in trace.passages] == ["6-tall", "6-old"]
    assert result.tool_calls[0].tool_output.raw_output.metadata["franq"]["text"] == marked(6)


@pytest.mark.parametrize("make", [function_agent, react_agent])
def test_a_tool_that_answers_directly(make):
    guard = ScriptedGuard()
    memory = memory_of()
    tool = engine_tool(rag(ScriptedLLM()), return_direct=True)
    llm = ScriptedCaller() if make is function_agent else ScriptedChat(script=[REACT[0]])
    kind = FunctionAgent if make is function_agent else ReActAgent
    agent = guard_agent(kind(tools=[tool], llm=llm), guard)
    result, _, _ = asyncio.run(run_of(agent, question(4), memory=memory))
    assert result.response.content == marked(4)
    assert [p.id for p in guard.traces[0].passages] == ["4-tall", "4-old"]
    assert marked(4) in remembered(memory)[-1][1]
    last = remembered(memory)[-1][1]  # of a ReActAgent with what the tool returned: checked, too
    assert last.count("[checked") == last.count(said("run 4"))


def test_a_guarded_tool_that_answers_directly_is_not_checked_twice():
    inner, outer = ScriptedGuard(), ScriptedGuard()
    tool = engine_tool(guard_query_engine(rag(ScriptedLLM()), inner), return_direct=True)
    agent = guard_agent(function_agent(tools=[tool]), outer)
    result, _, _ = asyncio.run(run_of(agent, question(4)))
    assert result.response.content == marked(4)
    assert result.response.additional_kwargs["franq"]["text"] == marked(4)
    assert (len(inner.traces), len(outer.traces)) == (1, 0)


def team(second):
    first = function_agent(
        ScriptedCaller(script=[("handoff", {"to_agent": "second", "reason": "it knows"})]),
        name="first",
        description="hands off",
        can_handoff_to=["second"],
    )
    return AgentWorkflow(agents=[first, second], root_agent="first")


def test_a_workflow_of_agents_with_a_handoff():
    guard = ScriptedGuard()
    llm = ScriptedCaller(script=[("towers", {"input": "run 8"}), said("run 8")])
    second = function_agent(llm, name="second", description="knows")
    workflow = guard_agent(team(second), guard)
    result, _, streamed = asyncio.run(run_of(workflow, question(8)))
    assert result.response.content == streamed == checked(8)
    (trace,) = guard.traces
    assert [p.text for p in trace.passages] == [look_up("run 8")]


# LlamaIndex cannot write a ChatMemoryBuffer down when a context is used again, and says so.
@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
def test_only_the_current_turn_is_evidence():
    guard = ScriptedGuard()
    agent = guard_agent(function_agent(), guard)

    async def two_turns():
        same = {"ctx": Context(agent), "memory": memory_of()}
        first, _, _ = await run_of(agent, question(1), **same)
        second, _, _ = await run_of(agent, question(2), **same)
        return first, second

    first, second = asyncio.run(two_turns())
    assert (first.response.content, second.response.content) == (checked(1), checked(2))
    assert [p.text for p in guard.traces[1].passages] == [look_up("run 2")]
    # The second turn was asked with the checked answer of the first one before it.
    assert checked(1) in guard.traces[1].generation.prompt


CALL = ("towers", {"input": "run 4"})
WRONG = "The tower is made of cheese."
STOPPED = {
    "function": lambda: function_agent(ScriptedCaller(script=[CALL, WRONG, "It is tall."])),
    "react": lambda: react_agent(ScriptedChat(script=[REACT[0], WRONG, "It is tall."])),
    "tool that returns directly": lambda: function_agent(
        ScriptedCaller(script=[CALL, "It is tall."]),
        [FunctionTool.from_defaults(lambda input: WRONG, name="towers", return_direct=True)],
    ),
}


@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
@pytest.mark.parametrize("make", STOPPED.values(), ids=STOPPED)
def test_a_stopped_answer_is_not_in_the_context_of_the_next_run(make):
    guard = ScriptedGuard(label="false")
    agent = guard_agent(make(), guard, raise_on=("false",))

    async def two_turns():
        same = {"ctx": Context(agent), "memory": memory_of()}
        with pytest.raises(FactualityError):
            await run_of(agent, question(4), **same)
        guard.label = "supported"
        result, _, _ = await run_of(agent, "Is it tall?", **same)
        return result.response.content, str(same["memory"].get_all())

    text, memory = asyncio.run(two_turns())
    assert text.startswith("It is tall.")
    assert [WRONG in trace.generation.text for trace in guard.traces] == [True, False]
    assert WRONG not in guard.traces[-1].generation.prompt
    assert WRONG not in memory


def test_the_agent_itself_stays_as_it_was():
    agent = function_agent()
    guard_agent(agent, ScriptedGuard())
    result, _, _ = asyncio.run(run_of(agent, question(2)))
    assert type(agent) is FunctionAgent
    assert result.response.content == said("run 2")


def test_on_report_and_what_it_raises():
    class Rejected(Exception):
        pass

    def reject(answer):
        raise Rejected(answer.status)

    seen = []
    agent = guard_agent(function_agent(), ScriptedGuard(), on_report=seen.append)
    asyncio.run(run_of(agent, question(1)))
    assert [answer.text for answer in seen] == [checked(1)]
    agent = guard_agent(function_agent(), ScriptedGuard(), on_report=reject)
    with pytest.raises(Rejected, match="ok"):
        asyncio.run(run_of(agent, question(1)))


def test_what_cannot_be_guarded_is_refused():
    with pytest.raises(TypeError, match="not ScriptedCaller"):
        guard_agent(ScriptedCaller(), ScriptedGuard())
    with pytest.raises(ValueError, match="buffer"):
        guard_agent(function_agent(), ScriptedGuard(), stream="tail")


def test_messages_of_tools_keep_their_place_without_their_text():
    from llama_index_franq._prompts import _emptied

    message = ChatMessage(role="tool", content="secret", additional_kwargs={"tool_call_id": "1"})
    assert (_emptied(message).content, _emptied(message).role) == ("", message.role)
    assert _emptied(message).additional_kwargs == {"tool_call_id": "1"}
