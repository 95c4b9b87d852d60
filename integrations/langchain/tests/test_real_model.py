"""The main path with the bundled SmolLM2: its own tokens are captured in every kind of chain."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import (
    ConfigurableField,
    RunnableBranch,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.tools import tool
from langchain_huggingface import ChatHuggingFace, HuggingFacePipeline

from franq_guard import Guard, Passage
from franq_guard.calibration import Calibrator
from franq_guard.testing import FakeFaithfulness
from langchain_franq import guard_chain, guard_node
from langchain_franq._find import local_models
from langchain_franq.local import BM25PassageRetriever, guarded_local_rag, local_rag_chain

from .fakes import RunRetriever, ScriptedChat, ScriptedGuard, ScriptedLLM, lcel
from .test_chain_shapes import retrieval_chain

ASKED = "How old is the Karsk bridge?"
PASSAGES = [
    Passage("The Karsk bridge was built of oak in 1903.", title="Karsk bridge", id="karsk"),
    Passage("Seals sleep under water for twenty minutes.", title="Seals", id="seals"),
]


class Karsk(RunRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(PASSAGES[0].text, metadata={"title": PASSAGES[0].title})]


def assert_captured(trace, model):
    """Tokens of this very model that tile the answer, with the probabilities a re-read gives."""
    given = trace.generation
    assert given.source == "captured"
    assert "".join(given.text[t.start : t.end] for t in given.tokens) == given.text
    (again,) = model.score([given.prompt_token_ids], [given])
    for captured, scored in zip(given.tokens, again.tokens, strict=True):
        assert captured.logprob == pytest.approx(scored.logprob, abs=1e-4)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch", "stream", "astream"])
def test_lcel_with_a_pipeline(pipe, smollm2, way):
    guard = ScriptedGuard()
    chain = guard_chain(lcel(pipe, Karsk()), guard)

    async def streamed():
        return "".join([chunk async for chunk in chain.astream(ASKED)])

    output = {
        "invoke": lambda: chain.invoke(ASKED),
        "ainvoke": lambda: asyncio.run(chain.ainvoke(ASKED)),
        "batch": lambda: chain.batch([ASKED])[0],
        "stream": lambda: "".join(chain.stream(ASKED)),
        "astream": lambda: asyncio.run(streamed()),
    }[way]()
    (trace,) = guard.traces
    assert_captured(trace, smollm2)
    assert output == f"{trace.generation.text} [checked: Karsk bridge]"
    (own,) = chain.models
    assert own.guard.language_model.model is smollm2.model


def test_a_batch_of_three_prompts(pipe, smollm2):
    guard = ScriptedGuard()
    chain = guard_chain(lcel(pipe), guard)
    asked = [f"Who built the tower of run {i}?" for i in range(3)]
    chain.batch(asked)
    for i, trace in enumerate(guard.traces):
        assert trace.question == asked[i]
        assert f"run {i} is tall" in trace.generation.prompt
        assert_captured(trace, smollm2)


def test_a_pipeline_that_repeats_the_prompt(smollm2):
    from transformers import pipeline

    made = pipeline(
        "text-generation",
        model=smollm2.model,
        tokenizer=smollm2.tokenizer,
        max_new_tokens=6,
        do_sample=False,
    )
    guard = ScriptedGuard()
    chain = guard_chain(lcel(HuggingFacePipeline(pipeline=made), Karsk()), guard)
    output = chain.invoke(ASKED)
    (trace,) = guard.traces
    assert_captured(trace, smollm2)
    assert not trace.generation.text.startswith("Use this")
    assert output == f"{trace.generation.prompt}{trace.generation.text} [checked: Karsk bridge]"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_chat_model_in_a_retrieval_chain(pipe, smollm2, streamed):
    chat = ChatHuggingFace(llm=pipe, tokenizer=smollm2.tokenizer)
    guard = ScriptedGuard()
    chain = guard_chain(retrieval_chain(chat), guard)
    value = {"input": "Who built the tower of run 4?"}
    output = list(chain.stream(value))[-1] if streamed else chain.invoke(value)
    (trace,) = guard.traces
    assert_captured(trace, smollm2)
    assert trace.generation.prompt.startswith("<|im_start|>system")
    assert output["answer"].startswith(trace.generation.text)


def test_eight_runs_at_once(pipe, smollm2):
    guard = ScriptedGuard()
    chain = guard_chain(lcel(pipe), guard)
    asked = [f"Who built the tower of run {i}?" for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(chain.invoke, asked))
    of = {trace.question: trace for trace in guard.traces}
    for i, (question, output) in enumerate(zip(asked, outputs, strict=True)):
        assert output == f"{of[question].generation.text} [checked: Tower {i},Tower {i}]"
        assert f"run {i} is tall" in of[question].generation.prompt
        assert_captured(of[question], smollm2)


def test_the_local_chain_answers_and_is_checked(smollm2):
    guard = Guard(
        language_model=smollm2, faithfulness=FakeFaithfulness(), franq=Calibrator.uncalibrated()
    )
    ask = guarded_local_rag(PASSAGES, guard, k=1, max_new_tokens=16)
    done = ask(ASKED)
    assert [p.id for p in done.passages] == ["karsk"]
    assert done.answer.status == "ok"
    (verdict, *_) = done.answer.verdicts
    assert verdict.p_true is not None
    assert verdict.raw["uq_faith"] < 0
    assert done.answer.likelihoods == f"captured from {smollm2.fingerprint}"


def test_the_local_chain_keeps_the_guard_and_its_calibrator(smollm2):
    guard = Guard(language_model=smollm2, faithfulness=FakeFaithfulness())
    chain = guard_chain(local_rag_chain(PASSAGES, smollm2), guard)
    assert chain.models[0].guard is guard


def test_a_local_chain_needs_a_local_model():
    guard = Guard(faithfulness=FakeFaithfulness())
    with pytest.raises(ValueError, match=r"Guard\.offline"):
        guarded_local_rag(PASSAGES, guard)
    with pytest.raises(ValueError, match="at least one text"):
        BM25PassageRetriever(passages=[])


@pytest.mark.parametrize(
    ("query", "ids"),
    [("When was the bridge built?", ["karsk"]), ("seals", ["seals"]), ("xyz", []), ("?", [])],
)
def test_bm25_returns_passages_that_share_words(query, ids):
    retriever = BM25PassageRetriever(passages=PASSAGES, k=1)
    assert [document.id for document in retriever.invoke(query)] == ids


def test_bm25_survives_passages_without_words():
    retriever = BM25PassageRetriever(passages=[Passage("..."), Passage("")])
    assert retriever.invoke("anything") == []


@pytest.fixture(scope="module")
def places(pipe, smollm2):
    """The model in every place of a chain where it may sit."""
    chat = ChatHuggingFace(llm=pipe, tokenizer=smollm2.tokenizer)
    scripted = ScriptedLLM()

    def closed_over(text):
        return pipe.invoke(text)

    class App:
        def __init__(self):
            self.llm = pipe

        def write(self, text):
            return self.llm.invoke(text)

    def graph(node):
        from langgraph.graph import END, START, StateGraph

        built = StateGraph(dict)
        built.add_node("write", node)
        built.add_edge(START, "write")
        built.add_edge("write", END)
        return built.compile()

    return {
        "alone": pipe,
        "sequence": lcel(pipe),
        "chat": lcel(chat),
        "parallel": RunnableParallel(a=pipe, b=pipe),
        "binding": pipe.bind(stop=["x"]).with_config(tags=["y"]),
        "branch": RunnableBranch((lambda x: True, pipe), scripted),
        "fallback": scripted.with_fallbacks([pipe]),
        "retry": pipe.with_retry(),
        "assign": RunnablePassthrough.assign(answer=pipe),
        "each": pipe.map(),
        "retrieval chain": retrieval_chain(chat),
        "closure": RunnableLambda(closed_over),
        "alternatives": scripted.configurable_alternatives(ConfigurableField(id="llm"), local=pipe),
        "guarded": guard_chain(lcel(pipe), ScriptedGuard()),
        "method": RunnableLambda(App().write),
        "graph": graph(RunnableLambda(closed_over)),
        "function in a graph": graph(closed_over),
        "method in a graph": graph(App().write),
        "guarded node": graph(guard_node(ScriptedGuard(), closed_over)),
        "tool": tool(closed_over, description="Writes."),
    }


def test_the_model_is_found_wherever_it_sits(places, smollm2):
    for place, chain in places.items():
        found = [model for model, _ in local_models(chain)]
        assert found == [smollm2.model], place


def test_chains_without_a_local_model_have_none():
    assert local_models(lcel(ScriptedChat())) == []
    assert local_models(ChatPromptTemplate.from_template("{x}")) == []


def test_a_model_that_cannot_be_recorded_is_left_to_the_guards_own(caplog):
    class Odd:
        """Has neither a configuration nor weights."""

    class HuggingFacePipeline(ScriptedLLM):
        pipeline: object = SimpleNamespace(model=Odd(), tokenizer=object())

    guard = ScriptedGuard()
    chain = guard_chain(lcel(HuggingFacePipeline()), guard)
    assert chain.models == []
    assert "tokens of Odd are not captured" in caplog.text
    assert chain.invoke("run 5").startswith("The tower of run 5")
