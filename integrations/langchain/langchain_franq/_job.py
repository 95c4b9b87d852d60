"""A captured answer, ready for the guard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_core.documents import Document

from franq_guard import GuardedAnswer, Trace
from franq_guard.capture.local import LocalModel
from franq_guard.capture.matching import shown
from langchain_franq._capture import Capture
from langchain_franq._evidence import passage_of
from langchain_franq._quiet import unobserved
from langchain_franq._written import Written, unobserved_answer, written

if TYPE_CHECKING:
    from franq_guard import Guard


@dataclass(frozen=True)
class Job:
    """A trace and the guard to check it with.

    ``lead`` is the prompt that some pipelines repeat before the answer; ``failure`` says why the
    trace could not be gathered.
    """

    guard: Guard
    trace: Trace
    lead: str = ""
    failure: str = ""

    def check(self) -> GuardedAnswer:
        """The guard's answer; every claim unverified where capturing failed."""
        with unobserved():
            if self.failure:
                return self.guard.unverified(self.trace, "error", detail=self.failure)
            return self.guard.check_trace(self.trace)

    async def acheck(self) -> GuardedAnswer:
        """:meth:`check` without blocking the event loop."""
        if self.failure:
            return self.check()
        with unobserved():
            return await self.guard.acheck_trace(self.trace)


def job_of(
    guard: Guard,
    models: Sequence[LocalModel],
    capture: Capture,
    *,
    question: str,
    answer: str,
    documents: Sequence[Document],
    id: str | None = None,
) -> Job:
    """All that was captured about ``answer`` as a trace for the right guard."""
    run = capture.answer_run(answer)
    if run is None:
        texts = [document.page_content for document in documents]
        found = unobserved_answer(guard, models, answer, question=question, passages=texts)
    else:
        found = written(guard, models, run, answer)
    return job_from(found, question, documents, id=id)


def job_from(
    found: Written, question: str, documents: Sequence[Document], *, id: str | None
) -> Job:
    """A job for a written answer and the documents it may rest on."""
    made = found.generation
    passages = tuple(shown([*map(passage_of, documents)], made.prompt))
    trace = Trace(question, passages, made, prompt_seen=made.prompt is not None, id=id)
    return Job(found.guard, trace, found.lead)
