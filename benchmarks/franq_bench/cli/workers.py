"""Work that several processes share: ``--workers``."""

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
    """``work(*part)`` for every part, each in a process of its own with its share of the cores.

    The first that fails ends the others and the program; its message stands above.

    Args:
        work: a function of a module; what it gives back is lost.
        parts: its arguments, which must pickle.
    """
    context = multiprocessing.get_context("spawn")  # a fork would inherit torch's locked threads
    # Inherited, not set there: unpickling the parts may import torch, which reads it once. More
    # threads than cores wait for each other and cost a factor of four.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, usable_cores() // len(parts))))
    running = [context.Process(target=_begin, args=(work, part), daemon=True) for part in parts]
    # Inherited, too: Ctrl-C goes to all of them, and this one ends the others without their traces.
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
            process.join()  # its exit code is there from now on
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
    """None outlives the program, not even where that is killed and can end nothing any more."""
    if program := multiprocessing.parent_process():
        program.join()
        os._exit(1)


def _failed(codes: Sequence[int]) -> str:
    # A negative code is the signal that ended the process.
    killed = "was killed (out of memory? then take fewer --workers)"
    why = killed if min(codes) < 0 else "failed"
    return f"a worker {why}; what was made is kept: the same command goes on from there"
