"""Reports checks through OpenTelemetry: spans, and an event with the result of each answer.

Nothing is sent or imported until the application sets up an OpenTelemetry SDK. The guard calls
``hooks``; ``names`` has the names of all spans, events and attributes; only ``bridge`` uses the
OpenTelemetry API.
"""

from franq_guard.telemetry.hooks import here, under
from franq_guard.telemetry.settings import configure

__all__ = ["configure", "here", "under"]
