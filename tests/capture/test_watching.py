"""Answers are checked in the background: no waiting, no exceptions; drops are counted."""

from __future__ import annotations

import copy
import threading
from contextvars import ContextVar
from uuid import uuid4

import pytest

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
        "RuntimeError: no capture",
        "ValueError: no reader",
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


def test_a_reader_that_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="give a function"):
        Watcher("reports.jsonl")


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
