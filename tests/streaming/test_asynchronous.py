"""A stream of claims on an event loop: what takes long runs in a thread and is told on the loop."""

import asyncio
import threading

import pytest

import franq_guard.streaming.stream
from franq_guard import Generation, Guard, Passage, Policy, Trace
from franq_guard.streaming import AsyncClaimStream, ClaimStream, FactualityError, Release
from franq_guard.testing import FakeFaithfulness

GOOD, BAD = "The river rises in the hills.", "Zebras sing loud tunes at midnight."
PASSAGES = (Passage(GOOD),)


@pytest.fixture(autouse=True)
def _every_text_is_long(caplog, monkeypatch):
    caplog.set_level("CRITICAL")  # uncalibrated models say so
    monkeypatch.setattr(franq_guard.streaming.stream, "_LONG", 0)


class Slow(Policy):
    """Waits within its work."""

    asked, go = threading.Event(), threading.Event()

    def so_far(self, answer, verdicts):
        self.asked.set()
        assert self.go.wait(60)  # for ever, if the event loop itself waited here
        return super().so_far(answer, verdicts)


@pytest.fixture
def slow():
    Slow.asked.clear()
    Slow.go.clear()
    return Slow(action="filter")


def stream_of(policy, **release):
    guard = Guard(faithfulness=FakeFaithfulness(), policy=policy)

    def lookup(text):
        return guard, Trace("Where is the river?", PASSAGES, Generation(text))

    return AsyncClaimStream(ClaimStream(guard, lookup, release=Release(**release)))


async def read(claims, pieces):
    """What comes out, to the end."""
    shown = [await claims.feed(piece) for piece in pieces]
    claims.stream.end()
    shown += [text async for text in claims.remaining()]
    answer = await claims.answer()
    return "".join([*shown, claims.stream.rest]), answer


def test_the_event_loop_works_on_and_is_told_what_was_released(slow):
    told, threads = [], set()

    def tell(what):
        told.append(what)
        threads.add(threading.get_ident())

    async def both():
        claims = stream_of(slow, on_claim=tell, on_report=tell)
        reading = asyncio.create_task(read(claims, f"{GOOD} {BAD} {GOOD}"))
        while not slow.asked.is_set():
            await asyncio.sleep(0.01)
        slow.go.set()
        return await reading

    shown, answer = asyncio.run(both())
    assert shown == answer.text == f"{GOOD} {GOOD}"
    assert "".join(released.text for released in told[:-1]) == shown
    assert told[-1] == answer
    assert threads == {threading.get_ident()}


def test_a_task_that_is_cancelled_closes_the_stream_after_the_step_in_work(slow, monkeypatch):
    told, order, closed = [], [], threading.Event()

    async def left():
        claims = stream_of(slow, on_claim=told.append)
        judge, close = claims.stream._judge, claims.stream.close
        monkeypatch.setattr(
            claims.stream, "_judge", lambda: (judge(), order.append("step at its end"))
        )
        monkeypatch.setattr(
            claims.stream, "close", lambda: (close(), order.append("closed"), closed.set())
        )
        reading = asyncio.create_task(read(claims, f"{GOOD} {BAD}"))
        while not slow.asked.is_set():
            await asyncio.sleep(0.01)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        claims.close()
        slow.go.set()

    asyncio.run(left())
    assert closed.wait(60)
    assert (order[-1], order.count("closed"), told) == ("closed", 1, [])
    assert "step at its end" in order


def test_a_claim_that_must_not_pass_stops_it_after_what_was_released_is_told():
    told = []
    claims = stream_of(
        Policy(),
        raise_on=("unsupported", "false"),
        on_claim=lambda released: told.append(released.text),
        on_report=lambda answer: told.append(answer.text),
    )
    with pytest.raises(FactualityError):
        asyncio.run(read(claims, [f"{GOOD} ", f"{BAD} {GOOD}"]))
    claims.close()
    assert told == [GOOD, GOOD]
