"""Batches, threads, event loops, streams: each result belongs to the caller's span."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from franq_guard import Policy
from franq_guard.streaming import ClaimStream, FactualityError
from franq_guard.streaming.release import Release
from franq_guard.telemetry import here, under
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

from .examples import STAGES, TEXT, guard, place, raising, trace


def test_a_batch_has_a_span_for_each_answer(seen):
    list(guard().check_many([trace(id=str(i)) for i in range(5)], batch_size=3))
    checks = seen.named("franq.check")
    assert [span.attributes["gen_ai.response.id"] for span in checks] == list("01234")
    assert [span.attributes["franq.batch_size"] for span in checks] == [3, 3, 3, 2, 2]
    for check in checks:
        below = [s for s in seen.spans if s.parent and s.parent.span_id == check.context.span_id]
        assert {span.name.removeprefix("franq.stage.") for span in below} == STAGES
    assert len(seen.answers) == 5


def test_of_form_auto_too(seen):
    guard(form="auto").check_trace(trace("Pisa."))
    list(guard(form="auto").check_many([trace(id="a"), trace("Pisa.", id="b")]))
    assert [s.attributes["franq.batch_size"] for s in seen.named("franq.check")] == [1, 2, 2]
    assert len(seen.answers) == 3


def test_a_guard_within_a_guard_has_a_span_of_its_own(seen):
    inner = guard()

    def act(answer, verdicts):
        return inner.check_trace(trace("Pisa.", id="inner")).text

    guard(policy=Policy(action=act)).check_trace(trace(id="outer"))
    below, outer = seen.named("franq.check")
    assert below.attributes["gen_ai.response.id"] == "inner"
    assert below.parent.span_id in {s.context.span_id for s in seen.spans} | {place(outer)[1]}
    assert len(seen.answers) == 2


def test_spans_of_a_model_stand_below_the_stage(seen):
    class Asks(FakeLanguageModel):
        def score(self, prompts, answers):
            with seen.span("POST"):
                return super().score(prompts, answers)

    guard(language_model=Asks()).check_trace(trace())
    stages = {span.context.span_id for span in seen.named("franq.stage.language_model")}
    assert {span.parent.span_id for span in seen.named("POST")} <= stages


def test_an_event_loop_keeps_its_checks_apart(seen):
    one = guard()

    async def ask(i):
        with seen.span(f"chat {i}") as model:
            await asyncio.sleep(0)
            await one.acheck_trace(trace(id=str(i)))
        return place(model)

    async def all_at_once():
        return await asyncio.gather(*map(ask, range(8)))

    asked = asyncio.run(all_at_once())
    found = {event.attributes["gen_ai.response.id"]: event.parent for event in seen.answers}
    assert found == {str(i): where for i, where in enumerate(asked)}


def test_threads_keep_theirs_apart(seen):
    one = guard()

    def ask(i):
        with seen.span(f"chat {i}") as model:
            one.check_trace(trace(id=str(i)))
        return place(model)

    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(ask, range(8)))
    found = {event.attributes["gen_ai.response.id"]: event.parent for event in seen.answers}
    assert found == {str(i): where for i, where in enumerate(asked)}


def test_one_thread_for_the_answers_of_many(seen):
    """As a service does that puts the requests of a moment together."""
    jobs, asked = [], []
    for i in range(3):
        with seen.span(f"request {i}") as request:
            jobs.append((trace(id=str(i)), here()))
            asked.append(place(request))

    def work():
        with under(jobs):
            list(guard().check_many([t for t, _ in jobs]))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert [event.parent for event in seen.answers] == asked
    assert [s.parent.span_id for s in seen.named("franq.check")] == [id for _, id in asked]


def test_a_caller_without_a_span_is_not_in_that_of_the_worker(seen):
    jobs = [(trace(id="a"), here())]
    with seen.span("the worker's own"), under(jobs):
        list(guard().check_many([t for t, _ in jobs]))
    (check,) = seen.named("franq.check")
    assert check.parent is None


def stream_of(one, text=TEXT, release=None):
    return ClaimStream(one, lambda so_far: (one, trace(so_far, id="run-1")), release=release)


def streamed(stream, text=TEXT):
    for word in text.split(" "):
        stream.feed(word + " ")
    stream.end()
    while stream.wait() is not None:
        pass
    return stream.answer()


def test_a_stream_is_one_check(seen):
    with seen.span("chat") as model:
        stream = stream_of(guard())
    answer = streamed(stream)
    stream.close()
    (check,) = seen.named("franq.check")
    assert check.parent.span_id == model.context.span_id
    assert check.attributes["franq.claims.count"] == len(answer.verdicts) == 2
    assert "franq.abandoned" not in check.attributes
    (result,) = seen.answers
    assert result.parent == place(model)
    assert result.attributes["gen_ai.evaluation.score.value"] == min(
        verdict.p_true for verdict in answer.verdicts
    )
    below = [span for span in seen.spans if span.name.startswith("franq.stage.")]
    assert {span.parent.span_id for span in below} == {check.context.span_id}
    assert {"franq.stage.faithfulness", "franq.stage.franq"} <= {span.name for span in below}


def test_a_stream_that_is_left(seen):
    stream = stream_of(guard())
    stream.feed("The tower ")
    stream.close()
    (check,) = seen.named("franq.check")
    assert check.attributes["franq.abandoned"] is True
    assert seen.events == []


def test_a_stream_that_is_stopped(seen):
    labels = ("supported", "unsupported-true", "doubtful", "false")
    stream = stream_of(guard(), release=Release(raise_on=labels))
    with pytest.raises(FactualityError) as caught:
        streamed(stream)
    stream.close()
    (result,) = seen.answers
    known = [verdict.p_true for verdict in caught.value.answer.verdicts]
    assert result.attributes["gen_ai.evaluation.score.value"] == min(known)
    assert len(seen.named("franq.check")) == 1


def test_a_stream_in_which_the_model_fails(seen):
    stream = stream_of(guard(faithfulness=FakeFaithfulness(fail=raising(ValueError("x")))))
    streamed(stream)
    stream.close()
    assert seen.named("franq.check")[0].attributes["error.type"] == "ValueError"
    assert seen.answers[0].attributes["error.type"] == "ValueError"
