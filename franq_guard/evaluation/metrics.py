"""The metrics, under the name they were first published by; see :mod:`franq_guard.metrics`."""

from franq_guard.metrics import *  # noqa: F403
from franq_guard.metrics import __all__ as __all__
