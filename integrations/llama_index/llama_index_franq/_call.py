"""One guarded call: what it captured, and its answer checked and reported."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from llama_index.core.schema import NodeWithScore

from franq_guard import Claim, Generation, GuardedAnswer, Trace
from franq_guard.policy import MARKS
from franq_guard.records import Label
from franq_guard.streaming.release import OnClaim, OnReport, Release
from franq_guard.streaming.stream import ClaimStream, check_claims_mode
from llama_index_franq._capture import Capture, unobserved
from llama_index_franq._models import Models
from llama_index_franq._trace import Job, job_of

if TYPE_CHECKING:
    from franq_guard import Guard

REPORT_KEY = "franq"
STREAM_MODES = ("buffer", "claims", "tail")


@dataclass(frozen=True)
class Watch:
    """What all calls of one guarded engine share."""

    guard: Guard
    models: Models
    release: Release
    stream: str = "buffer"

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
    stream: str,
    on_report: OnReport | None,
    on_claim: OnClaim | None = None,
    raise_on: Collection[Label],
    modes: Collection[str] = STREAM_MODES,
) -> Watch:
    """The watch on ``engine``: its local models found, their recorders attached.

    Raises:
        ValueError: for a stream mode that is none of ``modes``, an unknown label, ``on_claim`` in
            another mode than ``claims``, or a guard that cannot check claim by claim.
    """
    if stream not in modes:
        other = "; query and chat engines stream claims" if stream in STREAM_MODES else ""
        raise ValueError(f"stream must be one of {tuple(modes)}, not {stream!r}{other}")
    check_claims_mode(guard, stream, on_claim)
    return Watch(guard, Models(engine, guard), Release(on_report, raise_on, on_claim), stream)


@dataclass(frozen=True)
class Checked:
    """A checked answer and its report (schema ``franq.answer/1``, evidence with node ids)."""

    answer: GuardedAnswer
    report: Mapping[str, Any]
    advisory: bool = False

    @property
    def text(self) -> str:
        """The text after the policy."""
        return self.answer.text

    @property
    def ending(self) -> str:
        """What ends a stream: the checked text, or remarks where the raw one was shown."""
        if not self.advisory:
            return self.text
        weak = [v for v in self.answer.verdicts if v.label in MARKS]
        return "".join(f"\n{MARKS[v.label]} {v.claim.text}" for v in weak)


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

    def claims(self, nodes: Sequence[NodeWithScore]) -> ClaimStream:
        """A stream of what is answered from ``nodes``, checked claim by claim."""

        def lookup(text: str) -> tuple[Guard, Trace]:
            job = self._job(text, nodes, None)
            if job.failure or len(job.traces) > 1:
                raise RuntimeError(job.failure or "several answers in one stream")
            return job.guard, job.traces[0]

        return ClaimStream(self.watch.guard, lookup, release=self.watch.release)

    def checked(self, stream: ClaimStream) -> Checked:
        """The answer of a stream of claims at its end; what the release raises passes."""
        answer = stream.answer()
        return Checked(answer, report_of(answer, stream.trace))

    def _checked(
        self, text: str, nodes: Sequence[NodeWithScore], claims: Sequence[Claim] | None
    ) -> Checked:
        with unobserved():
            job = self._job(text, nodes, claims)
            answer = job.check()
        return Checked(answer, report_of(answer, job.traces[0]), self.watch.advisory)

    def _told(self, checked: Checked) -> Checked:
        self.watch.release(checked.answer)
        return checked

    def _job(
        self, text: str, nodes: Sequence[NodeWithScore], claims: Sequence[Claim] | None
    ) -> Job:
        watch = self.watch
        try:
            return job_of(
                watch.guard,
                watch.models,
                self.capture,
                question=self.question,
                answer=text,
                nodes=nodes,
                claims=claims,
            )
        except Exception as error:  # a failure of the capture must not break the user's engine
            trace = Trace(self.question, (), Generation(text))
            return Job(watch.guard, (trace,), failure=f"{type(error).__name__}: {error}")


def report_of(answer: GuardedAnswer, trace: Trace) -> dict[str, Any]:
    """``answer`` as JSON-ready values; each evidence names its node beside its characters."""
    report = answer.to_dict()
    for verdict in report["verdicts"]:
        found = verdict["evidence"]
        if found is not None:
            found["node_id"] = trace.passages[found["passage"]].id
    return report
