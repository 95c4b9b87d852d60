"""Micro-batching: together what can be, and nothing lost, mixed or passed unmarked."""

import asyncio
import threading

import pytest

from franq_guard.policy import Policy
from franq_guard.rows.traces import trace_of
from franq_guard.serve import checker as checker_module
from franq_guard.serve.checker import Checker
from franq_guard.serve.errors import Closing, QueueFull
from franq_guard.serve.settings import ServeSettings
from franq_guard.testing import FakeGuard

from .conftest import FailingGuard, HeldGuard, begun


def trace(text):
    return trace_of("Who?", [text], text)


def checker(guard, **settings):
    return Checker(guard, ServeSettings(**{"window_ms": 20, **settings}))


def a_minute_passes():
    """At once, on the event loop's clock."""
    loop = asyncio.get_running_loop()
    now = loop.time
    loop.time = lambda: now() + 60


def test_answers_of_one_window_are_checked_together(run):
    async def main():
        guard = FakeGuard()
        found = checker(guard, batch_size=4)
        answers = await asyncio.gather(*(found.check(trace(f"a{i}")) for i in range(10)))
        assert [answer.original for answer in answers] == [f"a{i}" for i in range(10)]
        assert guard.batches == [4, 4, 2]

    run(main())


def test_what_arrives_during_a_round_makes_the_next(run):
    async def main():
        guard = HeldGuard()
        found = checker(guard, window_ms=0)
        first = asyncio.create_task(found.check(trace("first")))
        await begun(guard)
        later = [asyncio.create_task(found.check(trace(f"{i}"))) for i in range(3)]
        await asyncio.sleep(0)
        guard.go.set()
        await asyncio.gather(first, *later)
        assert guard.batches == [1, 3]

    run(main())


def test_one_more_than_the_queue_holds_is_refused(run):
    async def main():
        guard = HeldGuard()
        found = checker(guard, queue=2, window_ms=0)
        first = asyncio.create_task(found.check(trace("first")))
        await begun(guard)
        waiting = [asyncio.create_task(found.check(trace(f"{i}"))) for i in range(2)]
        await asyncio.sleep(0)
        assert found.waiting == 2
        with pytest.raises(QueueFull) as caught:
            await found.check(trace("one more"))
        assert int(caught.value.headers["Retry-After"]) >= 1
        room = asyncio.create_task(found.room())
        guard.go.set()
        await asyncio.gather(first, room, *waiting)
        assert (await found.check(trace("again"))).status == "ok"

    run(main())


def test_a_deadline_that_passes_in_the_queue_or_in_work_is_a_timeout(run):
    async def main():
        guard = HeldGuard()
        found = checker(guard, window_ms=0)
        told = []
        found.on_checked.append(lambda answer, seconds: told.append((answer.status, seconds)))
        working = asyncio.create_task(found.check(trace("in work"), deadline=30))
        await begun(guard)
        waiting = asyncio.create_task(found.check(trace("waiting"), deadline=30))
        await asyncio.sleep(0)
        a_minute_passes()
        for task in (working, waiting):
            answer = await task
            assert answer.status == "unverified"
            assert {verdict.reason for verdict in answer.verdicts} == {"timeout"}
        assert found.waiting == 0
        guard.go.set()
        assert (await found.check(trace("after"))).status == "ok"
        assert [status for status, _ in told] == ["unverified", "unverified", "ok"]
        assert guard.batches == [1, 1]  # nobody worked for what had waited too long

    run(main())


def test_a_round_that_nobody_waits_for_holds_up_nobody(run, monkeypatch):
    class Slow(HeldGuard):
        """Works on large answers only when the test lets it."""

        def check_many(self, traces, *, batch_size=8):
            if any("large" in trace.generation.text for trace in traces):
                return super().check_many(traces, batch_size=batch_size)
            return FakeGuard.check_many(self, traces, batch_size=batch_size)

    async def left_alone(found, guard):
        """A large answer in work, whose client has left."""
        guard.begun.clear()
        asked = asyncio.create_task(found.check(trace("large")))
        await begun(guard)
        asked.cancel()

    monkeypatch.setattr(checker_module, "_GRACE", 0.0)
    monkeypatch.setattr(checker_module, "_MAX_ABANDONED", 2)

    async def main():
        guard = Slow()
        found = checker(guard, window_ms=0)
        for _ in range(2):
            await left_alone(found, guard)
            assert (await found.check(trace("small"))).status == "ok"
        await left_alone(found, guard)  # one too many: it is waited for
        waits = asyncio.create_task(found.check(trace("small")))
        await asyncio.sleep(0.05)
        assert not waits.done()
        guard.go.set()
        assert (await waits).status == "ok"

    run(main())


def test_the_lesser_deadline_holds(run):
    async def main():
        guard = HeldGuard()
        found = checker(guard, deadline=0.01)
        answer = await found.check(trace("slow"), deadline=60)
        assert answer.status == "unverified"
        guard.go.set()

    run(main())


def test_a_check_that_raises_costs_its_own_answer_only(run, caplog):
    async def main():
        found = checker(FailingGuard())
        texts = ["a", "poison", "b"]
        return await asyncio.gather(*(found.check(trace(text)) for text in texts))

    answers = run(main())
    assert [answer.status for answer in answers] == ["ok", "unverified", "ok"]
    assert answers[1].verdicts[0].reason == "error"
    assert "[unverified]" in answers[1].text
    assert "secret" not in caplog.text


