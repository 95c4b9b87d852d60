"""An agent that hands over to a node of the graph around it: what its model said is checked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send

from langchain_franq import FactualityError, FranqMiddleware, guard_chain, guard_node

from .fakes import RunRetriever, ScriptedChat, ScriptedGuard, format_docs, lcel, question, said

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
        asked = next(m.text for m in messages if isinstance(m, HumanMessage))
        searched = isinstance(messages[-1], ToolMessage)
        call = {"name": "transfer", "args": {}} if searched else {"name": "search"}
        call = {"args": {"query": asked}, **call, "id": call["name"]}
        message = AIMessage(said(asked) if searched else "", tool_calls=[call])
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


def _answered(state: MessagesState, **where: Any) -> Command:
    text = lcel(ScriptedChat()).invoke(state["messages"][-1].text)
    return Command(goto="billing", update={"messages": [AIMessage(text)]}, **where)


def _handing_up(guard: ScriptedGuard) -> Any:
    """A graph whose guarded node hands over to a node of the graph around it."""
    write = guard_node(guard, lambda state: _answered(state, graph=Command.PARENT))
    return StateGraph(MessagesState).add_node("write", write).add_edge(START, "write").compile()


def _in_a_function(guard: ScriptedGuard) -> Any:
    """A chain, so not refused in streams, in which a function runs the agent."""
    agent = create_agent(Transferring(), TOOLS)
    return guard_chain(RunnableLambda(lambda state: agent.invoke(state)), guard)


def _read_as_a_stream(guard: ScriptedGuard) -> Any:
    chain = _in_a_function(guard)
    return lambda state: list(chain.stream(state))[-1]


KINDS = {
    **{kind: lambda guard, made=made: _graph(made(guard)) for kind, made in GUARDED.items()},
    "function": lambda guard: _graph(guard_node(guard, lambda state: _answered(state))),
    "subgraph": lambda guard: _graph(_handing_up(guard)),
    "function in a chain": lambda guard: _graph(_in_a_function(guard)),
    "stream": lambda guard: _graph(_read_as_a_stream(guard)),
}


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


async def _gathered(chunks: Any) -> list[Any]:
    return [chunk async for chunk in chunks]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("subgraphs", [False, True])
def test_no_stream_shows_it_unchecked(kind, subgraphs):
    modes = ["messages", "updates", "values", "debug", "tasks", "checkpoints", "custom"]
    shown = {"stream_mode": modes, "subgraphs": subgraphs}
    graph = KINDS[kind](ScriptedGuard())
    for chunks in (graph.stream(ASK, **shown), asyncio.run(_gathered(graph.astream(ASK, **shown)))):
        *_, last = [chunk for chunk in chunks if _checked(chunk) and "values" in chunk]
        assert last[-1]["messages"][-1].text == "Billing is here."


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chain"])
def test_no_event_shows_it_unchecked(kind):
    """A guarded chain as a node is streamed for events, which a compiled graph in it refuses."""
    events = KINDS[kind](ScriptedGuard()).astream_events(ASK, version="v2")
    ended = [e for e in asyncio.run(_gathered(events)) if _checked(e) and not e["parent_ids"]]
    assert ended[-1]["data"]["output"]["messages"][-1].text == "Billing is here."


def _checked(chunk: Any) -> bool:
    assert "7 steps" not in str(chunk) or "7 steps. [checked" in str(chunk)
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_each_of_a_batch_goes_on_with_its_own(kind):
    runs = range(1, 9)
    asked = [{"messages": [HumanMessage(question(run))]} for run in runs]
    graph = KINDS[kind](guard := ScriptedGuard())
    for outputs in (graph.batch(asked), asyncio.run(graph.abatch(asked))):
        for run, output in zip(runs, outputs, strict=True):
            *_, at_billing = texts = [message.text for message in output["messages"]]
            assert at_billing == "Billing is here."
            raw = said(f"run {run}")
            assert [text for text in texts if text.startswith(f"{raw} [checked: ")]
            assert raw not in texts
    traces = [trace for trace in guard.traces if trace.generation.text]
    assert len(traces) == 2 * len(runs)
    for trace in traces:
        (run,) = {passage.text.split("run ")[1].split()[0].strip(".") for passage in trace.passages}
        assert trace.question == question(int(run))


@tool("transfer")
def send(runtime: ToolRuntime) -> Command:
    """Hand over, as langgraph-supervisor does: all messages are sent, none is in the update."""
    told = ToolMessage(HANDED, tool_call_id=runtime.tool_call_id)
    sent = {"messages": [*runtime.state["messages"], told]}
    return Command(goto=[Send("billing", sent)], graph=Command.PARENT)


def _twice(state: MessagesState) -> list[Any]:
    """Two commands, each of which sends what a model wrote."""
    text = lcel(ScriptedChat()).invoke(state["messages"][-1].text)
    first, second = (Send("billing", {"messages": [AIMessage(f"{n}. {text}")]}) for n in (1, 2))
    return [Command(goto=first), Command(goto=[second])]


SENDING = {
    "node": lambda guard: guard_node(guard, create_agent(Transferring(), [search, send])),
    "chain": lambda guard: guard_chain(create_agent(Transferring(), [search, send]), guard),
    "middleware": lambda guard: create_agent(
        Transferring(), [search, send], middleware=[FranqMiddleware(guard)]
    ),
    "several": lambda guard: guard_node(guard, _twice),
}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", SENDING)
def test_what_is_sent_to_the_next_node_is_checked(kind, asynchronous):
    got: list[str] = []

    def billing(state: MessagesState) -> None:
        got.extend(message.text for message in state["messages"])

    built = StateGraph(MessagesState).add_node("first", SENDING[kind](ScriptedGuard()))
    graph = built.add_node("billing", billing).add_edge(START, "first").compile()
    if asynchronous and kind != "chain":
        assert all(map(_checked, asyncio.run(_gathered(graph.astream_events(ASK, version="v2")))))
    elif asynchronous:
        asyncio.run(graph.ainvoke(ASK))
    else:
        graph.invoke(ASK)
    raw = sorted(text.split(" [checked: ")[0] for text in got if RAW in text)
    assert raw == ([f"1. {RAW}", f"2. {RAW}"] if kind == "several" else [RAW])
    assert all("[checked: " in text for text in got if RAW in text)


def test_a_guarded_chain_goes_where_its_command_says():
    """The name of a node is no text to check."""
    output = _graph(guard_chain(RunnableLambda(_answered), guard := ScriptedGuard())).invoke(ASK)
    _, answer, at_billing = output["messages"]
    assert at_billing.text == "Billing is here."
    assert answer.text.startswith(f"{RAW} [checked: ")
    assert answer.response_metadata["franq"]["original"] == RAW
    only_going = RunnableLambda(lambda state: Command(goto="billing"))
    output = _graph(guard_chain(only_going, guard)).invoke(ASK)
    assert [message.text for message in output["messages"][1:]] == ["Billing is here."]
    assert [trace.generation.text for trace in guard.traces] == [RAW, ""]


@pytest.mark.parametrize("kind", GUARDED)
def test_it_can_be_stopped(kind):
    with pytest.raises(FactualityError):
        _graph(GUARDED[kind](ScriptedGuard(), raise_on=("supported",))).invoke(ASK)
