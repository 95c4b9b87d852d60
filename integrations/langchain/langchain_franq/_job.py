"""A captured answer, ready for the guard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_core.documents import Document

from franq_guard.capture.job import Job
from franq_guard.capture.local import LocalModel
from franq_guard.capture.matching import shown
from franq_guard.capture.writing import Writers, Written, unseen
from langchain_franq._capture import Capture
from langchain_franq._evidence import passage_of
from langchain_franq._quiet import unobserved
from langchain_franq._written import written

if TYPE_CHECKING:
    from franq_guard import Guard


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
    if run is not None:
        found = written(guard, models, run, answer)
    else:  # a cache hit of a plain LLM fires no event
        texts = [document.page_content for document in documents]
        only = models[0] if len(models) == 1 else None
        found = unseen(Writers(guard, models, only), answer, [question, *texts])
    return job_from(found, question, documents, id=id)


def job_from(
    found: Written, question: str, documents: Sequence[Document], *, id: str | None
) -> Job:
    """A job for a written answer and the documents it may rest on."""
    passages = shown([*map(passage_of, documents)], found.generation.prompt)
    trace = found.trace(question, passages, id=id)
    return Job(found.guard, (trace,), lead=found.lead, unobserved=unobserved)
