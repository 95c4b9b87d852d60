"""A check ends at its deadline, whatever hangs; told by events, not by a clock."""

import math
import threading
from concurrent.futures import Future
from contextvars import ContextVar
from copy import deepcopy

import pytest

from franq_guard import Claim, Generation, Guard, Passage, Trace
from franq_guard.basics import deadline
from franq_guard.basics.deadline import Abandonable, DeadlineExceeded, between_batches, until
from franq_guard.claims import RuleSplitter
from franq_guard.rows.traces import trace_of
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGES = ["Rome is big. Rome is in Italy."]
ANSWER = "Rome is big. Rome is in Italy."


def guard_of(**options):
    given = {"faithfulness": FakeFaithfulness(), "language_model": FakeLanguageModel()}
    return Guard(**(given | options))


@pytest.mark.parametrize("form", ["long", "short"])
def test_a_call_that_hangs_is_left_behind_and_the_guard_goes_on(hanging, form, caplog):
    judge = FakeFaithfulness(fail=hanging)
    guard = guard_of(faithfulness=judge, deadline=30.0, form=form)
    answer = guard.check("What is Rome?", PASSAGES, ANSWER)
    assert hanging.begun.is_set()
    assert not hanging.ended.is_set()
    assert {(v.label, v.reason) for v in answer.verdicts} == {("unverified", "timeout")}
    assert answer.status == "unverified"
    assert answer.verdicts[0].claim.text.startswith("Rome is big.")
    assert "abandoned (stage 'faithfulness')" in caplog.text
    assert guard.check("What is Rome?", PASSAGES, ANSWER).status == "ok"  # beside the other call
    assert not hanging.ended.is_set()
    hanging.go.set()
    assert hanging.ended.wait(30)
    assert guard.check("What is Rome?", PASSAGES, ANSWER).status == "ok"


@pytest.mark.parametrize("part", ["language_model", "claims"])
def test_whatever_hangs(hanging, part):
    class Splitter(RuleSplitter):
        def split(self, answer, *, question=""):
            hanging()
            return [Claim(answer, ((0, len(answer)),))]

    parts = {
        "language_model": FakeLanguageModel(fail=hanging),
        "claims": Splitter(),
    }
    guard = guard_of(**{part: parts[part]}, deadline=30.0, uq_faith="perplexity")
    answer = guard.check("What is Rome?", PASSAGES, ANSWER)
    assert not hanging.ended.is_set()
    assert [v.claim.text for v in answer.verdicts] == ["Rome is big.", "Rome is in Italy."]
    assert {v.reason for v in answer.verdicts} == {"timeout"}


def test_an_answer_past_its_deadline_is_split_by_the_rules(hanging):
    class Splitter(RuleSplitter):
        def split(self, answer, *, question=""):
            hanging()

    trace = trace_of("What is Rome?", PASSAGES, ANSWER)
    late = guard_of(claims=Splitter()).unverified(trace, "timeout")
    assert not hanging.begun.is_set()
    assert [v.claim.text for v in late.verdicts] == ["Rome is big.", "Rome is in Italy."]


def test_of_form_auto_the_splitter_may_hang_too_and_is_asked_once(hanging):
    class Splitter(RuleSplitter):
        asked = 0

        def split(self, answer, *, question=""):
            self.asked += 1
            hanging()
            return super().split(answer, question=question)

    splitter = Splitter()
    guard = guard_of(claims=splitter, deadline=30.0, form="auto")
    late = guard.check("What is Rome?", PASSAGES, ANSWER)
    assert not hanging.ended.is_set()
    assert {v.reason for v in late.verdicts} == {"timeout"}
    for answer in (ANSWER, "Rome is big."):  # long and short
        before = splitter.asked
        assert guard.check("What is Rome?", PASSAGES, answer).status == "ok"
        assert splitter.asked == before + 1


@pytest.mark.parametrize(
    ("answer", "given", "texts"),
    [
        (ANSWER, (Claim("Rome is big.", ((0, 12),)),), ["Rome is big.", "Rome is in Italy."]),
        ("Yes.", None, ["Rome is big."]),
        (ANSWER, None, ["Rome is big.", "Rome is in Italy."]),
    ],
)
def test_what_could_not_be_checked_in_time_is_what_would_have_been(answer, given, texts):
    guard = guard_of(deadline=1e-9)
    trace = Trace("Is Rome big?", (Passage(PASSAGES[0]),), Generation(answer), claims=given)
    found = guard.check_trace(trace).verdicts
    assert [(v.claim.in_full, v.reason) for v in found] == [(text, "timeout") for text in texts]


