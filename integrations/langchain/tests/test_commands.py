"""Tools that update an agent's state: a model's text is checked before it gets there."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from langchain_franq import (
    FactualityError,
    FranqCallback,
    FranqMiddleware,
    guard_chain,
    guard_node,
)

from .fakes import ScriptedAgent, ScriptedChat, ScriptedGuard, ScriptedLLM, lcel, question, said

ASK = {"messages": [HumanMessage(question(7))]}
RAW = said("run 7")
CHECKED = f"{RAW} [checked: Tower 7,Tower 7]"
DONE = "The work is done."
CallId = Annotated[str, InjectedToolCallId]


class State(AgentState, total=False):
    report: str
    topic: str
    documents: list[Document]


def _update(call: str, **values: Any) -> Command:
    # The scripted agent answers where the last message is a tool's.
    told = [*values.pop("messages", []), ToolMessage(DONE, tool_call_id=call)]
    return Command(update={"messages": told, **values})


@tool("search")
def stored(query: str, tool_call_id: CallId) -> Command:
    """A model's text under a key of the state."""
    return _update(tool_call_id, report=lcel(ScriptedLLM()).invoke(query), topic=query)


@tool("search")
def said_by_another(query: str, tool_call_id: CallId) -> Command:
    """A model's text as a message of its own."""
    text = lcel(ScriptedChat()).invoke(query)
    return _update(tool_call_id, messages=[AIMessage(text, name="expert")])


@tool("search")
def one_of_several(query: str, tool_call_id: CallId) -> list[Any]:
    """A message, and an update without one."""
    message = ToolMessage(DONE, tool_call_id=tool_call_id)
    return [message, Command(update={"report": lcel(ScriptedLLM()).invoke(query)})]


TOOLS = {"a key": stored, "a message": said_by_another, "several": one_of_several}


def _agent(made: Any, guard: ScriptedGuard, **options: Any) -> Any:
    middleware = [FranqMiddleware(guard, **options)]
    return create_agent(ScriptedAgent(), [made], middleware=middleware, state_schema=State)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", TOOLS)
def test_what_a_tools_model_puts_into_the_state_is_checked(kind, asynchronous):
    guard = ScriptedGuard()
    app = _agent(TOOLS[kind], guard)
    output = asyncio.run(app.ainvoke(ASK)) if asynchronous else app.invoke(ASK)
    assert [m.text for m in output["messages"] if isinstance(m, ToolMessage)] == [DONE]
    assert guard.traces[0].question == question(7)
    assert [p.id for p in guard.traces[0].passages] == ["7-tall", "7-old"]
    if kind == "a message":
        (expert,) = [m for m in output["messages"] if m.name == "expert"]
        assert expert.text == CHECKED
        assert expert.response_metadata["franq"]["original"] == RAW
    else:
        assert output["report"] == CHECKED
    # What the agent's model called the tool with stands in its message as it is.
    assert output.get("topic", question(7)) == question(7)


@pytest.mark.parametrize("mode", ["messages", "updates", "values", "debug", "tasks"])
@pytest.mark.parametrize("kind", TOOLS)
def test_no_stream_shows_it_unchecked(kind, mode):
    for chunk in _agent(TOOLS[kind], ScriptedGuard()).stream(ASK, stream_mode=mode):
        assert "7 steps" not in str(chunk) or "7 steps. [checked" in str(chunk)


def test_a_text_rests_on_the_documents_that_are_stored_beside_it():
    @tool("search")
    def searching(query: str, tool_call_id: CallId) -> Command:
        """Searches by a client of its own."""
        found = Document("The archive says that it is tall.", metadata={"id": "own"})
        text = ScriptedChat().invoke(f"{found.page_content} run 7").text
        return _update(tool_call_id, report=text, documents=[found])

    guard = ScriptedGuard()
    output = _agent(searching, guard).invoke(ASK)
    assert [p.id for p in guard.traces[0].passages] == ["own"]
    assert output["documents"][0].page_content == "The archive says that it is tall."


def test_what_was_checked_or_said_before_is_left_alone():
    """An agent that hands over passes on all messages, and a guard inside has checked its own."""

    @tool("search")
    def handing_over(query: str, tool_call_id: CallId) -> Command:
        """Adds what a guarded chain says to the messages so far."""
        expert = guard_chain(lcel(ScriptedChat(), parse=False), inner).invoke(query)
        return _update(tool_call_id, messages=[*before, expert])

    inner, guard = ScriptedGuard(), ScriptedGuard()
    before = [AIMessage("The tower of run 6 is very old indeed.", id="before")]
    output = _agent(handing_over, guard).invoke({"messages": [*before, *ASK["messages"]]})
    texts = [m.text for m in output["messages"]]
    assert texts.count(CHECKED) == 1
    assert before[0] in output["messages"]
    assert [trace.generation.text for trace in guard.traces] == [output["messages"][-1].text[:-12]]


@tool("search")
def with_a_thought(query: str) -> list[dict[str, Any]]:
    """Finds something, and says what to think of it."""
    thought = ScriptedLLM().invoke(query)
    return [{"type": "json", "json": {"found": "The archive.", "thought": thought}}]


def _in_node(guard: ScriptedGuard) -> Any:
    built = StateGraph(State).add_node("agent", guard_node(guard, AGENT))
    return built.add_edge(START, "agent").compile()


AGENT = create_agent(ScriptedAgent(), [with_a_thought])
AROUND = {
    "middleware": lambda guard: _agent(with_a_thought, guard),
    "chain": lambda guard: guard_chain(AGENT, guard),
    "node": _in_node,
}


@pytest.mark.parametrize("around", AROUND)
def test_what_a_tools_model_writes_into_a_block_is_checked_and_is_no_evidence(around):
    """Such a block is content that is no plain text, but the model reads it, and so do users."""
    output = AROUND[around](guard := ScriptedGuard()).invoke(ASK)
    (told,) = [m for m in output["messages"] if isinstance(m, ToolMessage)]
    assert told.content[0]["json"]["found"] == "The archive."
    assert told.content[0]["json"]["thought"].startswith(f"{RAW} [checked: ")
    assert told.response_metadata["franq"]["written_by_a_model"] is True
    follow_up = {"messages": [*output["messages"], HumanMessage("Are you sure of run 7?")]}
    guard_chain(create_agent(ScriptedChat(), []), guard).invoke(follow_up)
    for trace in guard.traces:
        assert not any("7 steps" in passage.text for passage in trace.passages)


def test_a_watched_follow_up_has_no_evidence_in_such_a_block_either():
    watch = FranqCallback(guard := ScriptedGuard())
    given = ASK
    for app in (AGENT, create_agent(ScriptedChat(), [])):
        done = app.invoke(given, {"callbacks": [watch]})
        given = {"messages": [*done["messages"], HumanMessage("Are you sure of run 7?")]}
    assert watch.flush(20)
    assert len(guard.traces) == 2
    for trace in guard.traces:
        assert not any("7 steps" in passage.text for passage in trace.passages)


def test_a_weak_text_in_the_state_can_stop_the_run():
    with pytest.raises(FactualityError):
        _agent(stored, ScriptedGuard(), raise_on=("supported",)).invoke(ASK)
