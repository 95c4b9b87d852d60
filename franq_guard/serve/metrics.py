"""Prometheus metrics of the service: one registry per service, without text of requests."""

from __future__ import annotations

from itertools import product
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from franq_guard.records import GuardedAnswer, Label, Reason, Status
from franq_guard.serve.checker import Checker
from franq_guard.serve.settings import OnError, Route

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_RATIOS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 5)


class Metrics:
    """Counts what a checker does.

    Args:
        checker: the checker to observe.
    """

    def __init__(self, checker: Checker) -> None:
        self.registry = CollectorRegistry()
        self._describe(checker)
        # Create all series now: Prometheus's rate() misses the first event of a series that is
        # only created by that event.
        for status in get_args(Status):
            self._checks.labels(status)
        for label in get_args(Label):
            self._claims.labels(label)
        for reason in get_args(Reason):
            self._unverified.labels(reason)
            self._remarks.labels(reason)
        for route, on_error in product(get_args(Route), get_args(OnError)):
            self._unverified_answers.labels(route, on_error)
        checker.on_unverified.append(lambda *labels: self._unverified_answers.labels(*labels).inc())
        checker.on_checked.append(self.checked)
        checker.on_generated.append(self.generated)

    def _describe(self, checker: Checker) -> None:
        registry = self.registry
        self._checks = Counter(
            "franq_checks", "Checked answers by status.", ["status"], registry=registry
        )
        self._claims = Counter("franq_claims", "Claims by label.", ["label"], registry=registry)
        self._unverified = Counter(
            "franq_unverified_claims",
            "Claims that could not be checked, by reason.",
            ["reason"],
            registry=registry,
        )
        self._remarks = Counter(
            "franq_remarked_claims",
            "Claims with a P(true) and a remark on it, by reason.",
            ["reason"],
            registry=registry,
        )
        self._unverified_answers = Counter(
            "franq_unverified_answers",
            "Answers with claims that could not be checked, by route and by their on_error: "
            "open let them leave marked, closed treated them as weak.",
            ["route", "on_error"],
            registry=registry,
        )
        self._errors = Counter(
            "franq_errors", "Requests refused or failed, by code.", ["code"], registry=registry
        )
        self._seconds = Histogram(
            "franq_check_seconds",
            "Seconds an answer took, waiting included.",
            registry=registry,
            buckets=_SECONDS,
        )
        self._stages = Histogram(
            "franq_stage_seconds",
            "Seconds of an answer by stage of the check.",
            ["stage"],
            registry=registry,
            buckets=_SECONDS,
        )
        self._ratio = Histogram(
            "franq_guard_to_generation_ratio",
            "Time the guard added to an answer over the time its model took to write it.",
            registry=registry,
            buckets=_RATIOS,
        )
        queue = Gauge("franq_queue_length", "Answers that wait to be checked.", registry=registry)
        queue.set_function(lambda: checker.waiting)
        ready = Gauge("franq_ready", "1 when the models are loaded.", registry=registry)
        ready.set_function(lambda: checker.ready)

    def checked(self, answer: GuardedAnswer, seconds: float) -> None:
        """Count a checked answer."""
        self._checks.labels(answer.status).inc()
        self._seconds.observe(seconds)
        for verdict in answer.verdicts:
            self._claims.labels(verdict.label).inc()
            if verdict.label == "unverified":
                self._unverified.labels(_known_reason(verdict.reason)).inc()
            elif verdict.reason and verdict.label != "not-a-claim":
                self._remarks.labels(_known_reason(verdict.reason)).inc()
        for stage, stage_seconds in answer.timings.items():
            self._stages.labels(stage).observe(stage_seconds)

    def generated(self, guard_seconds: float, generation_seconds: float) -> None:
        """Record the guard's delay relative to the time the model took to write the answer."""
        if generation_seconds > 0:
            self._ratio.observe(guard_seconds / generation_seconds)

    def refused(self, code: str) -> None:
        """Count a request that was refused or failed."""
        self._errors.labels(code).inc()

    def text(self) -> bytes:
        """All metrics in Prometheus's text format (:data:`CONTENT_TYPE`)."""
        return generate_latest(self.registry)


def _known_reason(reason: str | None) -> str:
    """The reason, or "other" if it is not one of ours, so that the number of series is bounded."""
    return reason if reason is not None and reason in get_args(Reason) else "other"
