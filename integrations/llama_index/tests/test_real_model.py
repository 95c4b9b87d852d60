"""The main path with the bundled SmolLM2: its own tokens are captured in every kind of engine."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import TextNode
from llama_index.llms.huggingface import HuggingFaceLLM

from franq_guard import Guard
from franq_guard.calibration import Calibrator
from franq_guard.testing import FakeFaithfulness
from llama_index_franq import guard_chat_engine, guard_query_engine
from llama_index_franq.local import BM25NodeRetriever, llm_of

from .fakes import RunRetriever, ScriptedGuard, question, rag

ASKED = "How old is the Karsk bridge?"
NODES = [
    TextNode(text="The Karsk bridge was built of oak in 1903.", id_="karsk"),
    TextNode(text="Seals sleep under water for twenty minutes.", id_="seals"),
]


@pytest.fixture(scope="module")
def chat(smollm2):
    return llm_of(smollm2, max_new_tokens=6)


@pytest.fixture(scope="module")
def plain(smollm2):
    """As a completion model, with a wrapper of its own around every prompt."""
    return HuggingFaceLLM(
        model=smollm2.model,
        tokenizer=smollm2.tokenizer,
        model_name=smollm2.tokenizer.name_or_path,
        tokenizer_name=smollm2.tokenizer.name_or_path,
        context_window=2048,
        max_new_tokens=6,
        generate_kwargs={"do_sample": False},
        query_wrapper_prompt="Task:\n{query_str}",
    )


def engine_on(llm, **options):
    return rag(llm, BM25NodeRetriever(NODES, k=1), **options)


def assert_captured(trace, model):
    """Tokens of this very model that tile the answer, with the probabilities a re-read gives."""
    given = trace.generation
    assert given.source == "captured"
    assert "".join(given.text[t.start : t.end] for t in given.tokens) == given.text
    (again,) = model.score([given.prompt_token_ids], [given])
    for captured, scored in zip(given.tokens, again.tokens, strict=True):
        assert captured.logprob == pytest.approx(scored.logprob, abs=1e-4)


@pytest.mark.parametrize(
    ("kind", "way"),
    [("chat", "query"), ("chat", "astream"), ("plain", "aquery"), ("plain", "stream")],
)
def test_a_query_engine_on_the_local_model(kind, way, smollm2, request):
    guard = ScriptedGuard()
    llm = request.getfixturevalue(kind)
    engine = guard_query_engine(engine_on(llm, streaming="stream" in way), guard)

    async def streamed():
        response = await engine.aquery(ASKED)
        return "".join([chunk async for chunk in response.async_response_gen()])

    text = {
        "query": lambda: engine.query(ASKED).response,
        "aquery": lambda: asyncio.run(engine.aquery(ASKED)).response,
        "stream": lambda: "".join(engine.query(ASKED).response_gen),
        "astream": lambda: asyncio.run(streamed()),
    }[way]()
    (trace,) = guard.traces
    assert_captured(trace, smollm2)
    assert text == f"{trace.generation.text} [checked: ]"
    contrast = trace.contrast_prompt
    assert ASKED in contrast
    assert "oak" not in contrast
    assert contrast.startswith("<|im_start|>" if kind == "chat" else "Task:")
    assert trace.generation.prompt == contrast.replace(
        "---------------------\n\n---", f"---------------------\n{NODES[0].text}\n---"
    )


def test_the_guard_scores_with_the_engines_own_model(chat, smollm2):
    guard = Guard(faithfulness=FakeFaithfulness(), franq=Calibrator.uncalibrated())
    engine = guard_query_engine(engine_on(chat), guard)
    (own,) = engine._watch.models.local
    assert own.guard.language_model.model is smollm2.model
    report = engine.query(ASKED).metadata["franq"]
    assert report["status"] == "ok"
    assert report["likelihoods"] == f"captured from {own.fingerprint}"
    (verdict,) = report["verdicts"]
    assert 0 < verdict["uq_faith"] <= 1
    assert 0 < verdict["uq_unfaith"] <= 1
    assert verdict["evidence"]["node_id"] == "karsk"


def test_a_chat_engine_on_the_local_model(chat, smollm2):
    guard = ScriptedGuard()
    memory = ChatMemoryBuffer.from_defaults(token_limit=1500)
    inner = ContextChatEngine.from_defaults(BM25NodeRetriever(NODES, k=1), llm=chat, memory=memory)
    engine = guard_chat_engine(inner, guard)
    engine.chat(ASKED)
    text = "".join(engine.stream_chat("And how do seals sleep?").response_gen)
    for trace in guard.traces:
        assert_captured(trace, smollm2)
    second = guard.traces[1]
    assert [p.id for p in second.passages] == ["seals"]
    # The history has the first answer as the guard left it.
    assert f"{guard.traces[0].generation.text} [checked: ]" in second.generation.prompt
    assert "twenty minutes" not in second.contrast_prompt
    assert text == f"{second.generation.text} [checked: ]"


def test_three_threads_on_one_local_model(smollm2):
    guard = ScriptedGuard()
    engine = guard_query_engine(rag(llm_of(smollm2, max_new_tokens=3), RunRetriever()), guard)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(engine.query, [question(i) for i in range(3)]))
    for trace in guard.traces:
        (run,) = {passage.id.split("-")[0] for passage in trace.passages}
        assert trace.question == question(int(run))
        assert f"of run {run} is tall" in trace.generation.prompt
        assert_captured(trace, smollm2)


def test_the_retriever_finds_by_rare_words_and_refuses_nonsense():
    retriever = BM25NodeRetriever(NODES, k=2)
    assert [n.node.node_id for n in retriever.retrieve("seals")] == ["seals"]
    assert retriever.retrieve("???") == []
    for nodes, k in ((NODES, 0), ([], 1)):
        with pytest.raises(ValueError, match="at least one text"):
            BM25NodeRetriever(nodes, k=k)
