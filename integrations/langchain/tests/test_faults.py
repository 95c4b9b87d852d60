"""Retrievers of every kind, caches, exceptions: a status in the result, never a broken chain."""

from __future__ import annotations

import asyncio

import pytest
from langchain_classic.chains import create_history_aware_retriever
from langchain_classic.retrievers import ContextualCompressionRetriever, MultiQueryRetriever
from langchain_core.caches import InMemoryCache
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_huggingface import ChatHuggingFace

from langchain_franq import guard_chain

from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    expected,
    format_docs,
    lcel,
    question,
    said,
)
from .test_chain_shapes import retrieval_chain


class KeepFirst(BaseDocumentCompressor):
    def compress_documents(self, documents, query, callbacks=None):
        return list(documents)[:1]


def titles(guard):
    return [passage.id for passage in guard.traces[0].passages]


def test_of_nested_retrievers_the_outermost_is_the_evidence():
    guard = ScriptedGuard()
    retriever = ContextualCompressionRetriever(
        base_compressor=KeepFirst(), base_retriever=RunRetriever()
    )
    guard_chain(lcel(ScriptedLLM(), retriever), guard).invoke(question(1))
    assert titles(guard) == ["1-tall"]


def test_a_query_rewriting_model_does_not_write_the_answer():
    guard = ScriptedGuard()
    rewriter = ScriptedLLM()
    retriever = MultiQueryRetriever.from_llm(RunRetriever(), rewriter)
    guard_chain(lcel(ScriptedLLM(), retriever), guard).invoke(question(1))
    assert rewriter.sizes == [1]
    assert guard.traces[0].generation.prompt.startswith("Use this:")
    assert titles(guard) == ["1-tall", "1-old"]


def test_documents_that_the_chain_dropped_are_no_evidence():
    guard = ScriptedGuard()
    kept = RunRetriever() | RunnableLambda(lambda docs: docs[1:])
    guard_chain(lcel(ScriptedLLM(), kept), guard).invoke(question(1))
    assert titles(guard) == ["1-old"]


def test_two_retrievers_side_by_side_are_both_evidence():
    guard = ScriptedGuard()
    other = RunnableLambda(lambda q: f"{q} and the tower of run 12") | RunRetriever()
    both = RunnableParallel(a=RunRetriever(), b=other) | (lambda found: found["a"] + found["b"])
    guard_chain(lcel(ScriptedLLM(), both), guard).invoke("How tall is it?")
    # which of the two threads ends first is not certain
    assert sorted(titles(guard)) == ["12-old", "12-tall", "none-old", "none-tall"]


def test_documents_without_a_retriever_come_from_the_output():
    guard = ScriptedGuard()
    chain = RunnableLambda(lambda q: {"answer": "Yes.", "context": [Document("It is so.")]})
    guard_chain(chain, guard).invoke("Is it?")
    assert [p.text for p in guard.traces[0].passages] == ["It is so."]
    # ... and in a stream they have already passed when the answer is checked.
    guard_chain(chain, guard).invoke("Is it?")
    assert [p.text for p in guard.traces[1].passages] == ["It is so."]


def test_no_retrieval_at_all_gives_no_passages():
    guard = ScriptedGuard()
    guard_chain(ScriptedLLM() | str, guard).invoke("What?")
    assert guard.traces[0].passages == ()


def test_an_answer_from_the_cache_has_no_prompt_and_is_still_checked():
    guard = ScriptedGuard()
    chain = guard_chain(lcel(ScriptedLLM(cache=InMemoryCache())), guard)
    assert chain.invoke(question(1)) == chain.invoke(question(1)) == expected(1)
    fresh, cached = guard.traces
    assert fresh.generation.prompt is not None
    assert cached.generation.prompt is None
    assert cached.passages == fresh.passages


def test_a_cached_chat_answer_keeps_its_messages():
    guard = ScriptedGuard()
    chain = guard_chain(lcel(ScriptedChat(cache=InMemoryCache())), guard)
    assert chain.invoke(question(1)) == chain.invoke(question(1)) == expected(1)
    assert guard.traces[0].generation == guard.traces[1].generation


def boom(_):
    raise LookupError("the index is gone")


def test_exceptions_of_the_chain_reach_the_caller_unchanged():
    chain = guard_chain(RunnableLambda(boom), ScriptedGuard())
    ways = [
        lambda: chain.invoke("x"),
        lambda: asyncio.run(chain.ainvoke("x")),
        lambda: chain.batch(["x"]),
        lambda: asyncio.run(chain.abatch(["x"])),
        lambda: list(chain.stream("x")),
    ]
    for way in ways:
        with pytest.raises(LookupError, match="the index is gone"):
            way()


