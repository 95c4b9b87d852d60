"""The job of one guarded run: what was captured of its answer, and the guard that checks it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from franq_guard.basics.grouping import in_groups
from franq_guard.claims.spans import moved
from franq_guard.policy import status_of
from franq_guard.records import Generation, GuardedAnswer, Trace, Verdict

if TYPE_CHECKING:
    from franq_guard.guard import Guard

_log = logging.getLogger(__name__)

Unobserved = Callable[[], AbstractContextManager[None]]
"""A context in which the framework does not record or stream the guard's own model calls."""


@dataclass(frozen=True)
class Job:
    """The traces of one answer and the guard to check them with.

    ``glue`` is the framework's own text before each trace's answer; nearly always there is one
    trace and no glue. ``lead`` is the prompt that some pipelines repeat before the answer; it is
    not part of the answer. ``failure`` says why the trace could not be gathered.
    """

    guard: Guard
    traces: tuple[Trace, ...]
    glue: tuple[str, ...] = ("",)
    lead: str = ""
    failure: str = ""
    unobserved: Unobserved = nullcontext

    def check(self) -> GuardedAnswer:
        """The guarded answer; if capturing failed, every claim in it is unverified."""
        with self.unobserved():
            if self.failure:
                return self.guard.unverified(self.traces[0], "error", detail=self.failure)
            if self.glue == ("",):
                return self.guard.check_trace(self.traces[0])
            return self.put_together(list(self.guard.check_many(self.traces)))

    async def acheck(self) -> GuardedAnswer:
        """:meth:`check` without blocking the event loop."""
        if self.failure:
            return self.check()
        if self.glue != ("",):
            return await asyncio.to_thread(self.check)
        with self.unobserved():
            return await self.guard.acheck_trace(self.traces[0])

    def put_together(self, answers: Sequence[GuardedAnswer]) -> GuardedAnswer:
        """The one answer of the run, from the answers of its traces."""
        return answers[0] if self.glue == ("",) else joined(self.glue, answers)

    def of_a_stream(self) -> tuple[Guard, Trace]:
        """The guard and the one trace of an answer that is still being written.

        Raises:
            RuntimeError: if capturing failed, or if several answers were put together to one.
        """
        if self.failure or len(self.traces) > 1:
            raise RuntimeError(self.failure or "several answers in one stream")
        return self.guard, self.traces[0]


def gathered(
    gather: Callable[[], Job],
    guard: Guard,
    answer: str,
    *,
    question: str = "",
    id: str | None = None,
    unobserved: Unobserved = nullcontext,
) -> Job:
    """The job that ``gather`` returns; if it fails, a job whose answer is unverified.

    A failure to capture must not break the user's chain or engine.
    """
    try:
        return gather()
    except Exception as error:
        trace = Trace(question, (), Generation(answer), id=id)
        _log.debug("capturing failed", exc_info=True)
        kind = type(error).__name__  # it is logged; the message may hold text of users
        return Job(guard, (trace,), failure=kind, unobserved=unobserved)


def check_together(jobs: Sequence[Job]) -> list[GuardedAnswer]:
    """Each job's answer, in order; the traces of jobs with the same guard are checked together."""
    return in_groups(jobs, lambda job: (id(job.guard), bool(job.failure)), _of_one_guard)


def _of_one_guard(jobs: Sequence[Job]) -> list[GuardedAnswer]:
    """The answers of jobs with the same guard; either all of them failed to capture, or none."""
    first = jobs[0]
    if first.failure:
        return [job.check() for job in jobs]
    with first.unobserved():
        found = iter(first.guard.check_many([trace for job in jobs for trace in job.traces]))
        return [job.put_together([next(found) for _ in job.traces]) for job in jobs]


async def acheck_together(jobs: Sequence[Job]) -> list[GuardedAnswer]:
    """:func:`check_together` without blocking the event loop; a single job can be cancelled."""
    if len(jobs) == 1:
        return [await jobs[0].acheck()]
    return await asyncio.to_thread(check_together, jobs)


def _shown(answer: GuardedAnswer) -> list[dict[str, str]]:
    """The passages without the user's metadata, which may hold what cannot be compared."""
    return [passage.to_dict() for passage in answer.passages]


def joined(glue: Sequence[str], answers: Sequence[GuardedAnswer]) -> GuardedAnswer:
    """The ``answers`` as one, each after its ``glue``: spans are shifted, seconds are summed.

    The policy was applied to each by itself: they are separate answers to one question.
    """
    text, original = "", ""
    verdicts: list[Verdict] = []
    timings: Counter[str] = Counter()
    for before, answer in zip(glue, answers, strict=True):
        text, original = text + before, original + before
        verdicts += [moved(verdict, len(original)) for verdict in answer.verdicts]
        text, original = text + answer.text, original + answer.original
        timings.update(answer.timings)
    failed = [answer.status for answer in answers if answer.status == "policy_error"]
    return GuardedAnswer(
        text=text,
        original=original,
        verdicts=tuple(verdicts),
        status=failed[0] if failed else status_of(verdicts, original),
        calibrator=answers[0].calibrator,
        timings=dict(timings),
        id=answers[0].id,
        likelihoods=answers[0].likelihoods,
        question=answers[0].question,
        # an index of evidence must mean the same passage for every part
        passages=answers[0].passages
        if all(_shown(a) == _shown(answers[0]) for a in answers)
        else (),
        weak=answers[0].weak,
    )
