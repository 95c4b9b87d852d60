"""A failure has a type and no score; a failing exporter does not fail the check."""

import time

import pytest

from franq_guard.telemetry import configure
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

from .examples import guard, raising, trace


class ServerGone(Exception):
    pass


NAME = f"{ServerGone.__module__}.ServerGone"


FAILING = {
    "a stage": lambda error: guard(faithfulness=FakeFaithfulness(fail=raising(error))),
    "loading": lambda error: guard(language_model=lambda: raising(error)()),
}


@pytest.mark.parametrize("where", FAILING)
@pytest.mark.parametrize(
    ("error", "name"), [(ValueError("x"), "ValueError"), (ServerGone("x"), NAME)]
)
def test_an_exception_is_told_by_its_type(seen, where, error, name):
    with seen.span("chat"):
        FAILING[where](error).check_trace(trace())
    (check,) = seen.named("franq.check")
    assert not check.status.is_ok
    assert not check.status.is_unset
    assert check.attributes["error.type"] == name
    assert check.attributes["franq.status"] == "unverified"
    for event in seen.events:
        assert event.attributes["error.type"] == name
        assert "gen_ai.evaluation.score.value" not in event.attributes
        assert event.severity == "WARN"
    assert (len(seen.answers), len(seen.claims)) == (1, 2)


def test_the_stage_that_failed_is_marked(seen):
    guard(faithfulness=FakeFaithfulness(fail=raising(ValueError("x")))).check_trace(trace())
    (stage,) = seen.named("franq.stage.faithfulness")
    assert stage.attributes["error.type"] == "ValueError"
    assert not stage.status.is_unset
    assert seen.named("franq.stage.claims")[0].status.is_unset


def test_a_deadline_is_a_failure(seen):
    slow = FakeFaithfulness(fail=lambda: time.sleep(0.02))
    guard(faithfulness=slow, deadline=0.01).check_trace(trace())
    (check,) = seen.named("franq.check")
    assert check.attributes["error.type"] == "timeout"
    assert seen.answers[0].attributes["error.type"] == "timeout"


def test_without_log_probabilities_the_reason_is_told(seen):
    guard(language_model=None).check_trace(trace())
    (check,) = seen.named("franq.check")
    assert check.status.is_unset
    assert "error.type" not in check.attributes
    assert seen.answers[0].attributes["error.type"] == "no_logprobs"
    assert "gen_ai.evaluation.score.value" not in seen.answers[0].attributes


def test_an_empty_answer_passes_nothing(seen):
    guard().check_trace(trace("  "))
    assert seen.answers[0].attributes["error.type"] == "no_answer"


def test_an_answer_that_nobody_could_check_is_told_of_too(seen):
    guard().unverified(trace(), "error", detail="the capture failed")
    assert len(seen.named("franq.check")) == 1
    assert seen.answers[0].attributes["error.type"] == "error"


class _Broken:
    """A provider, tracer and logger in one that always raises."""

    def __getattr__(self, name):
        raise RuntimeError(name)


class _BrokenLater:
    def __init__(self, given):
        self._given = given

    def get_logger(self, name):
        return self

    def emit(self, record):
        raise RuntimeError("full")


def test_who_watches_breaks_nothing(seen):
    configure(tracer_provider=_Broken(), logger_provider=_Broken())
    assert guard().check_trace(trace()).status == "ok"
    configure(tracer_provider=seen.tracers, logger_provider=_BrokenLater(seen))
    assert guard().check_trace(trace()).status == "ok"
    assert len(seen.named("franq.check")) == 1


def test_a_batch_in_which_one_fails(seen):
    class Picky(FakeLanguageModel):
        def score(self, prompts, answers):
            if any("bad" in answer.text for answer in answers):
                raise ServerGone
            return super().score(prompts, answers)

    traces = [trace(id="a"), trace("The tower of Pisa is bad.", id="b"), trace(id="c")]
    list(guard(language_model=Picky()).check_many(traces))
    checks = {span.attributes["gen_ai.response.id"]: span for span in seen.named("franq.check")}
    assert list(checks) == ["a", "b", "c"]
    assert {id for id, span in checks.items() if "error.type" in span.attributes} == {"b"}
    again = [s for s in seen.named("franq.stage.claims") if s.parent.span_id == _id(checks["a"])]
    assert len(again) == 2  # with the others, then alone


def _id(span):
    return span.context.span_id
