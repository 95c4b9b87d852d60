"""The prompt of an answer with and without evidence, and log-probabilities that servers send."""

from __future__ import annotations

import asyncio
import math

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.base.llms.types import ChatMessage, CompletionResponse
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.schema import NodeWithScore, TextNode

from franq_guard import Calibrator, Guard
from franq_guard.testing import FakeFaithfulness
from llama_index_franq import guard_query_engine

from .fakes import RunRetriever, ScriptedChat, ScriptedGuard, ScriptedLLM, question, rag, said

SHINGLE = "The archive says that"


def trace_of(engine, asked="How tall is it?", streaming=False):
    guard = ScriptedGuard()
    response = guard_query_engine(engine, guard).query(asked)
    if streaming:
        str(response)
    (trace,) = guard.traces
    return trace


@pytest.mark.parametrize("llm", [ScriptedLLM, ScriptedChat])
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("mode", ["compact", "tree_summarize", "simple_summarize"])
def test_the_template_with_an_empty_context(mode, streaming, llm):
    engine = rag(llm(), response_mode=mode, streaming=streaming)
    trace = trace_of(engine, question(7), streaming)
    asked, contrast = trace.generation.prompt, trace.contrast_prompt
    assert SHINGLE in asked
    # The instructions and the question stay; the context with its metadata headers goes.
    assert question(7) in contrast
    assert contrast.startswith(asked[:40])
    assert SHINGLE not in contrast
    assert "tall.txt" not in contrast


@pytest.mark.parametrize("llm", [ScriptedLLM, ScriptedChat])
def test_the_same_for_each_part_of_an_accumulated_answer(llm):
    """LlamaIndex passes its template along with the values that fill it."""
    guard = ScriptedGuard()
    guard_query_engine(rag(llm(), response_mode="accumulate"), guard).query(question(7))
    assert len(guard.traces) == 2
    for trace, other in zip(guard.traces, ("tall.txt", "old.txt"), strict=True):
        assert other in trace.generation.prompt
        assert question(7) in trace.contrast_prompt
        assert other not in trace.contrast_prompt


def test_a_template_that_leaves_the_question_out():
    template = PromptTemplate("What do we know of the tower?\n{context_str}\nSay it.\n")
    trace = trace_of(rag(ScriptedLLM(), text_qa_template=template), question(2))
    assert trace.contrast_prompt == "What do we know of the tower?\n\nSay it.\n"


class Long(RunRetriever):
    """Nodes too long for one prompt."""

    def _retrieve(self, query_bundle):
        texts = [f"Part {i}. " + "The wall is old and grey and wet. " * 60 for i in (1, 2, 3)]
        return [
            NodeWithScore(node=TextNode(text=text, id_=f"part-{i}")) for i, text in enumerate(texts)
        ]


@pytest.mark.parametrize("streaming", [False, True])
def test_refining_over_long_nodes_goes_back_to_the_first_pass(streaming):
    llm = ScriptedLLM(context_window=1000)
    llm.script = [f"Answer number {i} of many." for i in range(20)]
    trace = trace_of(rag(llm, Long(), streaming=streaming), streaming=streaming)
    calls = len(llm.prompts)
    assert calls >= 3
    assert trace.generation.text == f"Answer number {calls - 1} of many."
    assert trace.generation.prompt == llm.prompts[-1]
    assert "existing answer" in trace.generation.prompt
    contrast = trace.contrast_prompt
    assert "How tall is it?" in contrast
    assert "existing answer" not in contrast
    assert "wall" not in contrast
    assert [p.id for p in trace.passages] == ["part-0", "part-1", "part-2"]


def test_summaries_of_summaries_are_scored_against_the_nodes():
    llm = ScriptedLLM(context_window=1000)
    llm.script = [f"Summary number {i} of many." for i in range(20)]
    trace = trace_of(rag(llm, Long(), response_mode="tree_summarize"))
    assert len(llm.prompts) >= 3
    assert "wall" not in trace.generation.prompt  # the last prompt holds summaries alone
    assert "Summary number" in trace.generation.prompt
    assert "Summary number" not in trace.contrast_prompt
    assert [p.id for p in trace.passages] == ["part-0", "part-1", "part-2"]


def test_a_template_of_ones_own_with_other_names():
    template = PromptTemplate(
        "Facts: {facts}\nAsk: {ask}\n",
        template_var_mappings={"context_str": "facts", "query_str": "ask"},
    )
    trace = trace_of(rag(ScriptedLLM(), text_qa_template=template), question(2))
    assert trace.contrast_prompt == f"Facts: \nAsk: {question(2)}\n"


def test_a_context_that_the_question_repeats_is_left_to_evidence_removal():
    class Word(RunRetriever):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(text="Zorvex"))]

    trace = trace_of(rag(ScriptedLLM(), Word()), "What is Zorvex?")
    assert trace.contrast_prompt is None


# Servers -------------------------------------------------------------------------------------

ANSWER = "Ça va: 3 €."
# As a byte-level tokenizer splits it: the euro sign is spread over two tokens, sent as one.
PIECES = ["Ça".encode(), b" va", b":", b" 3", b" \xe2\x82", b"\xac", b"."]
SPANS = [(0, 2), (2, 5), (5, 6), (6, 8), (8, 10), (10, 11)]


def chat_raw(pieces):
    content = [
        {"token": p.decode(errors="replace"), "bytes": list(p), "logprob": -0.25 * i}
        for i, p in enumerate(pieces)
    ]
    return {"choices": [{"logprobs": {"content": content}}]}


class Server(ScriptedLLM):
    """An OpenAI-like server: log-probabilities stand in ``raw``, of each chunk when streaming."""

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        return CompletionResponse(text=ANSWER, raw=chat_raw(PIECES))

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        def chunks():
            parts = [PIECES[:3], PIECES[3:6], PIECES[6:]]
            text = ""
            for part in parts:
                delta = b"".join(part).decode()
                text += delta
                yield CompletionResponse(text=text, delta=delta, raw=chat_raw(part))

        return chunks()


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("streaming", [False, True])
def test_log_probabilities_of_a_server_reach_the_trace(streaming, asynchronous):
    guard = ScriptedGuard()
    engine = guard_query_engine(rag(Server(), streaming=streaming), guard)

    async def ask():
        response = await engine.aquery("How is it?")
        return "".join([c async for c in response.async_response_gen()]) if streaming else response

    if asynchronous:
        asyncio.run(ask())
    else:
        str(engine.query("How is it?"))
    (trace,) = guard.traces
    assert trace.generation.source == "server"
    # The dispatcher reports async calls twice: no token may be counted twice.
    assert [(t.start, t.end) for t in trace.generation.tokens] == SPANS


def test_without_a_language_model_the_server_still_gives_one_half():
    """UQ_faith comes from the server; Parametric Knowledge needs a model, and that is said."""
    guard = Guard(faithfulness=FakeFaithfulness(), franq=Calibrator.uncalibrated())
    report = guard_query_engine(rag(Server()), guard).query("How?").metadata["franq"]
    (verdict,) = report["verdicts"]
    assert verdict["reason"] == "no_contrast"
    assert verdict["uq_faith"] == pytest.approx(math.exp(-0.25 * sum(range(7))))


def test_messages_of_a_foreign_chat_model_become_the_guards_own_prompt():
    system = ChatMessage(role="system", content="Be brief.")
    trace = trace_of(rag(ScriptedChat(system_prompt="Be brief.")), question(3))
    assert trace.generation.prompt.startswith(system.content)
    assert trace.generation.text == said("run 3")
