"""FRANQ as an evaluator: what passing, score and feedback say, alone and in the batch runner."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.evaluation import BatchEvalRunner

from franq_guard import Guard, GuardedAnswer, Policy
from franq_guard.claims import RuleSplitter
from franq_guard.records import Claim, Verdict
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from llama_index_franq import FranqEvaluator, guard_chat_engine, guard_query_engine

from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    memory_of,
    node,
    question,
    rag,
    said,
)


class Fixed(ScriptedGuard):
    """Verdicts as given: (text, label, p_true, reason)."""

    def __init__(self, *verdicts, policy=None):
        super().__init__(policy=policy)
        self.verdicts = verdicts

    def check_trace(self, trace):
        self.traces.append(trace)
        verdicts = tuple(
            Verdict(Claim(text, ((0, 1),)), p, None, None, None, {}, label, reason)
            for text, label, p, reason in self.verdicts
        )
        return GuardedAnswer("changed", trace.generation.text, verdicts, "ok")


GOOD = ("It is tall.", "supported", 0.9, None)
DOUBTFUL = ("It is old.", "doubtful", 0.4, None)
GREETING = ("Hello!", "not-a-claim", None, "greeting")
OPEN = ("It is red.", "unverified", None, "no_logprobs")


@pytest.mark.parametrize(
    ("verdicts", "policy", "passing", "score"),
    [
        ([GOOD, GREETING], None, True, 0.9),
        ([GOOD, DOUBTFUL], None, False, 0.4),  # as good as the weakest claim
        ([GOOD, OPEN], None, True, 0.9),
        ([GOOD, OPEN], Policy(on_error="closed"), False, 0.9),
        ([GREETING], None, True, 1.0),
    ],
)
def test_passing_and_score(verdicts, policy, passing, score):
    evaluator = FranqEvaluator(Fixed(*verdicts, policy=policy))
    result = evaluator.evaluate("Q?", "It is tall.", ["passage"])
    assert (result.passing, result.score, result.invalid_result) == (passing, score, False)
    assert (result.query, result.response, result.contexts) == ("Q?", "It is tall.", ["passage"])


def test_feedback_has_a_line_for_each_claim():
    result = FranqEvaluator(Fixed(GOOD, DOUBTFUL, OPEN, GREETING)).evaluate("Q?", "A", [])
    assert result.feedback.splitlines() == [
        "[supported 0.90] It is tall.",
        "[doubtful 0.40] It is old.",
        "[unverified] It is red. (no_logprobs)",
        "[not-a-claim] Hello! (greeting)",
    ]


@pytest.mark.parametrize(
    ("verdicts", "answer", "reason"),
    [([OPEN], "A", "no_logprobs"), ([], "A", "no_claims"), ([], "", "no_answer")],
)
def test_nothing_verified_is_an_invalid_result(verdicts, answer, reason):
    result = FranqEvaluator(Fixed(*verdicts)).evaluate("Q?", answer, [])
    assert result.invalid_result
    assert (result.passing, result.score) == (None, None)
    assert result.invalid_reason == f"no claim could be verified: {reason}"


def test_missing_values_are_refused():
    evaluator = FranqEvaluator(Fixed())
    for given in ({"query": "Q?", "response": "A"}, {"response": "A", "contexts": []}, {}):
        with pytest.raises(ValueError, match="FranqEvaluator needs"):
            evaluator.evaluate(**given)
    with pytest.raises(ValueError, match="FranqEvaluator needs"):
        evaluator.evaluate_response(query="Q?")


def test_one_text_is_no_list_of_contexts():
    with pytest.raises(TypeError, match="list of strings"):  # it would be read letter by letter
        FranqEvaluator(Fixed()).evaluate("Q?", "A", "The tower is tall.")


def test_a_response_brings_its_nodes_and_a_guarded_one_its_own_text():
    guard = Fixed(GOOD)
    evaluator = FranqEvaluator(guard)
    evaluator.evaluate_response("Q?", Response("It is tall.", source_nodes=[node(1, "tall")]))
    assert [p.id for p in guard.traces[0].passages] == ["1-tall"]
    guarded = guard_query_engine(rag(ScriptedLLM()), ScriptedGuard()).query(question(1))
    asyncio.run(evaluator.aevaluate_response(question(1), guarded))
    assert guard.traces[1].generation.text == said("run 1")


@pytest.mark.parametrize("guarded", [False, True])
def test_a_stream_is_read_to_its_end(guarded):
    """A user evaluates what the application streams, from a query engine or a chat engine."""
    evaluator = FranqEvaluator(guard := Fixed(GOOD))

    def query_engine():
        engine = rag(ScriptedLLM(), streaming=True)
        return guard_query_engine(engine, ScriptedGuard()) if guarded else engine

    def chat_engine():
        parts = {"retriever": RunRetriever(), "llm": ScriptedChat(), "memory": memory_of()}
        engine = ContextChatEngine.from_defaults(**parts)
        return guard_chat_engine(engine, ScriptedGuard()) if guarded else engine

    async def asked_and_read():
        for response in (
            await query_engine().aquery(question(3)),
            await chat_engine().astream_chat(question(4)),
        ):
            with pytest.raises(TypeError, match="aevaluate_response"):
                evaluator.evaluate_response("Q?", response)
            yield await evaluator.aevaluate_response("Q?", response)

    async def all_asked():
        return [result async for result in asked_and_read()]

    results = [
        evaluator.evaluate_response("Q?", query_engine().query(question(1))),
        evaluator.evaluate_response("Q?", chat_engine().stream_chat(question(2))),
        *asyncio.run(all_asked()),
    ]
    assert [r.response for r in results] == [said(f"run {run}") for run in (1, 2, 3, 4)]
    ids = [[passage.id for passage in trace.passages] for trace in guard.traces]
    assert ids == [[f"{run}-tall", f"{run}-old"] for run in (1, 2, 3, 4)]


# LlamaIndex's own runner calls a function of LlamaIndex's that is deprecated.
@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")
def test_in_the_batch_runner():
    guard = Guard(
        language_model=FakeLanguageModel(known=0.99, unknown=0.01),
        faithfulness=FakeFaithfulness(),
        claims=RuleSplitter(),
    )
    runner = BatchEvalRunner({"franq": FranqEvaluator(guard)}, workers=4)
    contexts = [["The bridge is made of oak."], ["Seals sleep under water."]]
    answers = ["The bridge is made of oak.", "Dragons built every lighthouse."]
    results = asyncio.run(
        runner.aevaluate_response_strs(
            queries=["What is the bridge made of?", "Who built it?"],
            response_strs=answers,
            contexts_list=contexts,
        )
    )
    good, bad = results["franq"]
    assert good.passing
    assert not bad.passing
    # their writer is unknown: what the context does not say cannot be judged
    assert good.score > 0.9
    assert bad.score == 0.5
    assert bad.feedback == "[unsupported 0.50] Dragons built every lighthouse. (prior)"
    responses = [Response(a, source_nodes=[node(i, "old")]) for i, a in enumerate(answers)]
    results = asyncio.run(runner.aevaluate_responses(["A?", "B?"], responses))
    assert len(results["franq"]) == 2
