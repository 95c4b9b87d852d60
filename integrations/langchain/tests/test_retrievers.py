"""Retrievers around retrievers, and Runnables around guarded chains."""

from __future__ import annotations

import asyncio
import json
from operator import itemgetter

import pytest
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
    RePhraseQueryRetriever,
)
from langchain_classic.retrievers.document_compressors import LLMChainExtractor
from langchain_core.documents import BaseDocumentCompressor
from langchain_core.load import dumps
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import (
    ConfigurableField,
    RunnableBranch,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)

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
from .surfaces import WAYS, Surface, chain, graph, run_once


class Rank(BaseDocumentCompressor):
    """The last document first, and only that one."""

    def compress_documents(self, documents, query, callbacks=None):
        return list(documents)[-1:]


class Extracting(ScriptedLLM):
    """Keeps one sentence of a document."""

    def _generate(self, prompts, stop=None, run_manager=None, **kwargs):
        found = super()._generate(prompts)
        for (made,) in found.generations:
            made.text = "An extract that only the compressor knows of run 7."
        return found


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
    # Both documents become the same extract: it counts once.
    "compressing": (lambda: compressing(LLMChainExtractor.from_llm(Extracting())), ["7-tall"]),
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
    if kind == "compressing":
        assert {p.text for p in trace.passages} == {
            "An extract that only the compressor knows of run 7."
        }
    assert trace.generation.prompt.startswith("Use this:")
    assert trace.question == question(7)


@pytest.mark.parametrize("way", WAYS)
def test_a_retriever_in_a_graph_is_re_ranked_evidence_too(way):
    guard = ScriptedGuard()
    run_once(graph(guard, retriever=compressing(Rank())), way, question(7))
    assert [p.id for p in guard.traces[0].passages] == ["7-old"]


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
