"""What operators see of checks, through OpenTelemetry: spans, and a result for each answer.

Nothing happens, and nothing is imported, until the application sets an OpenTelemetry SDK.
``hooks`` is what the guard calls, ``names`` has every name that leaves, ``bridge`` alone knows the
OpenTelemetry API.
"""

from franq_guard.telemetry.hooks import here, under
from franq_guard.telemetry.settings import configure

__all__ = ["configure", "here", "under"]
