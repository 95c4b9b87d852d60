"""A metric for DeepEval."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from franq_guard.capture.outlet import check_guard
from franq_guard.evaluators.assessment import assess, framework
from franq_guard.rows.traces import trace_of

with framework("DeepEval", "deepeval"):
    from deepeval.errors import MissingTestCaseParamsError
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import SingleTurnParams

if TYPE_CHECKING:
    from deepeval.test_case import LLMTestCase

    from franq_guard.guard import Guard
    from franq_guard.records import Trace


class FranqMetric(BaseMetric):
    """The lowest P(true) of the claims of a test case's ``actual_output``.

        evaluate(test_cases=[...], metrics=[FranqMetric(guard)])

    A test case needs ``input``, ``actual_output`` and ``retrieval_context``. ``reason`` has a line
    for each claim. If a check fails or verifies no claim, ``error`` is set, the test case is not
    successful, and there is no score.

    Args:
        guard: shared by any number of metrics and threads.
        threshold: the lowest score of a successful test case. The guard's policy must also let the
            answer pass: it uses the calibrator's threshold and the labels, which say more than the
            score.

    Raises:
        TypeError, ValueError: for arguments of the wrong kind, or a threshold outside [0, 1].
    """

    _required_params: ClassVar[list[Any]] = [
        SingleTurnParams.INPUT,
        SingleTurnParams.ACTUAL_OUTPUT,
        SingleTurnParams.RETRIEVAL_CONTEXT,
    ]

    def __init__(self, guard: Guard, threshold: float = 0.0) -> None:
        check_guard("FranqMetric", guard)
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold is compared with a score in [0, 1]; got {threshold}")
        # DeepEval copies a metric by reading attributes with the same names as these arguments.
        self.guard, self.threshold = guard, threshold
        self.passed: bool | None = None

    @property
    def __name__(self) -> str:
        return "FRANQ"

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        """Check the test case and return the score; None if no claim could be verified.

        Raises:
            MissingTestCaseParamsError: if the test case lacks a field; what the guard raises.
        """
        self.score = self.reason = self.success = self.error = self.passed = None
        try:
            found = assess(self.guard.check_trace(_trace(test_case)), self.guard.policy)
        except Exception as failure:
            self.error, self.success = str(failure), False
            raise
        self.score, self.passed, self.error = found.score, found.passed, found.invalid
        self.reason = found.comment
        self.success = self.is_successful()
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        """:meth:`measure` in a thread."""
        return await asyncio.to_thread(self.measure, test_case)

    def is_successful(self) -> bool:
        """Whether the policy lets the answer pass and the score reaches the threshold."""
        enough = self.score is not None and self.score >= self.threshold
        self.success = passed = self.error is None and enough and bool(self.passed)
        return passed


def _trace(test_case: LLMTestCase) -> Trace:
    fields = ("input", "actual_output", "retrieval_context")
    missing = [name for name in fields if getattr(test_case, name, None) is None]
    if missing:
        raise MissingTestCaseParamsError(f"FRANQ needs {', '.join(missing)} of the test case")
    question, answer, context = (getattr(test_case, name) for name in fields)
    # Retrieved passages may be objects that contain a source and the text.
    passages = [text if isinstance(text, str) else text.context for text in context]
    return trace_of(question, passages, answer)
