"""A graph that stops to ask somebody has not answered: nothing is taken for its answer."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langchain_franq import FranqCallback, guard_chain

from .fakes import ScriptedAgent, ScriptedChat, ScriptedGuard, question, said
from .surfaces import State

ASK = {"messages": [HumanMessage(question(7))]}
THREAD = {"configurable": {"thread_id": "1"}}


def _reviewed(state: State) -> State:
    draft = ScriptedChat().invoke("run 7").text
    interrupt({"draft": draft})
    return {"answer": draft}


def _asked(_: Any) -> Any:
    interrupt("May I?")
    return {"messages": [AIMessage(said("run 7"))]}


def _graph(kind: Any, node: Any, **options: Any) -> Any:
    built = StateGraph(kind).add_node("write", node).add_edge(START, "write")
    return built.compile(checkpointer=InMemorySaver(), **options)


def _agent() -> Any:
    @tool
    def search(query: str) -> str:
        """Finds something."""
        return f"The tower of {query} is tall."

    asks = HumanInTheLoopMiddleware(interrupt_on={"search": True})
    return create_agent(ScriptedAgent(), [search], middleware=[asks], checkpointer=InMemorySaver())


def _guarded(graph: Any, guard: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the memory inside
        return guard_chain(graph, guard)


def test_a_guarded_graph_that_asks_is_returned_with_its_draft_checked():
    chain = _guarded(_graph(State, _reviewed), ScriptedGuard())
    output = chain.invoke({"question": question(7)}, THREAD)
    [waiting] = output["__interrupt__"]
    assert waiting.value == {"draft": f"{said('run 7')} [checked: ]"}
    assert output["franq"]["original"] == ""
    answered = chain.invoke(Command(resume=True), THREAD)
    assert answered["answer"] == f"{said('run 7')} [checked: ]"


@pytest.mark.parametrize("options", [{}, {"interrupt_before": ["write"]}])
def test_the_users_message_is_not_marked(options):
    chain = _guarded(_graph(MessagesState, _asked, **options), ScriptedGuard())
    assert chain.invoke(ASK, THREAD)["messages"][-1].text == question(7)


@pytest.mark.parametrize("wrapper", ["chain", "callback"])
def test_a_graph_that_goes_on_and_answers_elsewhere_is_checked_there(wrapper):
    """The user's message of the first part is still its last one, and no answer."""

    class Reporting(MessagesState, total=False):
        report: str

    def report(_: Any) -> Any:
        interrupt("May I?")
        return {"report": ScriptedChat().invoke("run 7").text}

    guard, graph = ScriptedGuard(), _graph(Reporting, report)
    watch = FranqCallback(guard)
    app = _guarded(graph, guard) if wrapper == "chain" else graph
    config = THREAD if wrapper == "chain" else {**THREAD, "callbacks": [watch]}
    app.invoke({"messages": [HumanMessage("I think that it is tall.")]}, config)
    output = app.invoke(Command(resume=True), config)
    assert watch.flush(20)
    assert output["messages"][-1].text == "I think that it is tall."
    checked = [trace.generation.text for trace in guard.traces if trace.generation.text]
    assert checked == [said("run 7")]
    if wrapper == "chain":
        assert output["report"] == f"{said('run 7')} [checked: ]"


APPS = {
    "a node that asks": (lambda: _graph(MessagesState, _asked), Command(resume=True)),
    "an agent that asks": (_agent, Command(resume={"decisions": [{"type": "approve"}]})),
    "a stop before a node": (
        lambda: _graph(
            MessagesState,
            lambda state: {"messages": [AIMessage(said("run 7"))]},
            interrupt_before=["write"],
        ),
        None,
    ),
}


@pytest.mark.parametrize("kind", APPS)
def test_a_watched_graph_is_reported_on_once_it_has_answered(kind):
    watch = FranqCallback(guard := ScriptedGuard())
    made, resumed = APPS[kind]
    app, config = made(), {**THREAD, "callbacks": [watch]}
    app.invoke(ASK, config)
    assert watch.flush(20)
    assert (watch.checked, watch.failed, watch.open_runs) == (0, 0, 0)
    answer = app.invoke(resumed, config)["messages"][-1].text
    assert watch.flush(20)
    assert [trace.generation.text for trace in guard.traces] == [answer]


def test_a_watched_model_that_calls_a_tool_has_not_answered():
    watch = FranqCallback(guard := ScriptedGuard())
    model = ScriptedAgent(callbacks=[watch])
    called = model.invoke(ASK["messages"])
    found = ToolMessage("The tower of run 7 is tall.", tool_call_id=called.tool_calls[0]["id"])
    model.invoke([*ASK["messages"], called, found])
    assert watch.flush(20)
    assert [trace.generation.text for trace in guard.traces] == [said("run 7")]
