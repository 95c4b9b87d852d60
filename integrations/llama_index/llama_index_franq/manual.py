"""capture: for plain code and users' own Workflows, where no engine can be wrapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from franq_guard import GuardedAnswer
from franq_guard.capture.evidence import passages_of
from franq_guard.capture.outlet import check_guard
from franq_guard.streaming.release import Release
from llama_index_franq._call import Call, Watch
from llama_index_franq._capture import Capture
from llama_index_franq._events import observed
from llama_index_franq._models import Models

if TYPE_CHECKING:
    from franq_guard import Guard


class Captured:
    """What was captured within :func:`capture`."""

    def __init__(self, seen: Capture, parts: Sequence[Any], guard: Guard | None) -> None:
        self._capture, self._parts, self._guard = seen, parts, guard

    def check(
        self, question: str, answer: str, *, guard: Guard | None = None, evidence: Any = None
    ) -> GuardedAnswer:
        """Check ``answer`` by what was captured of its retrievers and model.

        Args:
            question: as the user asked it.
            answer: the raw answer; show the ``text`` of the result instead of it.
            guard: default: the one that was given to :func:`capture`.
            evidence: the passages (strings, nodes, documents ...), if no retriever found them.

        Raises:
            TypeError: without a guard.
        """
        return self._call(question, guard, evidence).check(answer, ()).answer

    async def acheck(
        self, question: str, answer: str, *, guard: Guard | None = None, evidence: Any = None
    ) -> GuardedAnswer:
        """:meth:`check` in a thread."""
        return (await self._call(question, guard, evidence).acheck(answer, ())).answer

    def _call(self, question: str, guard: Guard | None, evidence: Any) -> Call:
        chosen = cast("Guard", guard or self._guard)
        check_guard("check", chosen)
        watch = Watch(chosen, Models(list(self._parts), chosen), Release())
        return Call(watch, question, self._capture, given=passages_of(evidence))


@contextmanager
def capture(*parts: Any, guard: Guard | None = None) -> Iterator[Captured]:
    """Context in which retriever and model calls of LlamaIndex parts are recorded.

        with capture(llm, guard=guard) as run:
            nodes = retriever.retrieve(question)
            answer = llm.complete(prompt(question, nodes)).text
        result = run.check(question, answer)

    In a step of a Workflow it is used the same way, also around ``await``. Use one ``with`` block
    for one question and its answer. Calls in other threads are recorded if the context is copied to
    them (``asyncio`` and LlamaIndex do so; a plain ``ThreadPoolExecutor`` does not). Read a stream
    to its end within the block.

    Args:
        parts: the models, engines or workflows used inside, so that the tokens of a HuggingFaceLLM
            among them are captured.
        guard: the guard for :meth:`Captured.check`.

    Raises:
        TypeError: if ``guard`` is not a guard.
    """
    if guard is not None:
        check_guard("capture", guard)
        Models(list(parts), guard)  # attaches recorders to the local models
    seen = Capture()
    with observed(seen):
        yield Captured(seen, parts, guard)
