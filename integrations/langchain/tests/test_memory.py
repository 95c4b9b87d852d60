"""Memory of every kind: what is remembered was checked, or there is a warning."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_franq import guard_chain, guard_node

from .fakes import RunRetriever, ScriptedChat, ScriptedGuard, ScriptedLLM, expected, question, said

RAW = said("run 7")
TOLD = "inherits the checkpointer of the outer graph"


def conversation(**memory: Any) -> Any:
    from langchain_classic.chains import ConversationalRetrievalChain

    return ConversationalRetrievalChain.from_llm(ScriptedLLM(), RunRetriever(), **memory)


def test_a_conversational_chain_with_memory_is_warned_of():
    from langchain_classic.memory import ConversationBufferMemory

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said once in a process that it is deprecated
        memory = ConversationBufferMemory(
            memory_key="chat_history", output_key="answer", return_messages=True
        )
    chain = conversation(memory=memory, return_source_documents=True)
    says = "the memory of ConversationalRetrievalChain inside the guard remembers the raw answers"
    with pytest.warns(UserWarning, match=f"{says}.*RunnableWithMessageHistory"):
        guarded = guard_chain(chain, ScriptedGuard())
    output = guarded.invoke({"question": question(7)})
    assert output["answer"] == expected(7)
    assert output["chat_history"][-1].text == expected(7)  # what is returned is checked anyway
    assert memory.chat_memory.messages[-1].text == RAW  # that is what was warned of


@pytest.mark.parametrize("place", ["messages", "chat_history"])
def test_an_earlier_turn_in_the_form_of_a_dict_stays_as_it_is(place):
    """Its blocks are several texts in the input, and one text of a message in the output."""
    blocks = [
        {"type": "text", "text": "The mill is old. "},
        {"type": "text", "text": "It is blue."},
    ]
    asked = {"role": "user", "content": question(7)}
    turns = [{"role": "assistant", "content": blocks}, asked]
    given = {place: turns, "messages": turns if place == "messages" else [asked]}
    graph = StateGraph(MessagesState)
    graph.add_node("write", lambda state: {"messages": [ScriptedChat().invoke(question(7))]})
    graph.add_edge(START, "write").add_edge("write", END)
    before = RunnableLambda(lambda given: {"messages": [turns[0], *given["messages"][-1:]]})
    output = guard_chain(before | graph.compile(), guard := ScriptedGuard()).invoke(given)
    assert output["messages"][0].content == blocks
    assert [trace.generation.text for trace in guard.traces] == [RAW]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_conversational_chain_inside_the_guard_inside_the_memory(asynchronous):
    kept, guard = InMemoryChatMessageHistory(), ScriptedGuard()
    guarded = guard_chain(conversation(), guard)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LangChain prefers LangGraph's memory
        chain: Runnable[Any, Any] = RunnableWithMessageHistory(
            guarded,
            lambda _: kept,
            input_messages_key="question",
            output_messages_key="answer",
            history_messages_key="chat_history",
        )
    config: Any = {"configurable": {"session_id": "1"}}
    for asked in (question(7), "And how many steps has that of run 7?"):
        given = {"question": asked}
        if asynchronous:
            output = asyncio.run(chain.ainvoke(given, config))
        else:
            output = chain.invoke(given, config)
        assert output["answer"] == expected(7)
    assert [m.text for m in kept.messages if isinstance(m, AIMessage)] == [expected(7)] * 2
    assert guard.traces[0].question == question(7)
    assert [p.id for p in guard.traces[-1].passages] == ["7-tall", "7-old"]


# A graph inside the guard that saves its state with the graph around -----------------------------


def answering(**options: Any) -> Any:
    built = StateGraph(MessagesState)
    built.add_node("say", lambda state: {"messages": ScriptedChat().invoke(state["messages"])})
    built.add_edge(START, "say")
    built.add_edge("say", END)
    return built.compile(**options)


def _chain_node(inner: Any) -> Any:
    guarded = guard_chain(inner, ScriptedGuard())
    return RunnableLambda(lambda state: {"messages": guarded.invoke(state)["messages"]})


def around(node: Any, saver: Any) -> Any:
    built = StateGraph(MessagesState)
    built.add_node("write", node)
    built.add_edge(START, "write")
    built.add_edge("write", END)
    return built.compile(checkpointer=saver)


def saved(saver: InMemorySaver) -> list[str]:
    """What AI messages say in all that was saved, of the graph and of graphs inside it."""
    states = [kept.checkpoint["channel_values"] for kept in saver.list(None)]
    found = [m for state in states for m in state.get("messages", []) if isinstance(m, AIMessage)]
    return [str(message.text) for message in found]


NODES = {"guard_node": lambda inner: guard_node(ScriptedGuard(), inner), "guard_chain": _chain_node}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("node", NODES)
def test_an_inherited_checkpointer_is_told_of_once(node, asynchronous, caplog):
    saver = InMemorySaver()
    graph = around(NODES[node](answering()), saver)
    for thread in "12":
        config: Any = {"configurable": {"thread_id": thread}}
        given: Any = {"messages": [HumanMessage("run 7")]}
        if asynchronous:
            output = asyncio.run(graph.ainvoke(given, config))
        else:
            output = graph.invoke(given, config)
        assert output["messages"][-1].text == f"{RAW} [checked: ]"
    assert RAW in saved(saver)  # this is what the warning is about
    assert caplog.text.count(TOLD) == 1
    assert "checkpointer=False" in caplog.text


@pytest.mark.parametrize("node", NODES)
def test_a_graph_that_does_not_save_leaves_nothing_raw(node, caplog):
    saver = InMemorySaver()
    graph = around(NODES[node](answering(checkpointer=False)), saver)
    graph.invoke({"messages": [HumanMessage("run 7")]}, {"configurable": {"thread_id": "1"}})
    assert set(saved(saver)) == {f"{RAW} [checked: ]"}
    assert TOLD not in caplog.text


def test_without_a_checkpointer_around_nothing_is_told(caplog):
    around(NODES["guard_node"](answering()), None).invoke({"messages": [HumanMessage("run 7")]})
    assert TOLD not in caplog.text


def test_a_graph_with_a_memory_of_its_own_is_warned_of():
    with pytest.warns(UserWarning, match="the checkpointer of a graph inside the guard"):
        guard_node(ScriptedGuard(), answering(checkpointer=True))
