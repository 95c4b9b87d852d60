"""An agent that hands over to a node of the graph around it: what its model said is checked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from langchain_franq import FactualityError, FranqMiddleware, guard_chain, guard_node

from .fakes import RunRetriever, ScriptedChat, ScriptedGuard, format_docs, question, said

ASK = {"messages": [HumanMessage(question(7))]}
RAW, HANDED = said("run 7"), "Transferred to billing"


@tool
def search(query: str) -> str:
    """Search."""
    return format_docs(RunRetriever().invoke(query))


@tool
def transfer(runtime: ToolRuntime) -> Command:
    """Hand over, as LangChain's documentation does: with the message that calls this tool."""
    calling = next(m for m in reversed(runtime.state["messages"]) if isinstance(m, AIMessage))
    told = ToolMessage(HANDED, tool_call_id=runtime.tool_call_id)
    update = {"messages": [calling, told]}
    return Command(goto="billing", graph=Command.PARENT, update=update)


class Transferring(ScriptedChat):
    """Searches, then answers and transfers in one message."""

    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=tools)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        searched = isinstance(messages[-1], ToolMessage)
        call = {"name": "transfer", "args": {}} if searched else {"name": "search"}
        call = {"args": {"query": question(7)}, **call, "id": call["name"]}
        message = AIMessage(RAW if searched else "", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


TOOLS = [search, transfer]
GUARDED = {
    "node": lambda guard, **o: guard_node(guard, create_agent(Transferring(), TOOLS), **o),
    "chain": lambda guard, **o: guard_chain(create_agent(Transferring(), TOOLS), guard, **o),
    "middleware": lambda guard, **o: create_agent(
        Transferring(), TOOLS, middleware=[FranqMiddleware(guard, **o)]
    ),
}


def _graph(agent: Any) -> Any:
    built = StateGraph(MessagesState)
    built.add_node("first", agent)
    built.add_node("billing", lambda state: {"messages": [AIMessage("Billing is here.")]})
    return built.add_edge(START, "first").compile()


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", GUARDED)
def test_what_is_handed_over_is_checked_and_goes_on(kind, asynchronous):
    graph = _graph(GUARDED[kind](guard := ScriptedGuard()))
    output = asyncio.run(graph.ainvoke(ASK)) if asynchronous else graph.invoke(ASK)
    _, said_by_agent, told, at_billing = output["messages"]
    assert said_by_agent.text.startswith(f"{RAW} [checked: ")
    assert said_by_agent.tool_calls[0]["name"] == "transfer"
    assert (told.text, at_billing.text) == (HANDED, "Billing is here.")
    (trace,) = [trace for trace in guard.traces if trace.generation.text]
    assert trace.generation.text == RAW
    assert trace.question == question(7)
    assert all("tower of run 7" in passage.text for passage in trace.passages)
    assert trace.passages


@pytest.mark.parametrize("kind", GUARDED)
@pytest.mark.parametrize("mode", ["messages", "updates", "values", "debug", "tasks"])
def test_no_stream_shows_it_unchecked(kind, mode):
    for chunk in _graph(GUARDED[kind](ScriptedGuard())).stream(ASK, stream_mode=mode):
        assert "7 steps" not in str(chunk) or "7 steps. [checked" in str(chunk)


@pytest.mark.parametrize("kind", GUARDED)
def test_it_can_be_stopped(kind):
    with pytest.raises(FactualityError):
        _graph(GUARDED[kind](ScriptedGuard(), raise_on=("supported",))).invoke(ASK)
