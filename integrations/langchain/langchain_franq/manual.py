"""capture: for RAG code that is a plain function and not a chain."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from langchain_core.tracers.context import register_configure_hook

from franq_guard import GuardedAnswer
from franq_guard.capture.evidence import NoPassagesNote, passages_of
from franq_guard.capture.job import Job
from franq_guard.capture.local import left_out_if_unfit
from franq_guard.capture.outlet import check_guard
from langchain_franq._capture import Capture
from langchain_franq._events import Events, captures
from langchain_franq._find import local_models, models_of
from langchain_franq._job import job_of

if TYPE_CHECKING:
    from franq_guard import Guard

_adding = threading.Lock()


class Captured:
    """What was captured within :func:`capture`."""

    def __init__(self, capture: Capture, parts: tuple[Any, ...]) -> None:
        self._capture = capture
        self._parts = parts
        self._note = NoPassagesNote()

    def check(
        self, guard: Guard, question: str, answer: str, *, evidence: Any = None
    ) -> GuardedAnswer:
        """Check ``answer`` by what was captured of its retrievers and model; see ``Guard``.

        Args:
            guard: the guard.
            question: what was asked.
            answer: what was answered.
            evidence: the passages, if no LangChain retriever or tool found them: documents,
                strings, one joined string, or a dict of these.

        Raises:
            TypeError: if ``guard`` is not a guard.
        """
        return self._job(guard, question, answer, evidence).check()

    async def acheck(
        self, guard: Guard, question: str, answer: str, *, evidence: Any = None
    ) -> GuardedAnswer:
        """:meth:`check` without blocking the event loop."""
        return await self._job(guard, question, answer, evidence).acheck()

    def _job(self, guard: Guard, question: str, answer: str, evidence: Any) -> Job:
        check_guard("capture", guard)
        given = passages_of(evidence)
        passages = given or self._capture.evidence(given=question, answer=answer)
        models = models_of(self._parts, guard)
        return job_of(
            guard,
            models,
            self._capture,
            question=question,
            answer=answer,
            passages=passages,
            note=self._note,
        )


@contextmanager
def capture(*parts: Any) -> Iterator[Captured]:
    """Context in which retriever and model calls of LangChain parts are recorded.

        with capture(llm) as run:
            documents = retriever.invoke(question)
            answer = llm.invoke(prompt(question, documents))
        result = run.check(guard, question, answer)

    Use one ``with`` block for one question and its answer. Calls in other threads are recorded if
    the context is copied to them (``asyncio`` and LangChain do so; a plain ``ThreadPoolExecutor``
    does not). Items of one ``batch`` cannot be distinguished: use :func:`guard_chain` for those.
    What happens in a block inside another is recorded in both.

    Args:
        parts: the models or chains used inside, so that the tokens of local Hugging Face models
            among them are captured. One that cannot be recorded is left out with a warning.
    """
    from franq_guard.language_model import Recorder

    for model, tokenizer in local_models(parts):
        if tokenizer is not None:  # a llama_cpp.Llama is not recorded
            with left_out_if_unfit(model):
                Recorder.attach(model, tokenizer)
    captured = Capture()
    level = _free_level()
    token = level.set(captured)
    try:
        yield Captured(captured, parts)
    finally:
        level.reset(token)


def _free_level() -> ContextVar[Events | None]:
    """The variable of the first level that no block around this one uses."""
    with _adding:
        if all(level.get() is not None for level in captures):
            captures.append(ContextVar("franq_capture", default=None))
            register_configure_hook(captures[-1], inheritable=True)
        return next(level for level in captures if level.get() is None)
