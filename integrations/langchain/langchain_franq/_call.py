"""One guarded call: what it captured, how its answer is read, checked and put back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from franq_guard import Generation, GuardedAnswer, Trace
from franq_guard.policy import MARKS
from langchain_franq._capture import Capture
from langchain_franq._job import Job, job_of
from langchain_franq._outlets import Claims, Whole
from langchain_franq._quiet import unobserved
from langchain_franq._shapes import Located, joined, locate, may_pass, question_of

if TYPE_CHECKING:
    from langchain_franq.chain import GuardedChain


@dataclass
class Call:
    """One run of a guarded chain on the input ``value``; lives and dies with it."""

    chain: GuardedChain
    value: Any
    run_id: UUID
    capture: Capture = field(default_factory=Capture)
    passed: list[Mapping[str, Any]] = field(default_factory=list)
    held: list[Any] = field(default_factory=list)

    def observed(self, config: RunnableConfig) -> RunnableConfig:
        """``config`` for the guarded chain: this call's capture beside the user's handlers."""
        return merge_configs(config, {"callbacks": [self.capture]})

    def passes(self, chunk: Any) -> bool:
        """Whether a streamed chunk may leave now; what may hold the answer is kept either way."""
        free = may_pass(chunk, self.value)
        (self.passed if free else self.held).append(chunk)
        return free or self.chain.stream_mode == "tail"

    def streamed(self) -> Reading:
        """:meth:`read` of what was kept, put together."""
        return self.read(joined(self.held))

    def read(self, output: Any) -> Reading:
        """Find the answer in ``output`` and gather its trace.

        Raises:
            TypeError, KeyError: when no answer can be found in the output.
        """
        located = locate(output, self.chain.output_key)
        try:
            job = self.job(output, located.text)
        except Exception as error:  # a failure of the capture must not break the user's chain
            trace = Trace("", (), Generation(located.text), id=str(self.run_id))
            job = Job(self.chain.guard, trace, failure=f"{type(error).__name__}: {error}")
        return Reading(self, located, job)

    def outlet(self) -> Whole | Claims:
        """How the answer of a stream leaves."""
        return Claims(self) if self.chain.stream_mode == "claims" else Whole(self)

    def job(self, output: Any, answer: str) -> Job:
        """What was captured about an answer (so far), whose output carries along ``output``."""
        given = {key: value for chunk in self.passed for key, value in chunk.items()}
        whole = {**given, **output} if isinstance(output, Mapping) else output
        return job_of(
            self.chain.guard,
            self.chain.models,
            self.capture,
            question=question_of(self.value, self.chain.input_key),
            answer=answer,
            documents=self.capture.evidence(whole),
            id=str(self.run_id),
        )


@dataclass(frozen=True)
class Reading:
    """An answer found in a call's output, and what was captured about it."""

    call: Call
    located: Located
    job: Job

    def deliver(self, checked: GuardedAnswer) -> Any:
        """The call's output with the checked text and the report; what the release raises."""
        answer = self.call.chain.release(checked)
        return self.located.put(self.job.lead + answer.text, answer.to_dict())

    def last_chunk(self, checked: GuardedAnswer) -> Any:
        """What ends a stream: the checked text, or in ``tail`` mode remarks on the raw one."""
        if self.call.chain.stream_mode != "tail":
            return self.deliver(checked)
        answer = self.call.chain.release(checked)
        weak = [v for v in answer.verdicts if v.label in MARKS]
        remarks = "".join(f"\n{MARKS[v.label]} {v.claim.text}" for v in weak)
        return self.located.after(remarks, answer.to_dict())

    def checked(self) -> Any:
        """Check the answer and deliver."""
        return self.deliver(self.job.check())

    async def achecked(self) -> Any:
        """:meth:`checked` without blocking the event loop."""
        return self.deliver(await self.job.acheck())


def all_checked(calls: Sequence[Call], outputs: Sequence[Any]) -> list[Any]:
    """Check the answers of a batch together; an exception stands in the place of its own item."""
    delivered: list[Any] = [_or_error(c.read, o) for c, o in zip(calls, outputs, strict=True)]
    pools: dict[int, list[int]] = defaultdict(list)
    for i, reading in enumerate(delivered):
        if isinstance(reading, Reading) and reading.job.failure:
            delivered[i] = _or_error(reading.deliver, reading.job.check())
        elif isinstance(reading, Reading):
            pools[id(reading.job.guard)].append(i)
    for pool in pools.values():
        jobs = [delivered[i].job for i in pool]
        with unobserved():
            answers = list(jobs[0].guard.check_many([job.trace for job in jobs]))
        for i, answer in zip(pool, answers, strict=True):
            delivered[i] = _or_error(delivered[i].deliver, answer)
    return delivered


def _or_error(step: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, Exception):
        return value
    try:
        return step(value)
    except Exception as error:  # of one item; LangChain raises it or hands it over, as asked for
        return error
