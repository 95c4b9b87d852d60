"""The metrics, under the name they were first published by; see :mod:`franq_guard.metrics`."""

from franq_guard.metrics.measures import *  # noqa: F403
from franq_guard.metrics.measures import __all__ as __all__
