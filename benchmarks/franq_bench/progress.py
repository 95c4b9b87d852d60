"""How long work tells what it has done; the command line shows it as bars."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

__all__ = ["Bar", "Show"]

Show = Callable[[int, int], None]
"""Called with (done, to do) at the start and after every step."""

Bar = Callable[[str], AbstractContextManager[Show]]
"""From the name of a stage to a context that yields its :data:`Show`."""
