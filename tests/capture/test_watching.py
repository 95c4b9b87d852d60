"""Answers are checked in the background: no waiting, no exceptions; drops are counted."""

from __future__ import annotations

import copy
import gc
import threading
import weakref
from contextvars import ContextVar
from queue import Empty
from uuid import uuid4

import pytest

from franq_guard.basics import background
from franq_guard.basics.background import Background
from franq_guard.capture.job import Job
from franq_guard.capture.watching import Watcher
from franq_guard.records import Generation, Trace
from franq_guard.testing import FakeGuard


def job(text: str, guard: FakeGuard | None = None) -> Job:
    return Job(guard or FakeGuard(), (Trace("What?", (), Generation(text), id=text),))


class Held:
    """A function that waits until it is released."""

    def __init__(self) -> None:
        self.begun, self.go, self.seen = threading.Event(), threading.Event(), []

    def __call__(self, item: object) -> None:
        self.begun.set()
        assert self.go.wait(20)
        self.seen.append(item)


def test_reports_come_from_another_thread_in_order():
    reports, threads = [], set()

    def report(answer):
        reports.append(answer.original)
        threads.add(threading.current_thread())

    watcher = Watcher(report)
    for i in range(20):
        watcher.offer(lambda i=i: job(f"answer {i}"))
    assert watcher.flush(20)
    assert reports == [f"answer {i}" for i in range(20)]
    assert len(threads) == 1
    assert threads.isdisjoint({threading.current_thread()})
    assert (watcher.checked, watcher.dropped, watcher.failed) == (20, 0, 0)


def test_what_does_not_fit_is_dropped_and_counted(caplog):
    held = Held()
    watcher = Watcher(held, queue_size=3)
    watcher.offer(lambda: job("first"))
    assert held.begun.wait(20)
    for _ in range(10):
        watcher.offer(lambda: job("more"))
    assert watcher.dropped == 7
    held.go.set()
    assert watcher.flush(20)
    assert len(held.seen) == watcher.checked == 4
    assert sum("dropped" in message for message in caplog.messages) == 1


def test_failures_stay_where_they_are(caplog):
    def broken():
        raise RuntimeError("no capture")

    def unhappy(answer):
        raise ValueError("no reader")

    reports = []
    watcher = Watcher(
        lambda answer: unhappy(answer) if answer.original == "b" else reports.append(1)
    )
    watcher.offer(broken)
    for text in "abc":
        watcher.offer(lambda text=text: job(text))
    assert watcher.flush(20)
    assert (watcher.failed, watcher.checked, len(reports)) == (2, 3, 2)
    assert [m.split(": ", 1)[1] for m in caplog.messages] == [
        "RuntimeError",
        "ValueError",
    ]


def test_the_report_stands_in_the_context_of_its_run():
    user: ContextVar[str] = ContextVar("user", default="nobody")
    users = []
    watcher = Watcher(lambda answer: users.append(user.get()))
    for name in ("ann", "bob"):
        user.set(name)
        watcher.offer(lambda: job("x"))
    watcher.flush(20)
    assert users == ["ann", "bob"]


def test_a_sample_is_a_share_of_the_runs_and_always_the_same():
    watcher = Watcher(sample=0.1)
    ids = [str(uuid4()) for _ in range(5000)]
    watched = [run for run in ids if watcher.watches(run)]
    assert watched == [run for run in ids if watcher.watches(run)]
    assert 300 < len(watched) < 700  # 500 on average, a deviation of 21
    assert all(map(Watcher().watches, ids))
    assert not any(map(Watcher(sample=0).watches, ids))


@pytest.mark.parametrize("options", [{"sample": 1.5}, {"sample": -1}, {"queue_size": 0}])
def test_numbers_that_cannot_work_are_refused(options):
    with pytest.raises(ValueError, match=r"sample|room"):
        Watcher(**options)


async def later(report):
    """Nobody would await it."""


@pytest.mark.parametrize("wrong", ["reports.jsonl", later])
def test_a_reader_that_cannot_be_called_is_refused(wrong):
    with pytest.raises(TypeError, match="on_report must be"):
        Watcher(wrong)


def test_after_close_nothing_is_taken():
    reports, before = [], set(threading.enumerate())
    watcher = Watcher(reports.append)
    watcher.offer(lambda: job("x"))
    assert watcher.close(20)
    watcher.offer(lambda: job("late"))
    assert (len(reports), watcher.dropped) == (1, 1)
    assert set(threading.enumerate()) <= before


