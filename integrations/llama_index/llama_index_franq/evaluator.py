"""FranqEvaluator: FRANQ as one of LlamaIndex's evaluators."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.prompts.mixin import PromptDictType

from franq_guard import GuardedAnswer, Passage, Trace
from franq_guard.capture.outlet import REPORT_KEY, check_guard
from franq_guard.evaluators.assessment import assess
from franq_guard.rows.traces import trace_of
from llama_index_franq._capture import Capture
from llama_index_franq._evidence import passage_of, unwritten

if TYPE_CHECKING:
    from franq_guard import Guard


class FranqEvaluator(BaseEvaluator):
    """Checks finished answers claim by claim; can be used in ``BatchEvalRunner``.

    ``score`` is the lowest P(true) of the answer's claims, in [0, 1]: an answer is only as good as
    its weakest claim. ``passing``: the policy flags no claim (with ``on_error="closed"`` this
    includes unverified ones). ``feedback`` has a line for each claim. A result in which nothing
    could be verified is invalid, and says why.

    Nothing is captured here, so the contexts alone decide, unless the guard has a calibrator or
    methods of the user's: then its own language model scores the answers.

    Args:
        guard: any number of evaluators and threads may share it.

    Raises:
        TypeError: if ``guard`` is not a guard.
    """

    def __init__(self, guard: Guard) -> None:
        check_guard("FranqEvaluator", guard)
        self._guard = guard

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        """Do nothing: there are no prompts."""

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Check ``response`` to ``query`` against ``contexts``.

        Raises:
            TypeError: if ``contexts`` is one text instead of a list of texts.
            ValueError: if one of the three is missing.
        """
        trace = _trace(query, response, contexts or ())
        if contexts is None:
            raise ValueError("FranqEvaluator needs contexts: the passages the answer was given")
        return self._result(trace, self._guard.check_trace(trace))

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: int = 0,
        **kwargs: Any,
    ) -> EvaluationResult:
        """:meth:`evaluate` in a thread."""
        await asyncio.sleep(sleep_time_in_seconds)
        return await asyncio.to_thread(self.evaluate, query, response, contexts)

    def evaluate_response(
        self, query: str | None = None, response: Response | None = None, **kwargs: Any
    ) -> EvaluationResult:
        """Check a response against its source nodes, without answers to sub-questions.

        For a guarded response, its text from before the guard is checked. A stream is read to its
        end first; of one that was iterated over before, LlamaIndex may not have kept the text
        (``print_response_stream()`` keeps it).

        Raises:
            TypeError: for an async stream, which :meth:`aevaluate_response` reads.
            ValueError: if the query or the response is missing.
        """
        if _is_async(response):
            raise TypeError("FranqEvaluator reads an async stream with aevaluate_response")
        return self._of_response(query, _read(response))

    def _of_response(self, query: str | None, response: Any) -> EvaluationResult:
        nodes = unwritten(response.source_nodes if response is not None else [], Capture())
        trace = _trace(query, _written(response), [passage_of(node) for node in nodes])
        return self._result(trace, self._guard.check_trace(trace))

    async def aevaluate_response(
        self,
        query: str | None = None,
        response: Response | None = None,
        sleep_time_in_seconds: int = 0,
        **kwargs: Any,
    ) -> EvaluationResult:
        """:meth:`evaluate_response` in a thread."""
        await asyncio.sleep(sleep_time_in_seconds)
        if not _is_async(response):
            return await asyncio.to_thread(self.evaluate_response, query, response)
        return await asyncio.to_thread(self._of_response, query, await _aread(response))

    def _result(self, trace: Trace, answer: GuardedAnswer) -> EvaluationResult:
        found = assess(answer, self._guard.policy)
        return EvaluationResult(
            query=trace.question,
            response=answer.original,
            contexts=[passage.text for passage in trace.passages],
            passing=found.passed,
            score=found.score,
            feedback=found.comment,
            invalid_result=found.invalid is not None,
            invalid_reason=found.invalid,
        )


def _trace(query: str | None, response: str | None, passages: Sequence[str | Passage]) -> Trace:
    if not (query or "").strip() or response is None:
        raise ValueError("FranqEvaluator needs a query and a response: FRANQ asks both")
    return trace_of(str(query), passages, response)


def _is_async(response: Any) -> bool:
    of_chat = isinstance(response, StreamingAgentChatResponse)
    return isinstance(response, AsyncStreamingResponse) or (of_chat and bool(response.achat_stream))


def _read(response: Any) -> Any:
    """The response with its whole text; a stream is read to its end."""
    if isinstance(response, StreamingResponse):
        return response.get_response()
    if isinstance(response, StreamingAgentChatResponse):
        deque(response.response_gen, maxlen=0)
    return response


async def _aread(response: Any) -> Any:
    """:func:`_read` of an async stream."""
    if isinstance(response, AsyncStreamingResponse):
        return await response.get_response()
    async for _ in response.async_response_gen():
        pass
    return response


def _written(response: Any) -> str | None:
    """What the engine wrote; a guarded response has it in its report."""
    if response is None:
        return None
    report = (getattr(response, "metadata", None) or {}).get(REPORT_KEY) or {}
    text: str | None = report.get("original", response.response)
    return text
