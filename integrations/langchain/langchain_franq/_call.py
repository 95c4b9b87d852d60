"""One guarded call: what it captured, how its answer is read, checked and put back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import UUID

from langchain_core.runnables import Runnable, RunnableConfig

from franq_guard import GuardedAnswer, Passage
from franq_guard.capture.evidence import chosen_passages
from franq_guard.capture.job import Job, acheck_together, check_together, gathered
from franq_guard.capture.job import joined as joined_answers
from franq_guard.capture.local import LocalModel
from franq_guard.capture.outlet import StreamMode, remarks
from franq_guard.streaming.release import Release
from langchain_franq._beside import ALSO_CHECKED_KEY, texts_to_check, tool_texts, with_checked
from langchain_franq._capture import Capture
from langchain_franq._construction import Notes, is_cumulative
from langchain_franq._job import job_of
from langchain_franq._quiet import observed_by, out_of_sight, stay_out_of_sight, unobserved
from langchain_franq._shapes import (
    Located,
    has_place,
    has_stopped,
    joined,
    locate,
    may_pass,
    question_of,
    without_answer,
)
from langchain_franq._state import command_in, handed_over, update_in, with_values
from langchain_franq._texts import given_texts


class Watched(Protocol):
    """What a call reads of its guarded chain: the options of ``guard_chain``, and what is in it."""

    guard: Any
    release: Release
    stream_mode: StreamMode
    input_key: str | None
    output_key: str | None
    evidence: Any
    fields: tuple[str, ...]

    @property
    def bound(self) -> Runnable[Any, Any]:
        """The chain that is guarded."""

    @property
    def models(self) -> Sequence[LocalModel]:
        """The local models in it."""

    @property
    def notes(self) -> Notes:
        """The warnings that its runs log."""


@dataclass
class Call:
    """One run of a guarded chain on the input ``value``; used for that run only."""

    chain: Watched
    value: Any
    run_id: UUID
    capture: Capture = field(default_factory=Capture)
    passed: list[Mapping[str, Any]] = field(default_factory=list)
    held: list[Any] = field(default_factory=list)

    def observed(self, config: RunnableConfig) -> RunnableConfig:
        """``config`` for the guarded chain: its runs are captured, and hidden from outer streams.

        In ``tail`` mode they are not hidden, because it shows the raw text. The user's other
        handlers are kept.
        """
        self.chain.notes.saved_state(config)
        inside = config if self.chain.stream_mode == "tail" else out_of_sight(config)
        return observed_by(self.capture, inside)

    def streaming(self, config: RunnableConfig) -> RunnableConfig:
        """:meth:`observed`, called in the context of a stream, which it hides as well."""
        if self.chain.stream_mode != "tail":
            stay_out_of_sight()
        return self.observed(config)

    def passes(self, chunk: Any) -> bool:
        """Whether a streamed chunk can be passed on now; keeps it if it may have the answer."""
        free = may_pass(chunk, self.value, self.chain.output_key)
        (self.passed if free else self.held).append(chunk)
        return free or self.chain.stream_mode == "tail"

    def streamed(self) -> Reading:
        """:meth:`read` the chunks that were kept, joined."""
        return self.read(joined(self.held, cumulative=is_cumulative(self.chain.bound)))

    def check_handed_over(self, error: Exception) -> None:
        """Check what a graph gives to the node that it hands over to, in the command it raised.

        Raises:
            Exception: ``error`` itself, if the chain failed.
        """
        reading = self._handed_over(error)
        error.args = (reading.deliver(reading.check()),)

    async def acheck_handed_over(self, error: Exception) -> None:
        """:meth:`check_handed_over` without blocking the event loop."""
        reading = self._handed_over(error)
        error.args = (reading.deliver(await reading.acheck()),)

    def _handed_over(self, error: Exception) -> Reading:
        return self.read(handed_over(error), answered=False)

    def read(self, output: Any, *, answered: bool = True) -> Reading:
        """Find the answer and the other texts to check in ``output``, and gather their traces.

        Raises:
            TypeError, KeyError: if no answer can be found in the output.
        """
        key, wrote = self.chain.output_key, self.capture.wrote
        command = command_in(output)
        if command is not None:  # its update may have the answer
            output = update_in(command)
            answered = answered and has_place(output, key)
        if not answered or (not self.chain.fields and has_stopped(output, self.value, key, wrote)):
            located = without_answer(output)
        else:
            located = locate(output, key, self.chain.fields)
        found = texts_to_check(output, located, self.value, self.capture)
        answers = [] if located.fields else [located.text]
        beside = {text: path[0] for text, path in found.items() if path}
        if not located.fields:
            beside |= dict.fromkeys(tool_texts(output, self.capture), "messages")
        texts = [*answers, *(text for text in {**found, **beside} if text not in answers)]
        if not texts:  # of named fields; what a model left out must not break the chain
            self.chain.notes.no_fields(located.fields)
            texts = [""]
        jobs = tuple(self.job(output, text) for text in texts)
        return Reading(self, located, jobs, beside, command)

    def job(self, output: Any, answer: str) -> Job:
        """What was captured about an answer (so far); ``output`` is the rest of its output."""
        return gathered(
            lambda: self._gather(output, answer),
            self.chain.guard,
            answer,
            id=str(self.run_id),
            unobserved=unobserved,
        )

    def _gather(self, output: Any, answer: str) -> Job:
        given = {key: value for chunk in self.passed for key, value in chunk.items()}
        whole = {**given, **output} if isinstance(output, Mapping) else output or given
        return job_of(
            self.chain.guard,
            self.chain.models,
            self.capture,
            question=question_of(self.value, self.chain.input_key),
            answer=answer,
            passages=self._evidence(whole, answer),
            note=self.chain.notes.no_passages,
            id=str(self.run_id),
        )

    def _evidence(self, output: Any, answer: str) -> list[Passage]:
        if self.chain.evidence is not None:
            return chosen_passages(self.chain.evidence, self.value, output)
        return self.capture.evidence(output, self.value, answer)


@dataclass(frozen=True)
class Reading:
    """The texts found in a call's output, and what was captured about each.

    ``jobs`` are for the answer, then for the other texts; for a structured output, for its texts.
    ``beside`` has these other texts, or the texts of the structure, with the key of each. The
    output may be the update in a ``command``.
    """

    call: Call
    located: Located
    jobs: tuple[Job, ...]
    beside: Mapping[str, str]
    command: Any = None

    def deliver(self, checked: Sequence[GuardedAnswer]) -> Any:
        """The call's output with the checked texts and the report; raises what the release does."""
        text, report = self._released(checked)
        return self._mapped(self.located.put(text, report), checked)

    def last_chunk(self, checked: Sequence[GuardedAnswer]) -> Any:
        """The last chunk of a stream: the checked text, or in ``tail`` mode remarks on it."""
        if self.call.chain.stream_mode != "tail":
            return self.deliver(checked)
        _, report = self._released(checked)
        marked = self.call.chain.guard.policy.marked
        all_remarks = "".join(remarks(answer.verdicts, marked) for answer in checked)
        return self.located.after(all_remarks, report)

    def rest(self, text: str, answer: GuardedAnswer) -> Any:
        """The last chunk of a stream of claims: the last ``text``, the report and the rest."""
        others = check_together(self.jobs[1:])
        report = self._report(answer)
        for other in others:
            self.call.chain.release(other)
        return self._mapped(self.located.put(text, report), [answer, *others])

    def check(self) -> list[GuardedAnswer]:
        """Check all texts."""
        return [self.jobs[0].check()] if len(self.jobs) == 1 else check_together(self.jobs)

    async def acheck(self) -> list[GuardedAnswer]:
        """:meth:`check` without blocking the event loop."""
        return await acheck_together(self.jobs)

    def _released(self, checked: Sequence[GuardedAnswer]) -> tuple[str, dict[str, Any]]:
        """The answer's checked text, and the report."""
        if self.located.fields:
            glue = ("", *["\n"] * (len(checked) - 1))
            whole = joined_answers(glue, checked) if len(checked) > 1 else checked[0]
            answer = self.call.chain.release(replace(whole, id=str(self.call.run_id)))
            return "", self._report(answer)
        main, *_ = [self.call.chain.release(answer) for answer in checked]
        return self.jobs[0].lead + main.text, self._report(main)

    def _report(self, answer: GuardedAnswer) -> dict[str, Any]:
        report = answer.to_dict()
        if self.beside:
            report[ALSO_CHECKED_KEY] = sorted(set(self.beside.values()))
        return report

    def _mapped(self, output: Any, checked: Sequence[GuardedAnswer]) -> Any:
        known = given_texts(self.call.value)
        put = with_checked(output, self.jobs, checked, self.call.capture, known)
        return put if self.command is None else with_values(self.command, put)


def all_checked(calls: Sequence[Call], outputs: Sequence[Any]) -> list[Any]:
    """Check the answers of a batch together; an item that fails is replaced by its exception."""
    delivered: list[Any] = [_or_error(c.read, o) for c, o in zip(calls, outputs, strict=True)]
    readings = {i: found for i, found in enumerate(delivered) if isinstance(found, Reading)}
    answers = iter(check_together([job for reading in readings.values() for job in reading.jobs]))
    for i, reading in readings.items():
        delivered[i] = _or_error(reading.deliver, [next(answers) for _ in reading.jobs])
    return delivered


def _or_error(step: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, Exception):
        return value
    try:
        return step(value)
    except Exception as error:  # of one item; LangChain raises or returns it, by return_exceptions
        return error
