"""How long work reports progress: through callbacks (the command line shows bars), or in lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

__all__ = ["Bar", "Show", "report"]

Show = Callable[[int, int], None]
"""Called with (done, to do) at the start and after every step."""

Bar = Callable[[str], AbstractContextManager[Show]]
"""Called with the name of a stage; returns a context manager that yields its :data:`Show`."""


def report(message: str) -> None:
    """Write a message to standard error, with the time of day before it."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {message}\n")
