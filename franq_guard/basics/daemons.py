"""Threads of our own, which do not keep the process alive.

Python aborts the whole process if it ends such a thread inside torch. So when the process ends,
those that still work are given a moment.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")
_OURS = "franq-"
_MOMENT = 2.0
"""Seconds that all of them get together; one that hangs is left after that."""


def start_daemon(
    name: str, work: Callable[P, object], *args: P.args, **kw: P.kwargs
) -> threading.Thread:
    """Start a daemon thread that calls ``work``; ``name`` says what it does ("claims")."""
    thread = threading.Thread(target=work, args=args, kwargs=kw, name=f"{_OURS}{name}", daemon=True)
    thread.start()
    return thread


def exit_if_still_working(code: int = 0) -> None:
    """End the process here, with ``code``, if one of them still works: the end of our programs.

    What is registered with :mod:`atexit` is done first: exporters of telemetry send what they hold.
    """
    if not _at_work():
        return
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


@atexit.register
def _give_a_moment() -> None:
    ends = time.monotonic() + _MOMENT
    for thread in _at_work():
        thread.join(max(0.0, ends - time.monotonic()))


def _at_work() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.daemon and t.name.startswith(_OURS)]
