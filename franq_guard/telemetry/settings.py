"""What is told, and to whom."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from franq_guard.telemetry.names import TEXT_VARIABLE

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["Settings", "chosen", "configure", "settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """See :func:`configure`."""

    record_text: bool = False
    claims_told: int = 20
    tracer_provider: TracerProvider | None = None
    logger_provider: LoggerProvider | None = None


_chosen: Settings | None = None


def settings() -> Settings:
    """What was chosen last; otherwise the defaults, text where the environment asks for it."""
    return _chosen or Settings(record_text=os.environ.get(TEXT_VARIABLE) == "1")


def chosen() -> Settings | None:
    """What was chosen, None where nothing was; asked at each check, so it reads no environment."""
    return _chosen


def configure(
    *,
    record_text: bool | None = None,
    claims_told: int = 20,
    tracer_provider: TracerProvider | None = None,
    logger_provider: LoggerProvider | None = None,
) -> None:
    """Choose what is told of checks, and to whom; without arguments: the defaults again.

    Args:
        record_text: the texts of claims, too. None: where ``FRANQ_TELEMETRY_TEXT`` is 1.
        claims_told: of one answer, at most this many claims get an event of their own.
        tracer_provider: takes the spans; default: the one OpenTelemetry was given.
        logger_provider: takes the events, likewise.

    Raises:
        ValueError: for a negative number of claims.
    """
    global _chosen
    if claims_told < 0:
        raise ValueError("claims_told must not be negative")
    if record_text is None:
        record_text = os.environ.get(TEXT_VARIABLE) == "1"
    _chosen = Settings(record_text, claims_told, tracer_provider, logger_provider)
