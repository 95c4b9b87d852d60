"""A fault of the guard is a status in the result: for every engine, in every way to run it."""

from __future__ import annotations

import asyncio
import time

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.query_engine import CustomQueryEngine

from franq_guard import Guard, Policy
from franq_guard.calibration import Calibrator
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from llama_index_franq import FactualityError, guard_agent, guard_chat_engine, guard_query_engine

from .agent_fakes import ScriptedCaller, function_agent, run_of
from .fakes import RunRetriever, ScriptedChat, ScriptedLLM, memory_of, question, rag, said

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")

WAYS = (
    "query",
    "aquery",
    "stream",
    "astream",
    "chat",
    "achat",
    "stream_chat",
    "astream_chat",
    "agent",
)


class Empty(RunRetriever):
    def _retrieve(self, query_bundle):
        return []


async def _read(stream):
    return "".join([piece async for piece in stream.async_response_gen()])


def run_once(way, guard, retriever=None, **options):
    """(text, report) of one run in one of the ``WAYS``."""
    found, asked = retriever or RunRetriever(), question(7)
    if way == "agent":
        agent = guard_agent(function_agent(), guard, **options)
        result, _, _ = asyncio.run(run_of(agent, asked))
        return result.response.content, result.response.additional_kwargs["franq"]
    if "chat" in way:
        memory = memory_of()
        inner = ContextChatEngine.from_defaults(found, llm=ScriptedChat(), memory=memory)
        engine = guard_chat_engine(inner, guard, **options)
        ask = getattr(engine, way)
    else:
        inner = rag(ScriptedLLM(), found, streaming="stream" in way)
        engine = guard_query_engine(inner, guard, **options)
        ask = engine.aquery if way in ("aquery", "astream") else engine.query

    async def later():
        response = await ask(asked)
        return response, await _read(response) if "stream" in way else response.response

    if way.startswith("a"):
        response, text = asyncio.run(later())
    else:
        response = ask(asked)
        text = "".join(response.response_gen) if "stream" in way else response.response
    if "chat" in way:
        assert engine.chat_history[-1].content == text
    return text, response.metadata["franq"]


def too_slow():
    time.sleep(0.03)


def broken():
    raise RuntimeError("no room on the device")


def guard_of(fault, **policy):
    """A guard whose language model reads every answer, and what may be wrong with it."""
    options = {"language_model": FakeLanguageModel(), "faithfulness": FakeFaithfulness()}
    options |= {
        "timeout": {"faithfulness": FakeFaithfulness(fail=too_slow), "deadline": 0.01},
        "scorer error": {"faithfulness": FakeFaithfulness(fail=broken)},
        "no log-probabilities": {"language_model": None},
    }.get(fault, {})
    return Guard(policy=Policy(**policy), franq=Calibrator.uncalibrated(), **options)


REASONS = {
    "timeout": "timeout",
    "scorer error": "error",
    "no log-probabilities": "no_logprobs",
}


def reasons(report):
    return {(verdict["label"], verdict["reason"]) for verdict in report["verdicts"]}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", REASONS)
def test_a_fault_of_the_guard_is_a_reason_and_the_answer_stays_marked(fault, way):
    text, report = run_once(way, guard_of(fault))
    assert text == "The tower of run 7 is tall [unverified]. It has 7 steps [unverified]."
    assert (report["original"], report["status"]) == (said("run 7"), "unverified")
    assert reasons(report) == {("unverified", REASONS[fault])}


@pytest.mark.parametrize("way", ["query", "chat", "agent"])
def test_a_check_that_hangs_is_left_at_its_deadline(way, hanging):
    guard = Guard(
        language_model=FakeLanguageModel(),
        faithfulness=FakeFaithfulness(fail=hanging),
        franq=Calibrator.uncalibrated(),
        deadline=30.0,
    )
    text, report = run_once(way, guard)
    assert hanging.begun.is_set()
    assert not hanging.ended.is_set()
    assert text == "The tower of run 7 is tall [unverified]. It has 7 steps [unverified]."
    assert reasons(report) == {("unverified", "timeout")}


@pytest.mark.parametrize("way", WAYS)
def test_closed_a_fault_stops_the_answer(way):
    guard = guard_of("scorer error", action="block", on_error="closed", replacement="No.")
    text, report = run_once(way, guard)
    assert (text, report["status"]) == ("No.", "unverified")


@pytest.mark.parametrize("way", WAYS)
def test_what_could_not_be_verified_can_raise(way):
    with pytest.raises(FactualityError, match="2 of 2 claims: unverified"):
        run_once(way, guard_of("timeout"), raise_on=("unverified",))


def test_without_evidence_nothing_is_verified_and_it_is_said():
    memory = memory_of()
    simple = SimpleChatEngine.from_defaults(llm=ScriptedChat(), memory=memory)
    response = guard_chat_engine(simple, guard_of(None)).chat(question(7))
    agent = guard_agent(function_agent(ScriptedCaller(script=[said("run 7")])), guard_of(None))
    result, _, _ = asyncio.run(run_of(agent, question(7)))
    reports = (response.metadata["franq"], result.response.additional_kwargs["franq"])
    for report in reports:
        assert report["status"] == "unverified"
        assert {v["reason"] for v in report["verdicts"]} == {"no_evidence"}
        assert all(v["p_faithful"] == 0 and v["p_true"] is None for v in report["verdicts"])


@pytest.mark.parametrize("way", WAYS[:8])
def test_an_engine_that_finds_nothing_says_so_itself_and_claims_nothing(way):
    text, report = run_once(way, guard_of(None), retriever=Empty())
    assert text == "Empty Response"
    assert {v["label"] for v in report["verdicts"]} == {"not-a-claim"}
    assert (report["status"], report["reason"]) == ("unverified", "no_answer")


class Cached(CustomQueryEngine):
    """Answers without asking a model: no event has a prompt."""

    def custom_query(self, query_str):
        return Response(said(query_str), source_nodes=RunRetriever().retrieve(query_str))


def test_an_answer_from_a_cache_has_no_prompt_and_says_so():
    engine = guard_query_engine(Cached(), guard_of(None))
    for response in (engine.query(question(7)), asyncio.run(engine.aquery(question(7)))):
        report = response.metadata["franq"]
        assert report["status"] == "ok"
        assert {v["reason"] for v in report["verdicts"]} == {"no_prompt"}


@pytest.mark.parametrize("way", ["query", "chat", "agent"])
def test_a_report_says_where_its_numbers_come_from_and_that_an_action_failed(way):
    def action(answer, verdicts):
        raise KeyError("mine")

    model = FakeLanguageModel()
    options = {"franq": Calibrator.uncalibrated(form="long"), "policy": Policy(action=action)}
    guard = Guard(language_model=model, faithfulness=FakeFaithfulness(), **options)
    _, report = run_once(way, guard)
    assert report["status"] == "policy_error"
    assert report["likelihoods"] == f"read by {model.fingerprint}"
    assert report["calibrator"].startswith("uncalibrated")
