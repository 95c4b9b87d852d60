"""A component for Haystack's evaluation pipelines."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from franq_guard.capture.outlet import check_guard
from franq_guard.evaluators.assessment import assess, framework
from franq_guard.guard import Guard
from franq_guard.rows.traces import trace_of

with framework("Haystack", "haystack"):
    from haystack import component, default_from_dict, default_to_dict
    from haystack.core.errors import SerializationError
    from haystack.utils.callable_serialization import deserialize_callable, serialize_callable

if TYPE_CHECKING:
    from franq_guard.records import GuardedAnswer

GuardMaker = Callable[[], Guard]


@component
class FranqEvaluator:
    """The lowest P(true) of the claims of each answer; can replace ``FaithfulnessEvaluator``.

        pipeline.add_component("franq", FranqEvaluator())

    Args:
        guard: a guard, or a function that makes one (called by :meth:`warm_up`); None:
            ``Guard.offline()``. A pipeline that is to be saved needs None or a function of a module
            (not a lambda); whoever loads it must allow that module
            (``Pipeline.load(..., allowed_modules=[...])``).

    Raises:
        TypeError: if ``guard`` is neither.
    """

    def __init__(self, guard: Guard | GuardMaker | None = None) -> None:
        self.guard = guard
        self._made: Guard | None = None
        if guard is not None and not _is_maker(guard):
            check_guard("FranqEvaluator", guard)

    def warm_up(self) -> None:
        """Make the guard and load its models."""
        self._ready().warm()

    @component.output_types(
        score=float, individual_scores=list[float], results=list[dict[str, Any]]
    )
    def run(
        self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]
    ) -> dict[str, Any]:
        """Check each answer to its question against its contexts.

        Returns:
            ``individual_scores``: the lowest P(true) of each answer's claims, NaN if no claim could
            be verified; ``score``: the mean of those that are not NaN; ``results``: for each
            answer ``statements`` and ``statement_scores`` (P(true) of each claim, None where
            unverified), ``labels``, ``passed``, ``score`` and ``status`` (``evaluated`` or
            ``error``), and ``error`` where there is one.

        Raises:
            ValueError: if the three lists differ in length, or a question is empty.
        """
        rows = zip(questions, contexts, predicted_answers, strict=True)
        guard = self._ready()
        traces = [trace_of(*row) for row in rows]
        results = [_result(answer, guard) for answer in guard.check_many(traces)]
        known = [one["score"] for one in results if not math.isnan(one["score"])]
        return {
            "score": sum(known) / len(known) if known else math.nan,
            "individual_scores": [one["score"] for one in results],
            "results": results,
        }

    def to_dict(self) -> dict[str, Any]:
        """The component for a saved pipeline.

        Raises:
            SerializationError: if it was given a guard itself, which cannot be saved to a file.
        """
        if self.guard is None:
            return dict(default_to_dict(self, guard=None))
        if not _is_maker(self.guard):
            raise SerializationError(
                "a guard cannot be saved: give FranqEvaluator a function that makes it"
            )
        return dict(default_to_dict(self, guard=serialize_callable(self.guard)))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> FranqEvaluator:
        """The component of a saved pipeline."""
        settings = data["init_parameters"]
        if settings.get("guard") is not None:
            settings["guard"] = deserialize_callable(settings["guard"])
        made: FranqEvaluator = default_from_dict(cls, data)
        return made

    def _ready(self) -> Guard:
        if self._made is None:
            self._made = _made(self.guard)
        return self._made


def _made(guard: Guard | GuardMaker | None) -> Guard:
    given: Any = Guard.offline if guard is None else guard
    made: Guard = given() if _is_maker(given) else given
    check_guard("FranqEvaluator", made)
    return made


def _is_maker(guard: object) -> bool:
    return callable(guard) and not hasattr(guard, "check_trace")


def _result(answer: GuardedAnswer, guard: Guard) -> dict[str, Any]:
    found = assess(answer, guard.policy)
    return {
        "statements": [verdict.claim.text for verdict in answer.claims],
        "statement_scores": [verdict.p_true for verdict in answer.claims],
        "labels": [verdict.label for verdict in answer.claims],
        "passed": found.passed,
        "score": math.nan if found.score is None else found.score,
        "status": "error" if found.invalid else "evaluated",
        **({"error": found.invalid} if found.invalid else {}),
    }
