"""Divides work between several processes, for the option ``--workers``."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from typing import Any

import typer

from franq_guard.basics.threads import usable_cores
from franq_guard.cli.console import fail

Work = Callable[..., None]


def side_by_side(work: Work, parts: Sequence[tuple[Any, ...]]) -> None:
    """Run ``work(*part)`` for every part, each in its own process with an equal share of the cores.

    If one fails, the others and the program are ended; its error message is printed before that.

    Args:
        work: a function at the top level of a module; its return value is ignored.
        parts: the arguments of each call; they must be picklable.
    """
    context = multiprocessing.get_context("spawn")  # after a fork, torch's locks could deadlock
    # Set here, for the workers to inherit: torch reads it once, at import, and unpickling the parts
    # in a worker may import torch. More threads than cores make the work about four times slower.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, usable_cores() // len(parts))))
    running = [context.Process(target=_begin, args=(work, part), daemon=True) for part in parts]
    # Workers inherit this too: Ctrl-C reaches every process, but only this one handles it and ends
    # the workers, so that they print no tracebacks.
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for process in running:
            process.start()
    finally:
        signal.signal(signal.SIGINT, interrupted)
    while running:
        ended = wait([process.sentinel for process in running])
        done = [process for process in running if process.sentinel in ended]
        running = [process for process in running if process not in done]
        for process in done:
            process.join()  # makes its exit code available
        if codes := [process.exitcode for process in done if process.exitcode]:
            for process in running:
                process.terminate()
            fail(_failed(codes))


def _begin(work: Work, part: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with_the_program, daemon=True).start()
    try:
        work(*part)
    except typer.Exit as ended:
        sys.exit(ended.exit_code)


def _end_with_the_program() -> None:
    """Exit when the parent process ends, even if it was killed and could not end its workers."""
    if program := multiprocessing.parent_process():
        program.join()
        os._exit(1)


def _failed(codes: Sequence[int]) -> str:
    # A negative code is the signal that ended the process.
    killed = "was killed (out of memory? then take fewer --workers)"
    why = killed if min(codes) < 0 else "failed"
    return f"a worker {why}; what was made is kept: the same command goes on from there"
