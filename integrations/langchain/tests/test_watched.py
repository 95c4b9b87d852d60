"""The watching callback in every kind of application that the wrappers are tested in."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelFallbackMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.runnables import (
    Runnable,
    RunnableLambda,
    RunnablePassthrough,
    RunnableWithMessageHistory,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from langchain_franq import FranqCallback, guard_chain

from .fakes import (
    TEMPLATE,
    RunRetriever,
    ScriptedAgent,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    format_docs,
    lcel,
    question,
    said,
)
from .test_beside import executor
from .test_evidence import Looked, retrieved, searched
from .test_memory import conversation
from .test_structured_agent import GIVEN, Answer, Structured
from .test_tools import written

ASKED, RAW = question(7), said("run 7")
RUN_7 = ["7-old", "7-tall"]
TEXT = "The archive says that the tower of run 7 is tall, and nobody doubts it today."
MESSAGES = {"messages": [HumanMessage(ASKED)]}


@dataclass(frozen=True)
class App:
    """An application, what it is asked, and what is to be found out about its answer.

    ``found``: ids of the passages, or where they have none their texts, sorted.
    """

    make: Callable[[], Any]
    given: Any
    found: list[str]
    said: str = RAW
    configurable: dict[str, Any] | None = None
    options: dict[str, Any] | None = None


class State(TypedDict, total=False):
    question: str
    final_report: str
    documents: list[Document]
    answer: Any
    messages: Annotated[list[Any], add_messages]


def graph(*nodes: Any) -> Any:
    """Nodes in a row, a compiled graph among them or not."""
    built = StateGraph(State)
    names = [f"node{i}" for i in range(len(nodes))]
    for name, node in zip(names, nodes, strict=True):
        built.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True):
        built.add_edge(before, after)
    return built.compile()


@tool
def search(query: str) -> str:
    """Search the archive."""
    return format_docs(RunRetriever().invoke(query))


class Broken(ScriptedChat):
    """The model that is out of order."""

    def _generate(self, *_: Any, **__: Any) -> Any:
        raise ConnectionError("busy")


def write(state: State) -> Any:
    raw = ScriptedLLM().invoke(f"{state['question']} {TEXT}")
    return {"answer": raw, "messages": [AIMessage(raw)]}


def report(state: State) -> Any:
    """Its answer is no message, and stands in a text of the node's own."""
    return {"final_report": f"Report:\n{lcel(ScriptedLLM()).invoke(state['messages'][-1].text)}"}


def retrieve(state: State) -> Any:
    return {"documents": RunRetriever().invoke(state["question"])}


def prompted(given: Any) -> str:
    return TEMPLATE.format(context=given["context"], question=given["question"])


def with_history() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chain: Runnable[Any, Any] = lcel(ScriptedChat(), parse=False)
        kept = InMemoryChatMessageHistory()
        return RunnableWithMessageHistory(
            RunnableLambda(lambda messages: messages[-1].text) | chain, lambda _: kept
        )


def conversing() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_classic.memory import ConversationBufferMemory

        memory = ConversationBufferMemory(memory_key="chat_history", return_messages=True)
    return conversation(memory=memory)


def following_up() -> Any:
    """An agent in its second turn, which needs no tool."""
    agent = create_agent(ScriptedAgent(), [search], checkpointer=InMemorySaver())
    agent.invoke(MESSAGES, {"configurable": {"thread_id": "1"}})

    class Remembering(ScriptedAgent):
        def _turn(self, messages: Any) -> AIMessage:
            return AIMessage(said("\n".join(str(m.text) for m in messages)))

    return create_agent(Remembering(), [search], checkpointer=agent.checkpointer)


@task
def ask(prompt: str) -> str:
    return str(ScriptedLLM().invoke(prompt))


@entrypoint()
def functional(asked: str) -> str:
    """LangGraph without a graph."""
    found = RunRetriever().invoke(asked)
    return str(ask(TEMPLATE.format(context=format_docs(found), question=asked)).result())


