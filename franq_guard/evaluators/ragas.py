"""A metric for RAGAS, using its current interface (``ragas.metrics.collections``)."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

from franq_guard.capture.outlet import check_guard
from franq_guard.evaluators.assessment import assess, framework
from franq_guard.rows.traces import trace_of

with framework("RAGAS", "ragas"):
    from ragas.metrics.collections.base import BaseMetric
    from ragas.metrics.result import MetricResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from franq_guard.guard import Guard


class FranqMetric(BaseMetric):
    """The lowest P(true) of the claims of a response.

        result = await FranqMetric(guard).ascore(
            user_input=question, response=answer, retrieved_contexts=passages)

    ``value`` is the score and ``reason`` has a line for each claim. Where no claim could be
    verified, ``value`` is NaN, as in RAGAS's own metrics, and ``reason`` says why.
    ``score``, ``batch_score`` and ``abatch_score`` are inherited from RAGAS.

    Args:
        guard: shared by any number of metrics and threads.
        name: of the metric.
    """

    def __init__(self, guard: Guard, name: str = "franq") -> None:
        check_guard("FranqMetric", guard)
        super().__init__(name=name)
        self.guard = guard

    async def ascore(
        self, user_input: str, response: str, retrieved_contexts: Sequence[str]
    ) -> MetricResult:
        """Check the response in a thread.

        Raises:
            TypeError, ValueError: for arguments of the wrong kind or an empty question.
        """
        trace = trace_of(user_input, retrieved_contexts, response)
        answer = await asyncio.to_thread(self.guard.check_trace, trace)
        found = assess(answer, self.guard.policy)
        if found.score is None:
            return MetricResult(value=math.nan, reason=f"{found.invalid}\n{found.comment}")
        return MetricResult(value=found.score, reason=found.comment)
