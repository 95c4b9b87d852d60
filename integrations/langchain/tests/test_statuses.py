"""A fault of the guard is a status in the result: for every surface, in every way to run."""

from __future__ import annotations

import time

import pytest
from langchain_core.caches import InMemoryCache

from franq_guard import Guard, Policy
from franq_guard.calibration import Calibrator
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from langchain_franq import FactualityError

from .fakes import RunRetriever, ScriptedChat, ScriptedLLM, question, said
from .surfaces import SURFACES, WAYS, run_once


def too_slow():
    time.sleep(0.03)


def broken():
    raise RuntimeError("no room on the device")


class Empty(RunRetriever):
    """Finds nothing."""

    def _get_relevant_documents(self, query, *, run_manager):
        return []


def guard_of(fault, **policy):
    """A guard whose language model reads every answer, and what may be wrong with it."""
    options = {"language_model": FakeLanguageModel(), "faithfulness": FakeFaithfulness()}
    options |= {
        "timeout": {"faithfulness": FakeFaithfulness(fail=too_slow), "deadline": 0.01},
        "scorer error": {"faithfulness": FakeFaithfulness(fail=broken)},
        "model error": {"language_model": FakeLanguageModel(fail=broken)},
        "no log-probabilities": {"language_model": None},
    }.get(fault, {})
    return Guard(policy=Policy(**policy), franq=Calibrator.uncalibrated(), **options)


REASONS = {
    "timeout": "timeout",
    "scorer error": "error",
    "model error": "error",
    "no log-probabilities": "no_logprobs",
}
LEFT_OPEN = "The tower of run 7 is tall [unverified]. It has 7 steps [unverified]."


def report_of(surface, way, guard, **options):
    """(text, report) of one run."""
    reports = []
    one = SURFACES[surface](guard, on_report=reports.append, **options)
    text = run_once(one, way, question(7))
    (report,) = reports
    return text, report


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("fault", REASONS)
def test_a_fault_of_the_guard_is_a_reason_and_the_answer_stays_marked(surface, fault, way):
    text, report = report_of(surface, way, guard_of(fault))
    assert text == report.text == LEFT_OPEN
    assert report.original == said("run 7")
    assert report.status == "unverified"
    assert {(v.label, v.reason) for v in report.verdicts} == {("unverified", REASONS[fault])}


@pytest.mark.parametrize("way", ["threads", "gather"])
@pytest.mark.parametrize("surface", ["chain", "agent", "graph"])
def test_a_check_that_hangs_is_left_at_its_deadline(surface, way, hanging):
    guard = Guard(
        language_model=FakeLanguageModel(),
        faithfulness=FakeFaithfulness(fail=hanging),
        franq=Calibrator.uncalibrated(),
        deadline=30.0,
    )
    text, report = report_of(surface, way, guard)
    assert hanging.begun.is_set()
    assert not hanging.ended.is_set()
    assert text == LEFT_OPEN
    assert {(v.label, v.reason) for v in report.verdicts} == {("unverified", "timeout")}


@pytest.mark.parametrize("way", ["threads", "gather", "stream", "astream"])
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("fault", REASONS)
def test_closed_a_fault_stops_the_answer(surface, fault, way):
    guard = guard_of(fault, action="block", on_error="closed", replacement="No.")
    text, report = report_of(surface, way, guard)
    assert text == "No."
    assert report.status == "unverified"


@pytest.mark.parametrize("way", ["threads", "gather"])
@pytest.mark.parametrize("surface", SURFACES)
def test_what_could_not_be_verified_can_raise(surface, way):
    one = SURFACES[surface](guard_of("scorer error"), raise_on=("unverified",))
    with pytest.raises(FactualityError, match="2 of 2 claims: unverified"):
        run_once(one, way, question(7))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("surface", SURFACES)
def test_without_evidence_nothing_is_verified_and_it_is_said(surface, way):
    _, report = report_of(surface, way, guard_of(None), retriever=Empty())
    assert report.status == "unverified"
    assert {(v.p_faithful, v.reason) for v in report.verdicts} == {(0.0, "no_evidence")}
    assert {(v.p_true, v.label) for v in report.verdicts} == {(None, "unverified")}


@pytest.mark.parametrize("way", ["threads", "batch", "gather", "abatch"])
@pytest.mark.parametrize("surface", ["chain", "graph"])
def test_an_answer_from_the_cache_has_no_prompt_and_says_so(surface, way):
    model = ScriptedLLM(cache=InMemoryCache())
    _, fresh = report_of(surface, way, guard_of(None), model=model)
    text, cached = report_of(surface, way, guard_of(None), model=model)
    assert {v.reason for v in fresh.verdicts} == {None}
    assert {v.reason for v in cached.verdicts} == {"no_prompt"}
    assert cached.status == "ok"
    assert text.startswith("The tower of run 7")


@pytest.mark.parametrize("way", ["threads", "gather"])
@pytest.mark.parametrize("surface", ["chat_chain", "graph"])
def test_a_chat_model_reports_its_prompt_from_the_cache_too(surface, way):
    model = ScriptedChat(cache=InMemoryCache())
    first, second = (report_of(surface, way, guard_of(None), model=model) for _ in range(2))
    assert {v.reason for v in second[1].verdicts} == {None}
    assert [v.p_true for v in first[1].verdicts] == [v.p_true for v in second[1].verdicts]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_report_says_where_its_numbers_come_from_and_that_an_action_failed(surface):
    def action(answer, verdicts):
        raise KeyError("mine")

    model = FakeLanguageModel()
    options = {"franq": Calibrator.uncalibrated(form="long"), "policy": Policy(action=action)}
    guard = Guard(language_model=model, faithfulness=FakeFaithfulness(), **options)
    _, report = report_of(surface, "threads", guard)
    assert report.status == "policy_error"
    assert report.likelihoods == f"read by {model.fingerprint}"
    assert report.calibrator.startswith("uncalibrated")
