"""One guarded call: what it captured, how its answer is read, checked and put back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from franq_guard import GuardedAnswer
from franq_guard.capture.job import Job, check_together, gathered
from franq_guard.capture.local import LocalModel
from franq_guard.capture.outlet import StreamMode, remarks
from franq_guard.streaming.release import Release
from langchain_franq._capture import Capture
from langchain_franq._job import job_of
from langchain_franq._quiet import unobserved
from langchain_franq._shapes import Located, joined, locate, may_pass, question_of

if TYPE_CHECKING:
    from franq_guard import Guard


@dataclass(frozen=True)
class Watch:
    """What all calls of one guarded chain share."""

    guard: Guard
    models: Sequence[LocalModel]
    release: Release
    stream: StreamMode
    input_key: str | None
    output_key: str | None


@dataclass
class Call:
    """One run of a guarded chain on the input ``value``; lives and dies with it."""

    watch: Watch
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
        return free or self.watch.stream == "tail"

    def streamed(self) -> Reading:
        """:meth:`read` of what was kept, put together."""
        return self.read(joined(self.held))

    def read(self, output: Any) -> Reading:
        """Find the answer in ``output`` and gather its trace.

        Raises:
            TypeError, KeyError: when no answer can be found in the output.
        """
        located = locate(output, self.watch.output_key)
        return Reading(self, located, self.job(output, located.text))

    def job(self, output: Any, answer: str) -> Job:
        """What was captured about an answer (so far), whose output carries along ``output``."""
        return gathered(
            lambda: self._gather(output, answer),
            self.watch.guard,
            answer,
            id=str(self.run_id),
            unobserved=unobserved,
        )

    def _gather(self, output: Any, answer: str) -> Job:
        given = {key: value for chunk in self.passed for key, value in chunk.items()}
        whole = {**given, **output} if isinstance(output, Mapping) else output
        return job_of(
            self.watch.guard,
            self.watch.models,
            self.capture,
            question=question_of(self.value, self.watch.input_key),
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
        answer = self.call.watch.release(checked)
        return self.located.put(self.job.lead + answer.text, answer.to_dict())

    def last_chunk(self, checked: GuardedAnswer) -> Any:
        """What ends a stream: the checked text, or in ``tail`` mode remarks on the raw one."""
        if self.call.watch.stream != "tail":
            return self.deliver(checked)
        answer = self.call.watch.release(checked)
        marked = self.call.watch.guard.policy.marked
        told = [verdict for verdict in answer.verdicts if verdict.label in marked]
        return self.located.after(remarks(told), answer.to_dict())

    def checked(self) -> Any:
        """Check the answer and deliver."""
        return self.deliver(self.job.check())

    async def achecked(self) -> Any:
        """:meth:`checked` without blocking the event loop."""
        return self.deliver(await self.job.acheck())


def all_checked(calls: Sequence[Call], outputs: Sequence[Any]) -> list[Any]:
    """Check the answers of a batch together; an exception stands in the place of its own item."""
    delivered: list[Any] = [_or_error(c.read, o) for c, o in zip(calls, outputs, strict=True)]
    readings = {i: found for i, found in enumerate(delivered) if isinstance(found, Reading)}
    answers = check_together([reading.job for reading in readings.values()])
    for (i, reading), answer in zip(readings.items(), answers, strict=True):
        delivered[i] = _or_error(reading.deliver, answer)
    return delivered


def _or_error(step: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, Exception):
        return value
    try:
        return step(value)
    except Exception as error:  # of one item; LangChain raises it or hands it over, as asked for
        return error
