"""What a guarded chain takes and returns, for each kind of output and each way to run it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import dataclass

import pytest
from langchain_classic.chains import create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_core.documents import Document
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.base import TextAccessor
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langgraph.types import Command
from pydantic import BaseModel

from langchain_franq import guard_chain

from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    expected,
    lcel,
    question,
    said,
)


def retrieval_chain(model=None, retriever=None):
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Use this:\n{context}"), ("human", "{input}")]
    )
    stuff = create_stuff_documents_chain(model or ScriptedChat(), prompt)
    return create_retrieval_chain(retriever or RunRetriever(), stuff)


def run_all_ways(chain, value):
    """The result of each of the six ways to run; streams added up."""
    from functools import reduce

    async def streamed():
        return [chunk async for chunk in chain.astream(value)]

    return {
        "invoke": chain.invoke(value),
        "ainvoke": asyncio.run(chain.ainvoke(value)),
        "batch": chain.batch([value])[0],
        "abatch": asyncio.run(chain.abatch([value]))[0],
        "stream": reduce(lambda a, b: a + b, chain.stream(value)),
        "astream": reduce(lambda a, b: a + b, asyncio.run(streamed())),
    }


@pytest.mark.parametrize("model", [ScriptedLLM(), ScriptedChat()])
def test_a_string_chain_returns_a_checked_string_in_every_way(model):
    reports = []
    chain = guard_chain(lcel(model), ScriptedGuard(), on_report=reports.append)
    for way, output in run_all_ways(chain, question(3)).items():
        assert output == expected(3), way
    assert len(reports) == 6
    assert {report.original for report in reports} == {said("run 3")}


def test_a_message_chain_returns_a_message_with_the_report():
    chain = guard_chain(lcel(ScriptedChat(), parse=False), ScriptedGuard())
    for way, message in run_all_ways(chain, question(4)).items():
        assert isinstance(message, AIMessage), way
        assert message.content == expected(4), way
        report = message.response_metadata["franq"]
        assert report["schema"] == "franq.answer/1"
        assert report["original"] == said("run 4")


def test_a_retrieval_chain_returns_its_dict_with_one_more_key():
    guard = ScriptedGuard()
    chain = guard_chain(retrieval_chain(), guard)
    for way, output in run_all_ways(chain, {"input": question(5)}).items():
        assert set(output) == {"input", "context", "answer", "franq"}, way
        assert output["answer"] == expected(5), way
        assert output["input"] == question(5)
        assert len(output["context"]) == 2
    assert {trace.question for trace in guard.traces} == {question(5)}
    assert guard.traces[0].passages[0].id == "5-tall"


def test_the_trace_has_the_exact_prompt_the_question_and_the_run():
    guard = ScriptedGuard()
    guard_chain(lcel(ScriptedLLM()), guard).invoke(question(6), {"run_id": (run := _uuid())})
    (trace,) = guard.traces
    assert trace.question == question(6)
    assert trace.generation.prompt.startswith("Use this:\nThe archive says that the tower of run 6")
    assert trace.generation.text == said("run 6")
    assert trace.id == str(run)


def _uuid():
    from uuid import uuid4

    return uuid4()


SUMMARY = {"lc_source": "summarization"}  # of LangChain's SummarizationMiddleware


class Asked(BaseModel):
    """The state of a graph, as an object."""

    question: str
    language: str = "en"


@dataclass
class Conversation:
    messages: list[BaseMessage]
    language: str = "en"


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("Why?", None),
        ({"question": "Why?", "language": "en"}, None),
        ({"ask": "Why?", "language": "en"}, "ask"),
        ({"only": "Why?"}, None),
        ([("system", "Be kind"), ("human", "Why?")], None),
        ({"messages": [{"role": "user", "content": "Why?"}]}, None),
        (
            {"language": "en", "history": [HumanMessage("Who?")], "said": [HumanMessage("Why?")]},
            None,
        ),
        ({"only": "Why?", "chat_history": [HumanMessage("Who?")]}, None),
        ([HumanMessage("Why?"), HumanMessage("So far: ...", additional_kwargs=SUMMARY)], None),
        (HumanMessage("Why?"), None),
        (Asked(question="Why?"), None),
        (Asked(question="Who?", language="Why?"), "language"),
        (Command(update={"question": "Why?"}, resume="yes"), None),
        (Conversation([HumanMessage("Who?"), AIMessage("I."), HumanMessage("Why?")]), None),
        (ChatPromptTemplate.from_template("Why?").invoke({}), None),
    ],
)
def test_the_question_is_found_in_the_input(value, key):
    guard = ScriptedGuard()
    guard_chain(RunnableLambda(lambda _: "Because."), guard, input_key=key).invoke(value)
    assert guard.traces[0].question == "Why?"


DOCUMENTS = [Document("The tower of run 7 is tall."), Document("It has 7 steps.")]


@pytest.mark.parametrize(
    "value",
    [
        DOCUMENTS,
        ("How tall?", DOCUMENTS),
        {"input": DOCUMENTS},
        [{"page": 1}],
        [1, 2],
        b"How tall?",
    ],
)
def test_an_input_without_a_question_is_checked_all_the_same(value):
    guard, reports = ScriptedGuard(), []
    chain = RunnableLambda(lambda _: "run 7") | ScriptedLLM()
    output = guard_chain(chain, guard, on_report=reports.append).invoke(value)
    assert output == f"{said('run 7')} [checked: ]"
    assert [report.status for report in reports] == ["ok"]
    assert [trace.question for trace in guard.traces] == [""]


def test_text_accessor_stays_one():
    chain = RunnableLambda(lambda _: TextAccessor("Because."))
    output = guard_chain(chain, ScriptedGuard()).invoke("Why?")
    assert isinstance(output, TextAccessor)


def test_content_blocks_keep_what_is_not_text():
    image = {"type": "image", "url": "https://example.org/a.png"}
    note = {"type": "citation", "url": "https://example.org", "title": "A"}
    said = {"type": "text", "text": "Because.", "annotations": [{**note, "start_index": 0}]}
    chain = RunnableLambda(lambda _: AIMessage([image, said, image], id="m1"))
    message = guard_chain(chain, ScriptedGuard()).invoke("Why?")
    assert message.id == "m1"
    assert [block["type"] for block in message.content] == ["image", "text", "image"]
    assert message.content[0] == image
    assert message.content[1]["annotations"] == [note]  # where it stood is no longer known
    assert message.text == "Because. [checked: ]"


def test_an_echoed_prompt_is_put_back_and_not_checked():
    guard = ScriptedGuard()
    chain = guard_chain(lcel(ScriptedLLM(echo=True)), guard)
    output = chain.invoke(question(7))
    assert output.startswith("Use this:\n")
    assert output.endswith(expected(7))
    assert guard.traces[0].generation.text == said("run 7")


def test_a_stripped_or_cut_answer_still_belongs_to_its_run():
    guard = ScriptedGuard()
    chain = lcel(ScriptedLLM()) | (lambda text: text.split(".")[0] + ".")
    guard_chain(chain, guard).invoke(question(8))
    assert guard.traces[0].generation.text == "The tower of run 8 is tall."
    assert guard.traces[0].generation.prompt is not None


def test_step_batching_is_kept_and_answers_are_checked_together():
    model, guard = ScriptedLLM(), ScriptedGuard()
    chain = guard_chain(lcel(model), guard)
    outputs = chain.batch([question(i) for i in range(5)])
    assert outputs == [expected(i) for i in range(5)]
    assert model.sizes == [5]
    assert guard.batches == [5]


@pytest.mark.parametrize("output", [object(), [3, 4], {"answer": object()}, {"answer": [3]}])
def test_an_output_without_an_answer_does_not_pass(output):
    with pytest.raises(TypeError, match="guard_chain cannot read an answer"):
        guard_chain(RunnableLambda(lambda _: output), ScriptedGuard()).invoke("Why?")


def test_a_dict_without_the_answer_key_does_not_pass():
    chain = RunnableLambda(lambda _: {"reply": "Because."})
    with pytest.raises(KeyError, match="output_key"):
        guard_chain(chain, ScriptedGuard()).invoke("Why?")
    output = guard_chain(chain, ScriptedGuard(), output_key="reply").invoke("Why?")
    assert output["reply"] == "Because. [checked: ]"


def test_the_answer_key_of_the_classic_document_chains_is_known():
    chain = RunnableLambda(lambda _: {"input_documents": [], "output_text": "Because."})
    output = guard_chain(chain, ScriptedGuard()).invoke("Why?")
    assert output["output_text"] == "Because. [checked: ]"


def test_misuse_is_told_at_construction():
    with pytest.raises(ValueError, match=r"buffer.*tail"):
        guard_chain(lcel(ScriptedLLM()), ScriptedGuard(), stream="fast")
    with pytest.raises(TypeError, match="Runnable"):
        guard_chain(lambda x: x, ScriptedGuard())


def test_it_is_a_runnable_like_the_chain():
    inner = lcel(ScriptedLLM())
    chain = guard_chain(inner, ScriptedGuard())
    assert chain.get_name() == inner.get_name()
    assert (
        chain.get_input_schema().model_json_schema() == inner.get_input_schema().model_json_schema()
    )
    assert chain.OutputType == inner.OutputType
    assert len(chain.get_graph().nodes) == len(inner.get_graph().nodes)
    assert dumpd(chain)["id"][-1] == "GuardedChain"
    assert chain.with_config(tags=["x"]).invoke(question(1)) == expected(1)
    assert chain.with_retry().invoke(question(1)) == expected(1)
    assert chain.with_fallbacks([inner]).invoke(question(1)) == expected(1)
    assert (chain | str.upper).invoke(question(1)) == expected(1).upper()
    assert (RunnablePassthrough() | chain).invoke(question(1)) == expected(1)


def test_results_as_completed_are_checked_too():
    chain = guard_chain(lcel(ScriptedLLM()), ScriptedGuard())
    done = dict(chain.batch_as_completed([question(i) for i in range(3)]))
    assert done == {i: expected(i) for i in range(3)}


def test_importing_loads_no_model_library_and_no_agent_framework():
    heavy = "{'torch', 'transformers', 'langgraph', 'langchain', 'sklearn', 'bm25s'}"
    code = f"import langchain_franq, sys; print(sorted({heavy} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
