"""capture() for plain functions, guard_node for graphs."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from langchain_franq import FactualityError, capture, guard_node

from .fakes import (
    TEMPLATE,
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    expected,
    format_docs,
    question,
    said,
)
from .test_middleware import texts_in
from .test_real_model import ASKED, PASSAGES, Karsk, assert_captured

RETRIEVER, MODEL = RunRetriever(), ScriptedLLM()


def plain_rag(run: int, guard) -> str:
    with capture(MODEL) as done:
        documents = RETRIEVER.invoke(question(run))
        answer = MODEL.invoke(
            TEMPLATE.format(context=format_docs(documents), question=question(run))
        )
    return done.check(guard, question(run), answer).text


def test_a_plain_function_is_captured():
    guard = ScriptedGuard()
    assert plain_rag(3, guard) == expected(3)
    assert guard.traces[0].generation.prompt.startswith("Use this:")


def test_a_model_that_cannot_be_recorded_breaks_no_block(caplog):
    class Odd:
        """Has neither a configuration nor weights."""

    class HuggingFacePipeline(ScriptedLLM):
        pipeline: object = SimpleNamespace(model=Odd(), tokenizer=object())

    model, guard = HuggingFacePipeline(), ScriptedGuard()
    with capture(model) as done:
        answer = model.invoke(question(3))
    done.check(guard, question(3), answer)
    assert guard.traces[0].generation.text == answer
    assert "tokens of Odd are not captured" in caplog.text


def test_tasks_keep_apart():
    guard = ScriptedGuard()

    async def one(run: int) -> str:
        with capture(MODEL) as done:
            documents = await RETRIEVER.ainvoke(question(run))
            prompt = TEMPLATE.format(context=format_docs(documents), question=question(run))
            answer = await MODEL.ainvoke(prompt)
        return (await done.acheck(guard, question(run), answer)).text

    async def all_runs():
        return await asyncio.gather(*(one(run) for run in range(40)))

    assert asyncio.run(all_runs()) == [expected(run) for run in range(40)]


def test_of_nested_blocks_each_has_what_happens_inside():
    """A helper may check its own answer, from which the outer one is made."""
    guard = ScriptedGuard()
    with capture() as done:
        first = [plain_rag(run, guard) for run in (3, 4)]
        documents = RETRIEVER.invoke(question(5))
        answer = MODEL.invoke(f"{first} {format_docs(documents)}")
    done.check(guard, question(5), answer)
    third, fourth, outer = [[passage.id for passage in t.passages] for t in guard.traces]
    assert (third, fourth) == (["3-tall", "3-old"], ["4-tall", "4-old"])
    assert outer == [*third, *fourth, "5-tall", "5-old"]


def test_nothing_is_captured_outside():
    guard = ScriptedGuard()
    with capture() as done:
        pass
    MODEL.invoke("run 5")
    done.check(guard, "What?", said("run 5"))
    assert guard.traces[0].generation.prompt is None
    assert guard.traces[0].passages == ()


def test_tokens_of_a_local_model_are_captured(pipe, smollm2):
    guard = ScriptedGuard()
    with capture(pipe) as done:
        documents = Karsk().invoke(ASKED)
        answer = pipe.invoke(TEMPLATE.format(context=format_docs(documents), question=ASKED))
    done.check(guard, ASKED, answer)
    assert_captured(guard.traces[0], smollm2)


class State(TypedDict, total=False):
    question: str
    context: list[Document]
    answer: Any
    franq: dict[str, Any]


def retrieve(state: State) -> dict[str, Any]:
    return {"context": RETRIEVER.invoke(state["question"])}


def writer(model):
    def write(state: State) -> dict[str, Any]:
        context = format_docs(state["context"])
        prompt = TEMPLATE.format(context=context, question=state["question"])
        return {"answer": model.invoke(prompt)}

    return write


def graph(*checking):
    """retrieve, then the given nodes one after the other; the first is named as its function."""
    built = StateGraph(State)
    built.add_node("retrieve", retrieve)
    built.add_edge(START, "retrieve")
    before = "retrieve"
    for name, node in zip(("write", "check"), checking, strict=False):
        built.add_node(name, node)
        built.add_edge(before, name)
        before = name
    built.add_edge(before, END)
    return built.compile()


@pytest.mark.parametrize("model", [ScriptedLLM(), ScriptedChat()])
@pytest.mark.parametrize("around", [True, False])
def test_a_node_replaces_the_answer_and_reports(model, around):
    guard, write = ScriptedGuard(), writer(model)
    built = graph(guard_node(guard, write)) if around else graph(write, guard_node(guard))
    value = {"question": question(4)}
    for state in (built.invoke(value), asyncio.run(built.ainvoke(value))):
        answer = state["answer"]
        assert (answer if isinstance(answer, str) else answer.text) == expected(4)
        assert state["franq"]["schema"] == "franq.answer/1"
        assert state["question"] == question(4)
    assert (guard.traces[0].generation.prompt is not None) == around


@pytest.mark.parametrize("mode", ["messages", "updates", "values", "debug"])
@pytest.mark.parametrize("model", [ScriptedLLM(), ScriptedChat()])
def test_around_the_writer_nothing_raw_leaves(mode, model):
    built = graph(guard_node(ScriptedGuard(), writer(model)))
    value = {"question": question(4)}

    async def streamed():
        return [chunk async for chunk in built.astream(value, stream_mode=mode)]

    for chunks in (list(built.stream(value, stream_mode=mode)), asyncio.run(streamed())):
        shown = [text for text in texts_in(chunks) if "It has" in text]
        assert set(shown) <= {expected(4)}
        assert shown or (mode == "messages" and isinstance(model, ScriptedLLM))


def test_many_graph_runs_keep_apart():
    built = graph(guard_node(ScriptedGuard(), writer(ScriptedLLM())))

    async def all_runs():
        return await asyncio.gather(*(built.ainvoke({"question": question(i)}) for i in range(50)))

    answers = [state["answer"] for state in asyncio.run(all_runs())]
    assert answers == [expected(i) for i in range(50)]


def test_a_graph_with_a_local_model_finds_its_tokens(pipe, smollm2):
    guard = ScriptedGuard()
    node = guard_node(guard, model=pipe)
    documents = [Document(PASSAGES[0].text)]
    answer = pipe.invoke(TEMPLATE.format(context=PASSAGES[0].text, question=ASKED))
    node.invoke({"question": ASKED, "context": documents, "answer": answer})
    assert_captured(guard.traces[0], smollm2)
    # The same text to another question is not taken for this one's.
    node.invoke({"question": "Who?", "context": documents, "answer": answer})
    assert guard.traces[1].generation.source == "none"


def test_messages_are_replaced_in_place():
    class Messages(TypedDict):
        messages: Annotated[list, add_messages]

    guard = ScriptedGuard()
    built = StateGraph(Messages)
    built.add_node("check", guard_node(guard))
    built.add_edge(START, "check")
    built.add_edge("check", END)
    found = ToolMessage("The tower is tall.", tool_call_id="1")
    given = [HumanMessage("How tall?"), found, AIMessage("Tall.", id="a")]
    output = built.compile().invoke({"messages": given})["messages"]
    assert [m.text for m in output] == ["How tall?", "The tower is tall.", "Tall. [checked: ]"]
    assert output[-1].id == "a"
    assert [p.text for p in guard.traces[0].passages] == ["The tower is tall."]
    assert guard.traces[0].question == "How tall?"


def test_a_node_can_stop_the_answer():
    guard = ScriptedGuard(label="doubtful")
    built = graph(guard_node(guard, writer(ScriptedLLM()), raise_on=("doubtful", "false")))
    with pytest.raises(FactualityError):
        built.invoke({"question": question(4)})


def test_a_state_without_an_answer_is_refused():
    with pytest.raises(KeyError, match="answer"):
        guard_node(ScriptedGuard()).invoke({"question": "Why?"})


def test_a_writer_of_messages_with_a_local_model(pipe, smollm2):
    guard = ScriptedGuard()

    def write(state):
        prompt = TEMPLATE.format(context=format_docs(state["context"]), question=state["question"])
        return {"answer": pipe.invoke(prompt)}

    node = guard_node(guard, write)
    given = {"question": ASKED, "context": [Document(PASSAGES[0].text)]}
    update = node.invoke(given)
    assert set(update) == {"answer", "franq"}
    assert_captured(guard.traces[0], smollm2)
