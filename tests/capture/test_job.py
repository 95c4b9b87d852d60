"""The job of one guarded run: checked alone, with others, in several parts, or not gathered."""

import asyncio
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from franq_guard import Claim, Generation, Passage, Trace
from franq_guard.capture.job import Job, check_together, gathered, joined
from franq_guard.records import CitationFinding
from franq_guard.testing import FakeGuard


def trace(text, title="", **more):
    return Trace("Why?", (Passage("Because.", title=title),), Generation(text), **more)


def test_one_trace_is_checked():
    job = Job(FakeGuard(), (trace("It is so.", "A"),))
    assert job.check().text == "It is so. [checked: A]"
    assert asyncio.run(job.acheck()).text == "It is so. [checked: A]"


def test_several_are_put_together_with_their_glue():
    claims = (Claim("one", ((0, 3),)),)
    traces = (trace("one", "A", claims=claims), trace("two", "B", claims=claims))
    job = Job(FakeGuard(), traces, glue=("1: ", "\n2: "))
    for answer in (job.check(), asyncio.run(job.acheck()), *check_together([job])):
        assert answer.text == "1: one [checked: A]\n2: two [checked: B]"
        assert answer.original == "1: one\n2: two"
        assert [v.claim.spans for v in answer.verdicts] == [((3, 6),), ((10, 13),)]


def test_citations_of_parts_move_with_them():
    one = FakeGuard().check_trace(trace("one", "A"))
    found = CitationFinding("1", (2, 3), 0, 0.9, "right")
    cited = replace(one, verdicts=tuple(replace(v, citations=(found,)) for v in one.verdicts))
    whole = joined(("", "--"), [cited, cited])
    assert [c.span for v in whole.verdicts for c in v.citations] == [(2, 3), (7, 8)]


def test_parts_have_passages_whose_metadata_cannot_be_compared():
    def of(text):
        about = {"embedding": np.array([1.0, 2.0])}
        passages = (Passage(text, metadata=about),)
        return replace(FakeGuard().check_trace(trace("one")), passages=passages)

    assert len(joined(("", ""), [of("same"), of("same")]).passages) == 1
    assert joined(("", ""), [of("one"), of("other")]).passages == ()


def test_seconds_of_parts_are_summed():
    first, second = (FakeGuard().check_trace(trace(text)) for text in ("one", "two"))
    object.__setattr__(first, "timings", {"claims": 1.0})
    object.__setattr__(second, "timings", {"claims": 2.0, "franq": 3.0})
    assert joined(("", ""), [first, second]).timings == {"claims": 3.0, "franq": 3.0}


def broken():
    raise LookupError("no room")


def test_a_capture_that_fails_ends_unverified():
    guard = FakeGuard()
    job = gathered(broken, guard, "It is so.", question="Why?", id="7")
    assert job.failure == "LookupError"  # its message may hold text of users, and this is logged
    for answer in (job.check(), asyncio.run(job.acheck()), *check_together([job])):
        assert (answer.text, answer.status, answer.id) == (
            "It is so. [unverified]",
            "unverified",
            "7",
        )
    assert guard.traces[0] == Trace("Why?", (), Generation("It is so."), id="7")


def test_a_capture_that_works_is_the_job_itself():
    job = Job(FakeGuard(), (trace("x"),))
    assert gathered(lambda: job, job.guard, "x") is job


def test_jobs_of_one_guard_are_checked_in_one_call():
    one, other = FakeGuard(), FakeGuard()
    jobs = [
        Job(one, (trace("a", "A"),)),
        Job(other, (trace("b", "B"),)),
        gathered(broken, one, "c"),
        Job(one, (trace("d", "D"), trace("e", "E")), glue=("", " ")),
    ]
    assert [answer.text for answer in check_together(jobs)] == [
        "a [checked: A]",
        "b [checked: B]",
        "c [unverified]",
        "d [checked: D] e [checked: E]",
    ]
    assert (one.batches, other.batches) == ([3], [1])
    assert check_together([]) == []


@pytest.mark.parametrize("failing", [False, True])
def test_the_guard_works_out_of_sight(failing):
    seen = []

    @contextmanager
    def unobserved():
        seen.append("in")
        yield
        seen.append("out")

    class Guard(FakeGuard):
        def _keep(self, trace):
            seen.append("check")

    guard = Guard()
    made = Job(guard, (trace("x"),), unobserved=unobserved)
    job = gathered(broken if failing else lambda: made, guard, "x", unobserved=unobserved)
    job.check()
    asyncio.run(job.acheck())
    check_together([job])
    assert seen == ["in", "check", "out"] * 3


def test_a_stream_needs_one_trace():
    guard, own = FakeGuard(), trace("x")
    assert Job(guard, (own,)).of_a_stream() == (guard, own)
    with pytest.raises(RuntimeError, match="several answers"):
        Job(guard, (own, own), glue=("", "")).of_a_stream()
    with pytest.raises(RuntimeError, match="LookupError"):
        gathered(broken, guard, "x").of_a_stream()