def test_too_few_answers_of_a_guard_are_an_error(run):
    class Losing(FakeGuard):
        def check_many(self, traces, *, batch_size=8):
            return iter(())

    async def main():
        return await checker(Losing()).check(trace("a"))

    assert run(main()).status == "unverified"


def test_a_guard_that_cannot_even_say_unverified_raises(run):
    class Broken(FailingGuard):
        def unverified(self, trace, reason, *, detail=""):
            raise RuntimeError("broken")

    async def main():
        found = checker(Broken())
        with pytest.raises(RuntimeError, match="broken"):
            await found.check(trace("poison"))
        assert (await found.check(trace("fine"))).status == "ok"

    run(main())


def test_closed_makes_unverified_claims_weak(run):
    class Unverified(FakeGuard):
        def check_many(self, traces, *, batch_size=8):
            return (self.unverified(trace, "no_logprobs") for trace in traces)

    async def main():
        policy = Policy(action="block")
        opened = checker(Unverified(policy=policy))
        assert "[unverified]" in (await opened.check(trace("a"))).text
        assert not (await opened.check(trace("a"))).flagged
        closed = await opened.check(trace("a"), closed=True)
        assert (closed.text, closed.flagged) == (policy.replacement, closed.claims)
        shut = checker(Unverified(policy=policy), on_error="closed")
        assert (await shut.check(trace("a"))).text == policy.replacement
        assert (await shut.unverified(trace("a"), "no_evidence")).text == policy.replacement

    run(main())


def test_a_policy_that_takes_its_time_holds_up_no_other_request(run):
    class Unverified(FakeGuard):
        def check_many(self, traces, *, batch_size=8):
            return (self.unverified(trace, "no_logprobs") for trace in traces)

    where = []

    def action(text, verdicts):
        where.append(threading.current_thread())
        return text

    async def main():
        found = checker(Unverified(policy=Policy(action=action)))
        await found.check(trace("a"), closed=True)
        await found.unverified(trace("a"), "no_evidence", closed=True)
        return threading.current_thread()

    assert run(main()) not in where
    assert where


def test_a_client_that_leaves_frees_its_place(run):
    async def main():
        guard = HeldGuard()
        found = checker(guard, window_ms=0)
        first = asyncio.create_task(found.check(trace("first")))
        await begun(guard)
        gone = asyncio.create_task(found.check(trace("gone")))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait([gone])
        assert found.waiting == 0
        guard.go.set()
        await first
        await found.check(trace("next"))
        assert [t.generation.text for t in guard.traces] == ["first", "next"]

    run(main())


def test_draining_finishes_what_is_in_work_and_takes_nothing_more(run):
    async def main():
        guard = HeldGuard()
        found = checker(guard, window_ms=0)
        first = asyncio.create_task(found.check(trace("first")))
        await begun(guard)
        waiting = asyncio.create_task(found.check(trace("waiting")))
        await asyncio.sleep(0)
        end = asyncio.create_task(found.drain())
        await asyncio.sleep(0)
        with pytest.raises(Closing):
            await found.check(trace("late"))
        with pytest.raises(Closing):
            await found.room()
        guard.go.set()
        await end
        assert (await first).status == (await waiting).status == "ok"

    run(main())


def test_draining_does_not_wait_for_a_check_that_hangs(run):
    async def main():
        guard = HeldGuard()
        found = checker(guard, window_ms=0, deadline=30)
        late = asyncio.create_task(found.check(trace("late")))
        await begun(guard)
        end = asyncio.create_task(found.drain())
        await asyncio.sleep(0)
        a_minute_passes()
        await asyncio.wait_for(end, 30)
        assert {verdict.reason for verdict in (await late).verdicts} == {"timeout"}
        workers = [t for t in threading.enumerate() if t.name == "franq-check"]
        assert all(t.daemon for t in workers)  # the process may end without them
        assert workers
        guard.go.set()

    run(main())


def test_a_listener_that_fails_breaks_nothing(run, caplog):
    def fails(*_):
        raise RuntimeError("listener")

    async def main():
        found = checker(FakeGuard())
        found.on_checked.append(fails)
        found.on_generated.append(fails)
        found.generated(1, 2)
        assert (await found.check(trace("a"))).status == "ok"

    run(main())
    assert "a listener failed" in caplog.text


def test_loading_touches_the_models(run):
    class Loading(FakeGuard):
        loaded = False

        @property
        def faithfulness(self):
            type(self).loaded = True

    async def main():
        found = checker(Loading())
        assert not found.ready
        await found.load()
        assert found.ready

    run(main())
    assert Loading.loaded


def test_a_real_guard_gives_what_it_gives_alone(run, fake_guard):
    traces = [trace(f"Ann met Bob {i} times. She left.") for i in range(5)]

    async def main():
        found = checker(fake_guard)
        return await asyncio.gather(*map(found.check, traces))

    for answer, alone in zip(run(main()), map(fake_guard.check_trace, traces), strict=True):
        assert answer.to_dict()["verdicts"] == alone.to_dict()["verdicts"]
        assert answer.text == alone.text
