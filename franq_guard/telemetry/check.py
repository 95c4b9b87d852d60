"""The telemetry of one checked answer: a span, then events with the results."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from franq_guard.records import GuardedAnswer, Trace
from franq_guard.telemetry import bridge, names
from franq_guard.telemetry.results import (
    failure_of,
    result_of_answer,
    results_of_claims,
    summary,
)
from franq_guard.telemetry.settings import settings

if TYPE_CHECKING:
    from opentelemetry._logs import Logger
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

__all__ = ["Active", "Check", "Stage", "opened", "type_of"]

_log = logging.getLogger(__name__)
P = ParamSpec("P")


def harmless(step: Callable[P, None]) -> Callable[P, None]:
    """``step`` with its exceptions logged instead of raised: telemetry must not break a check."""

    @wraps(step)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            step(*args, **kwargs)
        except Exception:
            _log.debug("telemetry failed", exc_info=True)

    return run


class Check:
    """The telemetry of one answer's check.

    Attributes:
        trace: what is checked; None if the answer is still being written.
        error: the type of the exception that the check raised.

    Args:
        trace: see above.
        tracer: makes the span; None: there is no span.
        logger: receives the results; None: they are not sent.
        parent: the context in which the check was asked for.
        batch_size: how many answers are checked together.
    """

    def __init__(
        self,
        trace: Trace | None,
        tracer: Tracer | None,
        logger: Logger | None,
        parent: Context | None,
        batch_size: int = 1,
    ) -> None:
        self.trace = trace
        self.error: str | None = None
        self._tracer, self._logger, self._parent = tracer, logger, parent
        self._span: Span | None = None
        self._over = False
        self.context = parent
        if tracer is not None:
            size = {names.BATCH_SIZE: batch_size}
            self._span = tracer.start_span(names.CHECK, context=parent, attributes=size)
            self.context = bridge.with_span(self._span, parent)

    def begin(self, name: str) -> Span | None:
        """Start the span of a stage."""
        if self._tracer is None:
            return None
        return self._tracer.start_span(names.STAGE + name, context=self.context)

    @harmless
    def finish(self, answer: GuardedAnswer) -> None:
        """End the span and send the results; only the first call has an effect."""
        if self._over:
            return
        self._over, chosen = True, settings()
        if self._span is not None:
            self._span.set_attributes(summary(answer, self.error, chosen))
            if failure_of(answer, self.error):
                bridge.fail(self._span)
            self._span.end()
        if self._logger is not None:
            results = [result_of_answer(answer, self.error)]
            results += results_of_claims(answer, self.error, chosen)
            for result in results:
                self._tell(self._logger, result)

    @harmless
    def abandon(self) -> None:
        """End the span if the check has no result; no effect after :meth:`finish`."""
        if not self._over and self._span is not None:
            self._span.set_attribute(names.ABANDONED, True)
            self._span.end()
        self._over = True

    def _tell(self, logger: Logger, result: bridge.Attributes) -> None:
        # The result is about the span of the model's call; if none is open, use the check's span.
        found = self._parent if bridge.is_in_a_span(self._parent) else self.context
        bridge.emit(logger, result, found, failed=names.ERROR_TYPE in result)


def opened(traces: Sequence[Trace | None], parents: Sequence[Context | None]) -> tuple[Check, ...]:
    """Begin the telemetry of these checks; empty if no SDK receives it."""
    try:
        tracer, logger = bridge.tracer(), bridge.logger()
        if tracer is None and logger is None:
            return ()
        here = bridge.current()
        return tuple(  # a context without a span is a parent, too, and false
            Check(trace, tracer, logger, here if parent is None else parent, len(traces))
            for trace, parent in zip(traces, parents, strict=True)
        )
    except Exception:
        _log.debug("telemetry failed", exc_info=True)
        return ()


class Active:
    """Context in which other spans (a model's request, say) are children of the first check's."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._checks = checks
        self._token: Any = None

    def __enter__(self) -> None:
        self._enter()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._exit(kind)

    @harmless
    def _enter(self) -> None:
        self._activate(self._checks[0].context)

    @harmless
    def _exit(self, kind: type[BaseException] | None) -> None:
        self._deactivate()

    def _activate(self, context: Context | None) -> None:
        if context is not None:
            self._token = bridge.activated(context)

    def _deactivate(self) -> None:
        if self._token is not None:
            bridge.deactivate(self._token)


class Stage(Active):
    """A stage of the checks: a child span for each of them."""

    def __init__(self, name: str, checks: Sequence[Check]) -> None:
        super().__init__(checks)
        self._name = name
        self._spans: list[Span] = []

    @harmless
    def _enter(self) -> None:
        begun = (check.begin(self._name) for check in self._checks)
        self._spans = [span for span in begun if span is not None]
        if self._spans:
            self._activate(bridge.with_span(self._spans[0], self._checks[0].context))

    @harmless
    def _exit(self, kind: type[BaseException] | None) -> None:
        self._deactivate()
        for span in self._spans:
            if kind is not None:
                span.set_attribute(names.ERROR_TYPE, type_of(kind))
                bridge.fail(span)
            span.end()


def type_of(kind: type[BaseException]) -> str:
    """The full name of an exception's class, as the OpenTelemetry conventions require."""
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
