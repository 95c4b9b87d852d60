"""An evaluator for LangSmith and openevals; it needs neither package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

from franq_guard.capture.evidence import EvidenceFrom, check_evidence
from franq_guard.capture.outlet import check_guard
from franq_guard.evaluators.assessment import assess
from franq_guard.evaluators.reading import trace_of_run

if TYPE_CHECKING:
    from franq_guard.guard import Guard


class Result(TypedDict):
    """What LangSmith stores: ``score`` in [0, 1], or None if no claim could be verified."""

    key: str
    score: float | None
    comment: str


def franq_evaluator(
    guard: Guard, *, key: str = "franq", evidence: EvidenceFrom | None = None
) -> Callable[..., Result]:
    """An evaluator with the same interface as those of openevals.

        langsmith.evaluate(target, data="my data set", evaluators=[franq_evaluator(guard)])

    ``score`` is the lowest P(true) of the answer's claims, ``comment`` has a line for each claim.
    ``reference_outputs`` are not used: FRANQ needs the passages, not a reference. An answer that
    could not be verified has no score, and the comment says why. The evaluator takes the passages
    also as ``context=``, as those of openevals do.

    Args:
        guard: shared by any number of threads.
        key: the name of the feedback.
        evidence: where to find the passages if inputs and outputs do not have them under a usual
            key (``context``, ``documents``, ...).

    Raises:
        TypeError, ValueError: for arguments of the wrong kind. The evaluator itself raises
            ``ValueError`` for a run without a question or an answer.
    """
    check_guard("franq_evaluator", guard)
    check_evidence(evidence)

    def evaluate(
        *, inputs: Any, outputs: Any, reference_outputs: Any = None, **kwargs: Any
    ) -> Result:
        answer = guard.check_trace(trace_of_run(inputs, outputs, evidence, beside=kwargs))
        found = assess(answer, guard.policy)
        lines = [found.invalid, found.comment] if found.invalid else [found.comment]
        return Result(key=key, score=found.score, comment="\n".join(lines))

    evaluate.__name__ = key  # LangSmith names the evaluator's own runs after the function
    return evaluate