def test_close_gives_up_what_takes_too_long():
    held = Held()
    queue: Background[int] = Background(held, what="numbers", size=5)
    assert all(map(queue.put, range(4)))
    assert held.begun.wait(20)
    assert not queue.close(0)
    assert queue.dropped == 3
    held.go.set()
    assert queue.flush(20)
    assert held.seen == [0]


def test_a_deep_copy_reports_to_the_same_place():
    reports = []
    watcher = Watcher(reports.append)
    copy.deepcopy(watcher).offer(lambda: job("x"))
    assert watcher.flush(20)
    assert len(reports) == 1


# The end of a thread that has nothing to do -------------------------------------------------------


def test_a_thread_without_items_ends_and_the_next_item_starts_another(monkeypatch):
    monkeypatch.setattr(background, "IDLE", 0.01)
    seen = []
    queue: Background[int] = Background(
        lambda item: seen.append((item, threading.current_thread())), what="numbers", size=5
    )
    for number in range(3):
        assert queue.put(number)
        assert queue.flush(20)
        thread = seen[-1][1]
        thread.join(20)
        assert not thread.is_alive()
    assert [number for number, _ in seen] == [0, 1, 2]
    assert len({thread for _, thread in seen}) == 3
    assert queue.close(20)


def test_nothing_is_left_of_a_watcher_that_is_not_used_any_more(monkeypatch):
    monkeypatch.setattr(background, "IDLE", 0.01)
    threads = []
    watcher = Watcher(lambda answer: threads.append(threading.current_thread()))
    watcher.offer(lambda: job("x"))
    assert watcher.flush(20)
    threads[0].join(20)
    kept = weakref.ref(watcher)
    del watcher
    gc.collect()
    assert kept() is None  # not kept for the end of the process either


def test_an_item_that_comes_when_the_wait_is_over_is_not_lost(monkeypatch):
    handled, waits = {"first": threading.Event(), "late": threading.Event()}, 0
    queue: Background[str] = Background(lambda word: handled[word].set(), what="words", size=5)
    wait = queue._waiting.get

    def over(timeout: float):
        nonlocal waits
        waits += 1
        if waits == 2:  # in the worker, between the end of its wait and its look at the queue
            assert queue.put("late")
            raise Empty
        return wait(timeout=timeout)

    monkeypatch.setattr(queue._waiting, "get", over)
    assert queue.put("first")
    assert handled["late"].wait(20)
    assert queue.close(20)


def test_no_item_is_lost_by_threads_that_end_at_once(monkeypatch):
    monkeypatch.setattr(background, "IDLE", 0)  # a thread ends as soon as the queue is empty
    seen = []
    queue: Background[int] = Background(seen.append, what="numbers", size=2000)

    def feed(first: int) -> None:
        for number in range(first, first + 300):
            assert queue.put(number)
            if number % 3 == 0:
                assert queue.flush(20)  # so that the thread often ends before the next item

    feeders = [threading.Thread(target=feed, args=(i * 300,)) for i in range(4)]
    for feeder in feeders:
        feeder.start()
    for feeder in feeders:
        feeder.join(60)
    assert queue.flush(20)
    assert sorted(seen) == list(range(1200))
    assert queue.dropped == 0


def test_close_after_the_thread_has_ended_and_twice(monkeypatch):
    monkeypatch.setattr(background, "IDLE", 0.01)
    threads = []
    queue: Background[int] = Background(
        lambda _: threads.append(threading.current_thread()), what="numbers", size=1
    )
    assert queue.put(1)
    assert queue.flush(20)
    threads[0].join(20)
    for _ in range(2):
        assert queue.close(20)
        assert queue.flush(1)  # no end mark waits in the queue that nobody would take out
    assert not queue.put(2)


def test_a_second_close_does_not_count_the_mark_of_the_first_as_dropped():
    held = Held()
    queue: Background[int] = Background(held, what="numbers", size=1)
    assert queue.put(1)
    assert held.begun.wait(20)
    assert not queue.close(0)
    assert not queue.close(0)
    assert queue.dropped == 0  # the one item was taken before
    held.go.set()
    assert queue.flush(20)
    assert held.seen == [1]
