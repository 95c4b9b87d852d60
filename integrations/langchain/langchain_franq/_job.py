"""A captured answer, ready for the guard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from franq_guard import Passage
from franq_guard.capture.evidence import NoPassagesNote
from franq_guard.capture.job import Job
from franq_guard.capture.local import LocalModel
from franq_guard.capture.matching import shown, with_metadata_in_prompt
from franq_guard.capture.writing import Writers, Written, unseen
from langchain_franq._capture import Capture
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
    passages: Sequence[Passage],
    note: NoPassagesNote | None = None,
    id: str | None = None,
    also_seen: str = "",
) -> Job:
    """What was captured about ``answer``, as a trace with the guard for its model.

    ``also_seen``: what models inside tools of earlier turns were given; see :func:`job_from`.
    """
    run = capture.answer_run(answer)
    if run is not None:
        found = written(guard, models, run, answer)
    else:  # no event: LangChain reports none if a plain LLM's answer is cached
        texts = [passage.text for passage in passages]
        only = models[0] if len(models) == 1 else None
        found = unseen(Writers(guard, models, only), answer, [question, *texts])
    if note is not None:
        note(found.generation.prompt, passages)
    return job_from(found, question, passages, capture, id=id, also_seen=also_seen)


def job_from(
    found: Written,
    question: str,
    passages: Sequence[Passage],
    capture: Capture,
    *,
    id: str | None,
    also_seen: str,
) -> Job:
    """A job for a written answer and the passages it may rest on.

    Args:
        found: the answer and its prompt.
        question: of the user.
        passages: those that did not reach a prompt are left out.
        capture: of the run: what its other models were given counts as seen, what they wrote is no
            evidence.
        id: of the trace.
        also_seen: what models inside tools of earlier turns were given: the answer rests on it by
            what they wrote.
    """
    prompt = found.generation.prompt
    behind = (capture.seen_behind(found.generation.text), also_seen)
    seen = None if prompt is None else "\n".join(filter(None, (prompt, *behind)))
    whole = with_metadata_in_prompt(passages, seen, but=lambda text: bool(capture.written_in(text)))
    trace = found.trace(question, shown(whole, seen), id=id)
    return Job(found.guard, (trace,), lead=found.lead, unobserved=unobserved)
