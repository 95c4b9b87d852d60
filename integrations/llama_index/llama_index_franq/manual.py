"""capture: for plain code and Workflows of one's own, where no engine can be wrapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from franq_guard import GuardedAnswer
from franq_guard.capture.evidence import passages_of
from franq_guard.capture.outlet import check_guard
from franq_guard.streaming.release import Release
from llama_index_franq._call import Call, Watch
from llama_index_franq._capture import Capture, observed
from llama_index_franq._models import Models

if TYPE_CHECKING:
    from franq_guard import Guard


class Captured:
    """What ran within :func:`capture`."""

    def __init__(self, seen: Capture, parts: Sequence[Any], guard: Guard | None) -> None:
        self._capture, self._parts, self._guard = seen, parts, guard

    def check(
        self, question: str, answer: str, *, guard: Guard | None = None, evidence: Any = None
    ) -> GuardedAnswer:
        """Check ``answer`` against what was retrieved, with what its model said.

        Args:
            question: as the user asked it.
            answer: what is to leave; the ``text`` of the result may leave in its place.
            guard: default: the one that :func:`capture` was given.
            evidence: the passages (strings, nodes, documents ...), where no retriever found them.

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
    """Within, retriever and model calls of LlamaIndex parts are written down.

        with capture(llm, guard=guard) as run:
            nodes = retriever.retrieve(question)
            answer = llm.complete(prompt(question, nodes)).text
        result = run.check(question, answer)

    In a step of a Workflow it is used the same way, also around ``await``. Give one question and
    its answer to one ``with`` block. Calls in other threads are seen where the context is copied to
    them (``asyncio`` and LlamaIndex do; a bare ``ThreadPoolExecutor`` does not); read a stream to
    its end within the block.

    Args:
        parts: the models, engines or workflows used inside, so that the tokens of a HuggingFaceLLM
            among them are captured.
        guard: what :meth:`Captured.check` checks with.

    Raises:
        TypeError: for something else than a guard.
    """
    if guard is not None:
        check_guard("capture", guard)
        Models(list(parts), guard)  # from now on its tokens are recorded
    seen = Capture()
    with observed(seen):
        yield Captured(seen, parts, guard)
