"""A scorer for MLflow's ``mlflow.genai.evaluate``."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from franq_guard.capture.evidence import EvidenceFrom, check_evidence, passages_of
from franq_guard.capture.outlet import check_guard
from franq_guard.evaluators.assessment import assess, framework
from franq_guard.evaluators.reading import trace_of_run

with framework("MLflow", "mlflow"):
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback
    from mlflow.genai.scorers import Scorer, scorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from franq_guard.guard import Guard
    from franq_guard.records import Passage


def franq_scorer(
    guard: Guard, *, name: str = "franq", evidence: EvidenceFrom | None = None
) -> Scorer:
    """A scorer whose feedback is the lowest P(true) of the answer's claims.

        mlflow.genai.evaluate(data=rows, scorers=[franq_scorer(guard)])

    The passages are those of ``inputs`` or ``outputs`` (a usual key, or ``evidence``), else what
    the trace's retriever spans returned. ``rationale`` has a line for each claim, and the metadata
    say whether the policy lets the answer pass. An answer that could not be verified is an error
    of the assessment, never a score.

    Args:
        guard: shared by any number of threads.
        name: of the scorer and its feedback.
        evidence: where to find the passages if they are not under a usual key.

    Raises:
        TypeError, ValueError: for arguments of the wrong kind.
    """
    check_guard("franq_scorer", guard)
    check_evidence(evidence)

    def franq(inputs: Any, outputs: Any, trace: Any = None) -> Feedback:
        row = trace_of_run(inputs, outputs, evidence)
        if not row.passages:
            row = replace(row, passages=tuple(_retrieved(trace)))
        found = assess(guard.check_trace(row), guard.policy)
        return Feedback(
            name=name,
            value=found.score,
            # Not a string: before MLflow 3.8 one ended the evaluation of all rows.
            error=found.invalid and AssessmentError("NOT_VERIFIED", found.invalid),
            rationale=found.comment,
            source=AssessmentSource(source_type="CODE", source_id="franq_guard"),
            metadata={"passed": json.dumps(found.passed)},
        )

    return scorer(franq, name=name)


def _retrieved(trace: Any) -> Sequence[Passage]:
    """What the trace's retriever spans returned, each passage once."""
    spans = [] if trace is None else trace.search_spans(span_type="RETRIEVER")
    return passages_of([span.outputs for span in spans])
