"""The settings of telemetry: what is sent, and to which providers."""

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
    """The settings that :func:`configure` sets; see there."""

    record_text: bool = False
    claims_told: int = 20
    tracer_provider: TracerProvider | None = None
    logger_provider: LoggerProvider | None = None


_chosen: Settings | None = None


def settings() -> Settings:
    """The settings in force: the configured ones, else the defaults and the environment's."""
    return _chosen or Settings(record_text=os.environ.get(TEXT_VARIABLE) == "1")


def chosen() -> Settings | None:
    """The configured settings or None; does not read the environment, as each check calls it."""
    return _chosen


def configure(
    *,
    record_text: bool | None = None,
    claims_told: int = 20,
    tracer_provider: TracerProvider | None = None,
    logger_provider: LoggerProvider | None = None,
) -> None:
    """Choose what is sent about checks, and to which providers; no arguments restore the defaults.

    Args:
        record_text: whether to send the texts of claims. None: if ``FRANQ_TELEMETRY_TEXT`` is 1.
        claims_told: at most this many claims of one answer get an event of their own.
        tracer_provider: receives the spans; default: OpenTelemetry's global one.
        logger_provider: receives the events; default: OpenTelemetry's global one.

    Raises:
        ValueError: for a negative number of claims.
    """
    global _chosen
    if claims_told < 0:
        raise ValueError("claims_told must not be negative")
    if record_text is None:
        record_text = os.environ.get(TEXT_VARIABLE) == "1"
    _chosen = Settings(record_text, claims_told, tracer_provider, logger_provider)
