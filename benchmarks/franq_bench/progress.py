"""Types of the callbacks by which long work reports progress; the command line shows bars."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

__all__ = ["Bar", "Show"]

Show = Callable[[int, int], None]
"""Called with (done, to do) at the start and after every step."""

Bar = Callable[[str], AbstractContextManager[Show]]
"""Called with the name of a stage; returns a context manager that yields its :data:`Show`."""
