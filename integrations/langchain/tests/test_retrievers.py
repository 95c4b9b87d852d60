"""Retrievers around retrievers, and Runnables around guarded chains."""

from __future__ import annotations

import asyncio
import json
import re
from operator import itemgetter

import pytest
from langchain.agents import create_agent
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
    RePhraseQueryRetriever,
)
from langchain_classic.retrievers.document_compressors import LLMChainExtractor
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import (
    ConfigurableField,
    RunnableBranch,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.tools import create_retriever_tool

from langchain_franq import FranqMiddleware, guard_chain, guard_node

from .fakes import (
    TEMPLATE,
    RunRetriever,
    ScriptedAgent,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    expected,
    format_docs,
    lcel,
    question,
    said,
)
from .surfaces import WAYS, Surface, chain, graph, run_once


class Rank(BaseDocumentCompressor):
    """The last document first, and only that one."""

    def compress_documents(self, documents, query, callbacks=None):
        return list(documents)[-1:]


class Extracting(ScriptedLLM):
    """Keeps a part of a document, or answers the question instead, as small models do."""

    instead: str = ""

    def _generate(self, prompts, stop=None, run_manager=None, **kwargs):
        found = super()._generate(prompts)
        for (made,), prompt in zip(found.generations, prompts, strict=True):
            made.text = self.instead or re.findall(r"tower of run \d+ .*(?=\.)", prompt)[-1]
        return found


INVENTED = "The tower of run 7 is the tallest of Rome."


class Rephrasing(ScriptedLLM):
    def _generate(self, prompts, stop=None, run_manager=None, **kwargs):
        found = super()._generate(prompts)
        found.generations[0][0].text = question(7)
        return found


def compressing(compressor):
    return ContextualCompressionRetriever(base_compressor=compressor, base_retriever=RunRetriever())


BOTH = ["7-tall", "7-old"]
KINDS = {
    "plain": (RunRetriever, BOTH),
    "re-ranking": (lambda: compressing(Rank()), ["7-old"]),
    "re-ranking twice": (
        lambda: ContextualCompressionRetriever(
            base_compressor=Rank(), base_retriever=compressing(Rank())
        ),
        ["7-old"],
    ),
    "compressing": (lambda: compressing(LLMChainExtractor.from_llm(Extracting())), BOTH),
    "inventing": (
        lambda: compressing(LLMChainExtractor.from_llm(Extracting(instead=INVENTED))),
        BOTH,
    ),
    "multi-query": (lambda: MultiQueryRetriever.from_llm(RunRetriever(), ScriptedLLM()), BOTH),
    "rephrasing": (lambda: RePhraseQueryRetriever.from_llm(RunRetriever(), Rephrasing()), BOTH),
    "ensemble": (
        lambda: EnsembleRetriever(retrievers=[RunRetriever(), compressing(Rank())], id_key="id"),
        ["7-old", "7-tall"],
    ),
    "merging": (lambda: MergerRetriever(retrievers=[RunRetriever(), RunRetriever()]), BOTH),
    "with retries": (lambda: RunRetriever().with_retry(), BOTH),
    "with fallbacks": (lambda: Failing().with_fallbacks([RunRetriever()]), BOTH),
}


class Failing(RunRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        raise ConnectionError("the index is busy")


SYNC = ("threads", "batch", "stream")  # LangChain's rephrasing retriever has no async form


@pytest.mark.parametrize(
    ("kind", "way"), [(k, w) for k in KINDS for w in WAYS if k != "rephrasing" or w in SYNC]
)
def test_the_outermost_retriever_says_what_is_evidence(kind, way):
    guard = ScriptedGuard()
    make, ids = KINDS[kind]
    run_once(chain(guard, retriever=make()), way, question(7))
    (trace,) = guard.traces
    assert [passage.id for passage in trace.passages] == ids
    texts = [passage.text for passage in trace.passages]
    if kind == "compressing":
        assert texts == ["tower of run 7 is tall", "tower of run 7 long ago"]
    if kind == "inventing":
        assert texts == [d.page_content for d in RunRetriever().invoke("run 7")]
    assert trace.generation.prompt.startswith("Use this:")
    assert trace.question == question(7)


@pytest.mark.parametrize("way", WAYS)
def test_a_retriever_in_a_graph_is_re_ranked_evidence_too(way):
    guard = ScriptedGuard()
    run_once(graph(guard, retriever=compressing(Rank())), way, question(7))
    assert [p.id for p in guard.traces[0].passages] == ["7-old"]


def searched_by_an_agent(guard, retriever):
    tool = create_retriever_tool(retriever, "search", "Finds towers.")
    agent = create_agent(ScriptedAgent(), [tool], middleware=[FranqMiddleware(guard)])
    agent.invoke({"messages": [HumanMessage(question(7))]})


def searched_by_a_node(guard, retriever):
    def write(state):
        found = retriever.invoke(state["question"])
        return {"documents": found, "answer": ScriptedLLM().invoke(format_docs(found))}

    guard_node(guard, write).invoke({"question": question(7)})


@pytest.mark.parametrize("search", [searched_by_an_agent, searched_by_a_node])
def test_what_a_retrievers_model_invented_is_no_evidence_for_agents_and_nodes(search):
    search(
        guard := ScriptedGuard(),
        compressing(LLMChainExtractor.from_llm(Extracting(instead=INVENTED))),
    )
    originals = [d.page_content for d in RunRetriever().invoke("run 7")]
    assert [p.text for p in guard.traces[-1].passages] == originals


def test_a_guess_at_the_answer_that_was_searched_with_blanks_no_document():
    """The model's guess is the first sentence of a document, which it had not seen."""
    guess = "The archive says that the tower of run 7 is tall."

    class Guessing(RunRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            inside = {"callbacks": run_manager.get_child()}
            query = Extracting(instead=guess).invoke(f"Guess: {query} tower of run 7 .", inside)
            found = super()._get_relevant_documents(query, run_manager=run_manager)
            told = f"{guess} It was finished in the spring, after masons had worked for years."
            return [Document(told), *found[1:]]

    chain(guard := ScriptedGuard(), retriever=Guessing()).invoke(question(7))
    assert guard.traces[0].passages[0].text.startswith(guess)


class Reading(ScriptedChat):
    """Summarises each document; one summary copies its document, the other does not."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        prompt = messages[0].text
        if not prompt.startswith("Sum up: "):
            return super()._generate(messages)
        old = prompt.startswith("Sum up: Old")
        text = "Its masons started ages ago, letters tell." if old else prompt[len("Sum up: ") :]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        text = self._generate(messages).generations[0].text
        yield ChatGenerationChunk(message=AIMessageChunk(text))


@pytest.mark.parametrize("way", WAYS)
def test_the_documents_behind_summaries_of_them_are_evidence(way):
    each = PromptTemplate.from_template("Sum up: {text}") | Reading() | StrOutputParser()
    listed = RunnableLambda(lambda found: [{"text": d.page_content} for d in found])
    summaries = RunRetriever() | listed | each.map() | "\n".join
    inputs = {"context": summaries, "question": RunnablePassthrough()}
    answered = inputs | PromptTemplate.from_template(TEMPLATE) | Reading() | StrOutputParser()
    guard = ScriptedGuard()
    run_once(Surface(guard_chain(answered, guard)), way, question(7))
    assert [passage.id for passage in guard.traces[0].passages] == BOTH


WRAPPED = {
    "parallel": lambda c: RunnableParallel(a=c, b=c) | itemgetter("b"),
    "configured": lambda c: c.with_config(tags=["t"], run_name="rag"),
    "retried": lambda c: c.with_retry(),
    "fallback": lambda c: RunnableLambda(_fails).with_fallbacks([c]),
    "branch": lambda c: RunnableBranch((lambda _: False, _fails), c),
    "assigned": lambda c: (
        RunnableLambda(lambda q: {"q": q})
        | RunnablePassthrough.assign(said=itemgetter("q") | c)
        | itemgetter("said")
    ),
    "each": lambda c: RunnableLambda(lambda q: [q]) | c.map() | itemgetter(0),
    "typed": lambda c: c.with_types(input_type=str),
    "listened to": lambda c: c.with_listeners(on_end=lambda run: None),
    "returned": lambda c: RunnableLambda(lambda _: c),
}


def _fails(_):
    raise ConnectionError("busy")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", WRAPPED)
def test_a_guarded_chain_composes_like_any_runnable(kind, way):
    # A chat model: LangChain's own batch of a plain LLM in map() under max_concurrency has no end.
    inner = guard_chain(lcel(ScriptedChat()), ScriptedGuard())
    assert run_once(Surface(WRAPPED[kind](inner)), way, question(7)) == expected(7)


def test_configuration_reaches_the_chain_inside():
    seen = []
    model = ScriptedLLM().configurable_alternatives(
        ConfigurableField(id="llm"), default_key="plain", echo=ScriptedLLM(echo=True)
    )
    inner = lcel(
        model, RunRetriever() | RunnableLambda(lambda docs, config: _seen(seen, docs, config))
    )
    guarded = guard_chain(inner, ScriptedGuard())
    assert {spec.id for spec in guarded.config_specs} == {"llm"}
    config = {"tags": ["mine"], "metadata": {"user": 3}, "configurable": {"llm": "echo"}}
    for output in (
        guarded.invoke(question(7), config),
        asyncio.run(guarded.ainvoke(question(7), config)),
    ):
        assert output.startswith("Use this:")
        assert output.endswith(expected(7))
    assert guarded.with_config(config).invoke(question(7)).endswith(expected(7))
    assert all("mine" in tags and user == 3 for tags, user in seen)


def _seen(seen, docs, config):
    seen.append((config["tags"], config["metadata"]["user"]))
    return docs


def test_it_is_drawn_described_and_written_down_like_the_chain_inside():
    inner = PromptTemplate.from_template("{q}") | ScriptedLLM() | StrOutputParser()
    guarded = guard_chain(inner, ScriptedGuard())
    assert guarded.get_graph().draw_mermaid() == inner.get_graph().draw_mermaid()
    assert guarded.get_prompts() == inner.get_prompts()
    schemas = [
        (c.get_input_jsonschema(), c.get_output_jsonschema(), c.get_config_jsonschema())
        for c in (guarded, inner)
    ]
    assert schemas[0] == schemas[1]
    assert (guarded.InputType, guarded.name or guarded.get_name()) == (
        inner.InputType,
        inner.get_name(),
    )
    written = json.loads(dumps(guarded))
    assert written["id"] == ["langchain_franq", "chain", "GuardedChain"]
    assert written["kwargs"]["bound"] == json.loads(dumps(inner))
    assert written["kwargs"]["guard"]["type"] == "not_implemented"


@pytest.mark.parametrize("way", WAYS)
def test_a_guard_within_a_guard_checks_what_the_inner_one_let_out(way):
    inner, outer = ScriptedGuard(), ScriptedGuard()
    both = guard_chain(guard_chain(lcel(ScriptedChat()), inner), outer)
    assert run_once(Surface(both), way, question(7)) == f"{expected(7)} [checked: Tower 7,Tower 7]"
    assert inner.traces[0].generation.text == said("run 7")
    assert outer.traces[0].generation.text == expected(7)
    assert [p.id for p in outer.traces[0].passages] == BOTH
