"""One guarded call: what it captured, and its answer checked and reported."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from llama_index.core.schema import NodeWithScore

from franq_guard import Claim, GuardedAnswer, Passage, Policy, Trace
from franq_guard.capture.evidence import EvidenceFrom, NoPassagesNote, check_evidence
from franq_guard.capture.fields import check_fields
from franq_guard.capture.job import Job, check_together, gathered, joined
from franq_guard.capture.local import check_recorded
from franq_guard.capture.outlet import StreamMode, check_stream_mode, remarks
from franq_guard.records import Label
from franq_guard.streaming.release import OnClaim, OnReport, Release
from franq_guard.streaming.stream import ClaimStream
from llama_index_franq._capture import Capture, ModelRun
from llama_index_franq._events import announce, unobserved
from llama_index_franq._evidence import evidence_of, named_by_user, passage_of, usual_evidence
from llama_index_franq._fields import (
    BEFORE_THE_PARSER,
    texts_at,
    with_texts,
    without_texts,
)
from llama_index_franq._find import writes_objects
from llama_index_franq._models import Models
from llama_index_franq._structured import Fields, keeps
from llama_index_franq._trace import job_of

if TYPE_CHECKING:
    from franq_guard import Guard


_log = logging.getLogger(__name__)

WITHHELD = "[withheld: not checked]"
"""Replaces a text that was returned with an answer and could not be checked."""


class NoPathNote:
    """Warns once if an agent's ``evidence=`` is a path that no tool's result has."""

    def __init__(self) -> None:
        self._warned = False

    def __call__(self, path: str, tools: Iterable[str]) -> None:
        """Say that all that the tools of a run returned is the evidence instead."""
        if not self._warned:
            self._warned = True
            _log.warning(
                "evidence=%r leads nowhere in the agent's state and in what its tools %s returned: "
                "all that they returned is the evidence. If other tools do not have it either, "
                "correct the path. This warning is logged once",
                path,
                sorted(tools),
            )


@dataclass(frozen=True)
class Watch:
    """What all calls of one guarded engine share."""

    guard: Guard
    models: Models
    release: Release
    stream: StreamMode = "buffer"
    evidence: EvidenceFrom | None = None
    fields: tuple[str, ...] = ()
    no_passages: NoPassagesNote = field(default_factory=NoPassagesNote)
    no_path: NoPathNote = field(default_factory=NoPathNote)

    @property
    def options(self) -> dict[str, Any]:
        """The options given to :func:`watch_on`, to set up the watch of a copied engine."""
        return {
            "stream": self.stream,
            "on_report": self.release.on_report,
            "on_claim": self.release.on_claim,
            "raise_on": self.release.raise_on,
            "evidence": self.evidence,
            **({"fields": self.fields} if self.fields else {}),  # only some wrappers have it
        }

    @property
    def advisory(self) -> bool:
        """Whether streams show the raw text as it is written."""
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
    evidence: EvidenceFrom | None = None,
    fields: Collection[str] = (),
) -> Watch:
    """The watch on ``engine``, with recorders attached to its local models.

    Raises:
        TypeError: for evidence that is not a key, path or function.
        ValueError: for an unknown stream mode or label, ``on_claim`` in another mode than
            ``claims``, a guard that cannot check claim by claim, a structured model without
            ``fields``, or a stream of claims of a llama.cpp model, which cannot be asked while it
            writes.
    """
    check_evidence(evidence)
    named = check_fields(fields, stream)
    if not named and writes_objects(engine):
        raise ValueError(
            "the engine's model writes objects as JSON (as_structured_llm), which carry no marks: "
            + BEFORE_THE_PARSER
        )
    check_stream_mode(guard, stream, on_claim)
    release = Release(on_report, raise_on, on_claim)
    models = Models(engine, guard)
    if stream == "claims":
        check_recorded(models.local, "stream='claims'", "use stream='buffer'")
    return Watch(guard, models, release, stream, evidence, named)


@dataclass(frozen=True)
class Checked:
    """A checked answer and its report (schema ``franq.answer/1``, evidence with node ids)."""

    answer: GuardedAnswer
    report: Mapping[str, Any]
    policy: Policy
    advisory: bool

    @property
    def text(self) -> str:
        """The text after the policy."""
        return self.answer.text

    @property
    def ending(self) -> str:
        """The last piece of a stream: the checked text, or remarks if the raw one was shown."""
        if self.advisory:
            return remarks(self.answer.verdicts, self.policy.marked)
        return self.text


@dataclass
class Call:
    """One run of a guarded engine; used for that run only.

    Attributes:
        response: of the inner engine, once it is known.
        given: the passages that the wrapper itself found for this call.
        earlier: the nodes of the conversation's last turn that had any.
        failure: why the passages could not be found.
    """

    watch: Watch
    question: str
    capture: Capture = field(default_factory=Capture)
    response: Any = None
    given: Sequence[Passage] = ()
    earlier: Sequence[NodeWithScore] = ()
    failure: Exception | None = None

    def check(self, text: str, nodes: Sequence[NodeWithScore]) -> Checked:
        """Check ``text``, answered from ``nodes``; raises what the release does."""
        return self._announced(self._checked(text, nodes))

    async def acheck(self, text: str, nodes: Sequence[NodeWithScore]) -> Checked:
        """:meth:`check` in a thread, so that the event loop stays free."""
        return self._announced(await asyncio.to_thread(self._checked, text, nodes))

    def aside(self, text: str, *, question: str, nodes: Sequence[NodeWithScore]) -> str:
        """Check a text that is returned with the answer; it is not reported and raises nothing.

        It is withheld if a claim has a label of ``raise_on``.
        """
        with unobserved():
            aside = replace(self, question=question or self.question, response=None, given=())
            answer = aside.job(text, nodes).check()
        stops = any(verdict.label in self.watch.release.raise_on for verdict in answer.verdicts)
        return WITHHELD if stops else answer.text

    def check_object(self, found: Any, nodes: Sequence[NodeWithScore]) -> tuple[Checked, Any]:
        """Check a structured answer; returns the object, or None if the policy removes a field.

        Texts named by the watch's ``fields`` are checked one by one and changed by the policy. Any
        other field is one claim: if the policy would remove it, the whole object is left out.
        """
        named = self.watch.fields
        texts = texts_at(found, named)
        rest = Fields(without_texts(found, named) if named else found)
        jobs = [self.job(rest.text, nodes, rest.claims)]
        jobs += [self.job(text, nodes) for text in texts.values()]
        with unobserved():
            answers = check_together(jobs)
        glue = ["", *(f"\n{place}: " for place in texts)]
        whole = joined(glue, answers) if texts else answers[0]
        checked = self._announced(self._reported(whole, jobs[0].traces[0]))
        left = dict(zip(texts, (answer.text for answer in answers[1:]), strict=True))
        stays = keeps(self.watch.guard.policy, answers[0])
        return checked, with_texts(found, left, named) if stays else None

    async def acheck_object(
        self, found: Any, nodes: Sequence[NodeWithScore]
    ) -> tuple[Checked, Any]:
        """:meth:`check_object` in a thread."""
        return await asyncio.to_thread(self.check_object, found, nodes)

    def claims(self, nodes: Sequence[NodeWithScore]) -> ClaimStream:
        """A stream of what is answered from ``nodes``, checked claim by claim."""
        return ClaimStream(
            self.watch.guard,
            lambda text: self.job(text, nodes).of_a_stream(),
            release=self.watch.release,
        )

    def of_claims(self, answer: GuardedAnswer, trace: Trace) -> Checked:
        """The ``answer`` of a stream of claims, which was released already, and its ``trace``."""
        announce(answer.text)
        return self._reported(answer, trace)

    def _checked(self, text: str, nodes: Sequence[NodeWithScore]) -> Checked:
        with unobserved():
            job = self.job(text, nodes)
            answer = job.check()
        return self._reported(answer, job.traces[0])

    def _reported(self, answer: GuardedAnswer, trace: Trace) -> Checked:
        report, policy = report_of(answer, trace), self.watch.guard.policy
        return Checked(answer, report, policy, self.watch.advisory)

    def _announced(self, checked: Checked) -> Checked:
        self.watch.release(checked.answer)
        announce(checked.text)
        return checked

    def job(
        self, text: str, nodes: Sequence[NodeWithScore], claims: Sequence[Claim] | None = None
    ) -> Job:
        """Everything that was captured of ``text``, ready to be checked; failures are caught."""
        watch = self.watch
        return gathered(
            lambda: job_of(
                watch.guard,
                watch.models,
                self.capture,
                question=self.question,
                answer=text,
                evidence=lambda run: self._passages(nodes, run),
                claims=claims,
            ),
            watch.guard,
            text,
            question=self.question,
        )

    def _passages(self, nodes: Sequence[NodeWithScore], run: ModelRun | None) -> Sequence[Passage]:
        """The evidence: what the user names, else nodes, else passages in the usual places."""
        if self.failure is not None:
            raise self.failure
        named = self.watch.evidence
        if named is not None and self.response is not None:
            return named_by_user(named, self.question, self.response)
        found = (
            list(self.given)
            or evidence_of(nodes, self.capture, run)
            # A template's context is the nodes, if there are any: here, those that a model wrote.
            or usual_evidence(self.response, self.capture, run, self.question, template=not nodes)
            or [passage_of(node) for node in self.earlier]
        )
        self.watch.no_passages(None if run is None else run.seen, found)
        return found


def report_of(answer: GuardedAnswer, trace: Trace) -> dict[str, Any]:
    """``answer`` as JSON-ready values, with node ids for all evidence and cited passages."""
    report = answer.to_dict()
    for verdict in report["verdicts"]:
        cited = verdict.get("citations", ())
        for found in (verdict["evidence"], verdict["against"], *cited):
            if found is not None and found["passage"] is not None:
                found["node_id"] = trace.passages[found["passage"]].id
    return report
