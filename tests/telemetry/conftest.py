"""OpenTelemetry's own SDK, its exporters in memory."""

from types import SimpleNamespace

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import (
    InMemoryLogRecordExporter,
    SimpleLogRecordProcessor,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from franq_guard.telemetry import configure, settings


class Seen:
    """What was exported."""

    def __init__(self):
        self._spans, self._events = InMemorySpanExporter(), InMemoryLogRecordExporter()
        self.tracers, self.loggers = TracerProvider(shutdown_on_exit=False), LoggerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.loggers.add_log_record_processor(SimpleLogRecordProcessor(self._events))

    @property
    def spans(self):
        return self._spans.get_finished_spans()

    def named(self, name):
        return [span for span in self.spans if span.name == name]

    @property
    def events(self):
        return [
            SimpleNamespace(
                name=found.log_record.event_name,
                attributes=dict(found.log_record.attributes),
                severity=found.log_record.severity_number.name,
                parent=(found.log_record.trace_id, found.log_record.span_id),
                scope=found.instrumentation_scope.name,
            )
            for found in self._events.get_finished_logs()
        ]

    @property
    def answers(self):
        return [event for event in self.events if "franq.claim.index" not in event.attributes]

    @property
    def claims(self):
        return [event for event in self.events if "franq.claim.index" in event.attributes]

    def span(self, name):
        """A span of the application's own."""
        return self.tracers.get_tracer("app").start_as_current_span(name)

    def close(self):
        self.tracers.shutdown()
        self.loggers.shutdown()


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch):
    monkeypatch.delenv("FRANQ_TELEMETRY_TEXT", raising=False)
    monkeypatch.setattr(settings, "_chosen", None)


@pytest.fixture
def seen():
    found = Seen()
    configure(tracer_provider=found.tracers, logger_provider=found.loggers)
    yield found
    found.close()
