"""The only module that uses the OpenTelemetry API, and only if the application has imported it.

An application that sets up an SDK has imported the API. If the API is not imported, there is no SDK
to send anything to.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from franq_guard.telemetry.names import EVENT, SCOPE
from franq_guard.telemetry.settings import chosen

if TYPE_CHECKING:
    from opentelemetry._logs import Logger
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

__all__ = ["Attributes", "activated", "current", "deactivate", "emit", "fail", "is_in_a_span"]
__all__ += ["logger", "tracer", "with_span"]

Attributes = Mapping[str, str | bool | int | float | Sequence[str]]


def tracer() -> Tracer | None:
    """The tracer that makes spans; None if no SDK receives them."""
    own = chosen()
    given = (own and own.tracer_provider) or _provider("opentelemetry.trace", "get_tracer_provider")
    return given and given.get_tracer(SCOPE)


def logger() -> Logger | None:
    """The logger that receives events; None if no SDK does."""
    own = chosen()
    given = (own and own.logger_provider) or _provider("opentelemetry._logs", "get_logger_provider")
    return given and given.get_logger(SCOPE)


def _provider(api: str, get: str) -> Any:
    """The application's provider; None if it is the API's default, which does nothing."""
    ask = getattr(sys.modules.get(api), get, None)
    provider = ask and ask()
    return None if type(provider).__module__.startswith(api) else provider


def current() -> Context | None:
    """OpenTelemetry's current context, with the open span; None without OpenTelemetry."""
    ask = getattr(sys.modules.get("opentelemetry.context"), "get_current", None)
    return ask and ask()


def is_in_a_span(context: Context | None) -> bool:
    """Whether a span is open in ``context``."""
    from opentelemetry.trace import get_current_span

    return get_current_span(context).get_span_context().is_valid


def with_span(span: Span, context: Context | None) -> Context:
    """``context`` with ``span`` open in it."""
    from opentelemetry.trace import set_span_in_context

    return set_span_in_context(span, context)


def activated(context: Context) -> Any:
    """Make ``context`` the current one; returns what :func:`deactivate` takes."""
    from opentelemetry.context import attach

    return attach(context)


def deactivate(token: Any) -> None:
    """Restore the context that was current when :func:`activated` was called."""
    from opentelemetry.context import detach

    detach(token)


def fail(span: Span) -> None:
    """Mark a span as failed, without the error message, which may contain users' text."""
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.ERROR))


def emit(to: Logger, attributes: Attributes, context: Context | None, *, failed: bool) -> None:
    """Send one result as an event of the span that is open in ``context``."""
    from opentelemetry._logs import LogRecord, SeverityNumber

    severity = SeverityNumber.WARN if failed else SeverityNumber.INFO
    to.emit(
        LogRecord(
            timestamp=time.time_ns(),
            event_name=EVENT,
            attributes=attributes,
            context=context,
            severity_number=severity,
        )
    )
