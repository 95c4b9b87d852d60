"""One guarded call: what it captured, and its answer checked and reported."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from llama_index.core.schema import NodeWithScore

from franq_guard import Claim, GuardedAnswer, Policy, Trace, Verdict
from franq_guard.capture.job import Job, gathered
from franq_guard.capture.outlet import StreamMode, check_stream_mode, remarks
from franq_guard.records import Label
from franq_guard.streaming.release import OnClaim, OnReport, Release
from franq_guard.streaming.stream import ClaimStream
from llama_index_franq._capture import Capture, announce, unobserved
from llama_index_franq._models import Models
from llama_index_franq._trace import job_of

if TYPE_CHECKING:
    from franq_guard import Guard


WITHHELD = "[withheld: not checked]"
"""Stands where a text beside an answer was taken out."""


@dataclass(frozen=True)
class Watch:
    """What all calls of one guarded engine share."""

    guard: Guard
    models: Models
    release: Release
    stream: StreamMode = "buffer"

    @property
    def advisory(self) -> bool:
        """Whether streams show the raw text as it comes."""
        return self.stream == "tail"

    def call(self, question: str) -> Call:
        """A fresh call."""
        return Call(self, question)


def watch_on(
    engine: Any,
    guard: Guard,
    *,
    stream: StreamMode,
    on_report: OnReport | None,
    on_claim: OnClaim | None = None,
    raise_on: Collection[Label],
) -> Watch:
    """The watch on ``engine``: its local models found, their recorders attached.

    Raises:
        ValueError: for an unknown stream mode or label, ``on_claim`` in another mode than
            ``claims``, or a guard that cannot check claim by claim.
    """
    check_stream_mode(guard, stream, on_claim)
    return Watch(guard, Models(engine, guard), Release(on_report, raise_on, on_claim), stream)


@dataclass(frozen=True)
class Checked:
    """A checked answer and its report (schema ``franq.answer/1``, evidence with node ids)."""

    answer: GuardedAnswer
    report: Mapping[str, Any]
    policy: Policy
    advisory: bool = False

    @property
    def text(self) -> str:
        """The text after the policy."""
        return self.answer.text

    @property
    def told(self) -> list[Verdict]:
        """The verdicts that a reader of the raw text is told of."""
        return [v for v in self.answer.verdicts if v.label in self.policy.marked]

    @property
    def ending(self) -> str:
        """What ends a stream: the checked text, or remarks where the raw one was shown."""
        return remarks(self.told) if self.advisory else self.text


@dataclass
class Call:
    """One run of a guarded engine; lives and dies with it."""

    watch: Watch
    question: str
    capture: Capture = field(default_factory=Capture)

    def check(
        self, text: str, nodes: Sequence[NodeWithScore], claims: Sequence[Claim] | None = None
    ) -> Checked:
        """Check ``text``, answered from ``nodes``; what the release raises passes."""
        return self._told(self._checked(text, nodes, claims))

    async def acheck(
        self, text: str, nodes: Sequence[NodeWithScore], claims: Sequence[Claim] | None = None
    ) -> Checked:
        """:meth:`check` in a thread, so that the event loop stays free."""
        return self._told(await asyncio.to_thread(self._checked, text, nodes, claims))

    def aside(self, text: str, *, question: str, nodes: Sequence[NodeWithScore]) -> str:
        """A text that leaves beside the answer, checked; it is in no report and stops nothing.

        Withheld where it has a claim of a label that stops answers.
        """
        with unobserved():
            answer = self._job(text, nodes, None, question).check()
        stops = any(verdict.label in self.watch.release.raise_on for verdict in answer.verdicts)
        return WITHHELD if stops else answer.text

    def claims(self, nodes: Sequence[NodeWithScore]) -> ClaimStream:
        """A stream of what is answered from ``nodes``, checked claim by claim."""
        return ClaimStream(
            self.watch.guard,
            lambda text: self._job(text, nodes, None).of_a_stream(),
            release=self.watch.release,
        )

    def checked(self, stream: ClaimStream) -> Checked:
        """The answer of a stream of claims at its end; what the release raises passes."""
        answer = stream.answer()
        announce(answer.text)
        return Checked(answer, report_of(answer, stream.trace), self.watch.guard.policy)

    def _checked(
        self, text: str, nodes: Sequence[NodeWithScore], claims: Sequence[Claim] | None
    ) -> Checked:
        with unobserved():
            job = self._job(text, nodes, claims)
            answer = job.check()
        report, policy = report_of(answer, job.traces[0]), self.watch.guard.policy
        return Checked(answer, report, policy, self.watch.advisory)

    def _told(self, checked: Checked) -> Checked:
        self.watch.release(checked.answer)
        announce(checked.text)
        return checked

    def _job(
        self,
        text: str,
        nodes: Sequence[NodeWithScore],
        claims: Sequence[Claim] | None,
        question: str = "",
    ) -> Job:
        watch, question = self.watch, question or self.question
        return gathered(
            lambda: job_of(
                watch.guard,
                watch.models,
                self.capture,
                question=question,
                answer=text,
                nodes=nodes,
                claims=claims,
            ),
            watch.guard,
            text,
            question=question,
        )


def report_of(answer: GuardedAnswer, trace: Trace) -> dict[str, Any]:
    """``answer`` as JSON-ready values; each stretch names its node beside its characters."""
    report = answer.to_dict()
    for verdict in report["verdicts"]:
        for found in (verdict["evidence"], verdict["against"]):
            if found is not None:
                found["node_id"] = trace.passages[found["passage"]].id
    return report