@pytest.mark.parametrize("form", ["long", "auto"])
def test_a_splitter_that_failed_is_not_asked_again(form):
    class Failing(RuleSplitter):
        asked = 0

        def split(self, answer, *, question=""):
            self.asked += 1
            raise OSError("gone")

    splitter = Failing()
    found = guard_of(claims=splitter, form=form).check("What is Rome?", PASSAGES, ANSWER)
    assert splitter.asked == 1
    assert [(v.claim.text, v.reason) for v in found.verdicts] == [(ANSWER, "error")]


def test_a_bare_name_is_the_claim_of_form_auto_after_a_timeout_too():
    late, done = (
        guard_of(form="auto", deadline=deadline).check("What is Italy's capital?", PASSAGES, "Rome")
        for deadline in (1e-9, 30.0)
    )
    assert [v.reason for v in late.verdicts] == ["timeout"]
    assert late.verdicts[0].claim.text == done.verdicts[0].claim.text == "Rome"


def test_each_answer_of_many_has_its_own_time(hanging):
    guard = guard_of(faithfulness=FakeFaithfulness(fail=hanging), deadline=30.0)
    traces = [Trace("What is Rome?", (Passage(PASSAGES[0]),), Generation(ANSWER))] * 3
    assert [a.status for a in guard.check_many(traces)] == ["unverified", "ok", "ok"]


def test_without_a_deadline_no_thread_is_started():
    seen = []
    judge = FakeFaithfulness(fail=lambda: seen.append(threading.current_thread()))
    guard_of(faithfulness=judge).check("What is Rome?", PASSAGES, ANSWER)
    assert set(seen) == {threading.current_thread()}
    guard_of(faithfulness=judge, deadline=60.0).check("What is Rome?", PASSAGES, ANSWER)
    assert seen[-1] is not threading.current_thread()


@pytest.mark.parametrize("endless", [math.inf, 1e300])
def test_an_endless_deadline_is_none(endless):
    guard = guard_of(deadline=endless)
    assert guard.check("What is Rome?", PASSAGES, ANSWER).status == "ok"
    stream = ClaimStream(guard, lambda text: (guard, trace_of("What is Rome?", PASSAGES, text)))
    stream.feed(ANSWER)
    stream.end()
    while stream.wait() is not None:
        pass
    assert stream.answer().status == "ok"


def test_what_a_step_returns_and_raises_comes_back_in_the_caller_s_context():
    tenant = ContextVar("tenant", default="nobody")
    tenant.set("a")
    steps = Abandonable()
    assert steps.run(tenant.get, 30) == "a"
    with pytest.raises(TimeoutError, match="the step's own"):
        steps.run(lambda: (_ for _ in ()).throw(TimeoutError("the step's own")), 30)


def test_a_step_that_ends_just_after_its_time_is_not_abandoned(monkeypatch):
    class JustLate(Future):
        """Waits for the step, and then says that the time was over."""

        def result(self, timeout=None):
            if timeout is not None:
                self.exception()
                raise TimeoutError
            return super().result()

    monkeypatch.setattr(deadline, "Future", JustLate)
    steps = Abandonable()
    assert steps.run(lambda: "a result", 30) == "a result"
    with pytest.raises(ZeroDivisionError):
        steps.run(lambda: 1 / 0, 30)


def test_hanging_calls_do_not_fill_the_process_with_threads():
    go, steps, ended = threading.Event(), Abandonable(most=3), []

    def hang():
        go.wait(30)
        ended.append(threading.current_thread())

    for _ in range(3):
        with pytest.raises(DeadlineExceeded, match="abandoned"):
            steps.run(hang, 0.01)
    with pytest.raises(DeadlineExceeded, match="3 abandoned checks"):
        steps.run(lambda: 1, 30)
    hung = [t for t in threading.enumerate() if t.name == "franq-check"]
    go.set()
    for thread in hung:
        thread.join(30)
    assert len(ended) == 3
    assert steps.run(lambda: 1, 30) == 1


def at_once(do, parts):
    """Call ``do`` with each part, in threads that begin together."""
    together = threading.Barrier(len(parts))

    def begin(part):
        together.wait(30)
        do(part)

    threads = [threading.Thread(target=begin, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)


def test_steps_left_by_many_threads_at_once_are_counted_until_they_return():
    steps, left = Abandonable(most=100), [Future() for _ in range(100)]
    parts = [left[i::10] for i in range(10)]
    steps.admit()
    at_once(lambda part: [steps.leave(step) for step in part], parts)
    with pytest.raises(DeadlineExceeded, match="100 abandoned checks"):
        steps.admit()
    deepcopy(steps).admit()  # a copy has left nothing
    at_once(lambda part: [step.set_result(None) for step in part], parts)
    assert not steps.leave(left[0])  # it has returned
    assert all(steps.leave(Future()) for _ in range(99))
    steps.admit()  # so none is counted any more but these 99


def test_a_long_stage_ends_between_its_batches():
    between_batches()
    with until(0.0), pytest.raises(DeadlineExceeded, match="between two batches"):
        between_batches()
    between_batches()