def test_a_batch_keeps_exceptions_where_they_happened():
    def some(text):
        return boom(text) if text == "b" else f"{text}!"

    chain = guard_chain(RunnableLambda(some), ScriptedGuard())
    first, second, third = chain.batch(["a", "b", "c"], return_exceptions=True)
    assert (first, third) == ("a! [checked: ]", "c! [checked: ]")
    assert isinstance(second, LookupError)


def test_a_failing_capture_becomes_an_unverified_answer(monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("no room for the trace")

    monkeypatch.setattr("langchain_franq._call.job_of", broken)
    chain = guard_chain(retrieval_chain(), ScriptedGuard())
    value = {"input": question(1)}
    for output in (chain.invoke(value), chain.batch([value])[0], asyncio.run(chain.ainvoke(value))):
        assert output["answer"] == f"{said('run 1')} [unverified]"
        assert output["franq"]["status"] == "unverified"


def test_models_that_the_guard_calls_are_not_taken_for_the_chain():
    judge = ScriptedLLM()

    class Judging(ScriptedGuard):
        def check_trace(self, trace):
            judge.invoke("run 99")
            return super().check_trace(trace)

    inner, outer = Judging(), ScriptedGuard()
    guard_chain(guard_chain(lcel(ScriptedLLM()), inner), outer).invoke(question(1))
    assert outer.traces[0].generation.prompt.startswith("Use this:")
    assert "run 99" not in format_docs([Document(outer.traces[0].generation.prompt)])


def test_what_on_report_raises_reaches_the_caller():
    class Rejected(Exception):
        pass

    def report(answer):
        raise Rejected(answer.status)

    chain = guard_chain(lcel(ScriptedLLM()), ScriptedGuard(), on_report=report)
    with pytest.raises(Rejected, match="ok"):
        chain.invoke(question(1))
    assert chain.with_fallbacks([RunnableLambda(lambda _: "other")]).invoke(question(1)) == "other"


def test_a_history_aware_chain_is_checked_against_what_the_rewritten_question_found():
    rewrite = ChatPromptTemplate.from_messages(
        [("placeholder", "{chat_history}"), ("human", "{input}"), ("human", "Rewrite for run 8.")]
    )
    retriever = create_history_aware_retriever(ScriptedChat(), RunRetriever(), rewrite)
    guard = ScriptedGuard()
    chain = guard_chain(retrieval_chain(retriever=retriever), guard)
    history = [HumanMessage("Hello"), AIMessage("Good day")]
    output = chain.invoke({"input": "How tall is it?", "chat_history": history})
    assert output["answer"] == expected(8)
    assert guard.traces[0].question == "How tall is it?"
    assert "Use this:" in guard.traces[0].generation.prompt


def test_a_chat_model_without_async_says_so_itself(pipe, smollm2):
    chat = ChatHuggingFace(llm=pipe, tokenizer=smollm2.tokenizer)
    chain = guard_chain(lcel(chat), ScriptedGuard())
    with pytest.raises(NotImplementedError, match="async generation is not supported"):
        asyncio.run(chain.ainvoke(question(1)))


def test_retries_and_fallbacks_inside_the_chain():
    guard, calls = ScriptedGuard(), []

    class Flaky(ScriptedLLM):
        def _generate(self, prompts, *args, **kwargs):
            calls.append(prompts)
            if len(calls) < 3:
                raise ConnectionError("busy")
            return super()._generate(prompts, *args, **kwargs)

    retried = lcel(Flaky()).with_retry(
        retry_if_exception_type=(ConnectionError,), wait_exponential_jitter=False
    )
    assert guard_chain(retried, guard).invoke(question(1)) == expected(1)
    calls.clear()
    fallback = lcel(Flaky().with_fallbacks([ScriptedLLM()]))
    assert guard_chain(fallback, guard).invoke(question(1)) == expected(1)
    assert all(t.generation.prompt.startswith("Use this:") for t in guard.traces)


def test_a_cached_answer_of_a_local_model_is_recalled_with_its_tokens(smollm2):
    from langchain_franq.local import pipeline_of

    llm = pipeline_of(smollm2, max_new_tokens=6)
    llm.cache = InMemoryCache()
    guard = ScriptedGuard()
    chain = guard_chain(lcel(llm), guard)
    asked = "Who saw the tower of run 6 first of all?"
    chain.invoke(asked)
    chain.invoke(asked)
    fresh, cached = guard.traces
    assert cached.generation == fresh.generation
    assert cached.generation.source == "captured"


def test_a_remote_chat_models_answer_needs_no_language_model():
    """The passages alone decide on it, so a model that cannot be loaded does no harm."""
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness

    def unloadable():
        raise OSError("the disk is full")

    reports = []
    guard = Guard(faithfulness=FakeFaithfulness(), language_model=unloadable)
    guard_chain(lcel(ScriptedChat()), guard, on_report=reports.append).invoke(question(1))
    (report,) = reports
    assert report.status == "ok"
    assert report.likelihoods == "none"