JSON = (
    '{"summary": "The tower of run 7 is tall.", "parts": ["It has 7 steps \\"now\\", they say."]}'
)
STRUCTURED = 'The tower of run 7 is tall.\nIt has 7 steps "now", they say.'
APPS = {
    "model fallback": App(
        lambda: create_agent(
            Broken(), [search], middleware=[ModelFallbackMiddleware(ScriptedAgent())]
        ),
        MESSAGES,
        RUN_7,
    ),
    "compiled graph in a graph": App(
        lambda: graph(retrieve, graph(write)), {"question": ASKED}, ["7-tall"]
    ),
    "answer and messages": App(lambda: graph(write), {"question": ASKED}, []),
    "a key of its own beside messages": App(
        lambda: graph(report), MESSAGES, RUN_7, said=f"Report:\n{RAW}"
    ),
    "documents in the state": App(
        lambda: graph(lambda s: {"documents": [Document(TEXT)]}, write), {"question": ASKED}, [TEXT]
    ),
    "documents in an agent's state": App(
        lambda: create_agent(ScriptedChat(), middleware=[Looked()]),
        MESSAGES,
        [TEXT, "Old letters tell how masons began the tower of run 7 long ago."][::-1],
    ),
    "agent executor": App(executor, {"input": ASKED}, ["The tower of run 7 is tall."]),
    "direct tool": App(lambda: create_agent(ScriptedAgent(), [written]), MESSAGES, RUN_7),
    "message history": App(
        with_history, [HumanMessage(ASKED)], RUN_7, configurable={"session_id": "1"}
    ),
    "conversational chain": App(conversing, {"question": ASKED}, RUN_7),
    "follow-up turn": App(
        following_up,
        {"messages": [HumanMessage("And is it old?")]},
        ["\n\n".join(d.page_content for d in RunRetriever().invoke(ASKED))],
        configurable={"thread_id": "1"},
    ),
    "functional": App(lambda: functional, ASKED, RUN_7),
    "a number": App(lambda: RunnableLambda(lambda _: 42), ASKED, [], said="42"),
    "documents in the input": App(
        lambda: RunnableLambda(prompted) | ScriptedLLM(),
        {"question": ASKED, "context": TEXT},
        [TEXT],
    ),
    "search in a lambda": App(
        lambda: (
            RunnablePassthrough.assign(context=lambda v: [Document(TEXT)])
            | RunnableLambda(lambda v: prompted({**v, "context": format_docs(v["context"])}))
            | ScriptedLLM()
        ),
        {"question": ASKED},
        [TEXT],
    ),
    "dynamic prompt": App(
        lambda: create_agent(ScriptedChat(), middleware=[retrieved]), MESSAGES, RUN_7
    ),
    "dynamic prompt, named": App(
        lambda: create_agent(ScriptedChat(), middleware=[searched]),
        MESSAGES,
        [TEXT],
        options={"evidence": lambda given, output: [TEXT]},
    ),
    "json": App(
        lambda: FakeListLLM(responses=[JSON]) | JsonOutputParser(), ASKED, [], said=STRUCTURED
    ),
    "response_format": App(
        lambda: create_agent(Structured(), response_format=ToolStrategy(Answer)),
        MESSAGES,
        [],
        said=f"{GIVEN.summary}\n{GIVEN.notes[0]}",
    ),
    "guarded": App(
        lambda: guard_chain(lcel(ScriptedLLM()), ScriptedGuard()),
        ASKED,
        RUN_7,
        said=f"{RAW} [checked: Tower 7,Tower 7]",
    ),
}


async def _streamed(app: Any, given: Any, config: Any) -> None:
    async for _ in app.astream(given, config):
        pass


WAYS = {
    "invoke": lambda app, given, config: app.invoke(given, config),
    "astream": lambda app, given, config: asyncio.run(_streamed(app, given, config)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", APPS)
def test_it_is_watched(name, way):
    app, guard, reports = APPS[name], ScriptedGuard(), []
    watch = FranqCallback(guard, reports.append, **(app.options or {}))
    made = app.make()
    WAYS[way](made, app.given, {"callbacks": [watch], "configurable": app.configurable or {}})
    assert watch.flush(20)
    assert [report.original for report in reports] == [app.said]
    found = {p.id or p.text for trace in guard.traces for p in trace.passages}
    assert sorted(found) == sorted(app.found)
    assert (watch.checked, watch.dropped, watch.failed, watch.open_runs) == (1, 0, 0, 0)


def test_a_graph_that_stops_after_a_model_has_chosen_a_way_has_not_answered():
    """The model's word is in the state, and an answer and a report of the turn before are."""

    def choose(state: State) -> Any:
        return {"question": FakeListLLM(responses=["search"]).invoke(ASKED)}

    built = StateGraph(State).add_node("choose", choose).add_node("report", report)
    built.add_edge(START, "choose").add_edge("choose", "report")
    app = built.compile(checkpointer=InMemorySaver(), interrupt_before=["report"])
    thread: Any = {"configurable": {"thread_id": "1"}}
    app.update_state(thread, {"messages": [AIMessage(RAW)], "final_report": RAW}, as_node="report")
    watch = FranqCallback(guard := ScriptedGuard())
    assert app.invoke(MESSAGES, {**thread, "callbacks": [watch]})["final_report"] == RAW
    assert watch.flush(20)
    assert (watch.checked, watch.failed, guard.traces) == (0, 0, [])
    assert app.invoke(None, {**thread, "callbacks": [watch]})["final_report"] == f"Report:\n{RAW}"
    assert watch.flush(20)
    assert [trace.generation.text for trace in guard.traces] == [f"Report:\n{RAW}"]


@pytest.mark.parametrize("way", ["threads", "tasks"])
def test_all_of_them_at_once_keep_apart(way):
    """One callback for all applications: each answer with the passages of its own run."""
    from concurrent.futures import ThreadPoolExecutor

    guard, reports = ScriptedGuard(), []
    watch = FranqCallback(guard, reports.append)
    names = ("compiled graph in a graph", "direct tool", "dynamic prompt")
    apps = [APPS[name].make() for name in names]
    asks = [
        lambda run: {"question": question(run)},
        lambda run: {"messages": [HumanMessage(question(run))]},
        lambda run: {"messages": [HumanMessage(question(run))]},
    ]
    config: Any = {"callbacks": [watch]}
    if way == "threads":
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: apps[i % 3].invoke(asks[i % 3](i), config), range(30)))
    else:

        async def gathered() -> None:
            runs = [apps[i % 3].ainvoke(asks[i % 3](i), config) for i in range(30)]
            await asyncio.gather(*runs)

        asyncio.run(gathered())
    assert watch.flush(30)
    assert len(reports) == 30
    for trace in guard.traces:
        (number,) = {passage.id.split("-")[0] for passage in trace.passages}
        assert trace.generation.text == said(f"run {number}")
        assert trace.question == question(int(number))
