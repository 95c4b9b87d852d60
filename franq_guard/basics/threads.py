"""How many threads a forward pass uses: as many as pay off, of the cores this process may use.

torch starts a thread for each core it sees. Under a CPU limit, or beside another busy process,
these threads wait for each other in a busy loop that uses up the CPU time they wait for: two
threads on two shared cores took up to eight times as long as one. The functions here set the number
for the calling thread alone and restore it afterwards, so that other work of the application is not
affected.

Whether waiting threads spin or sleep can be set only for the whole process and before torch is
loaded: the command line does so (:func:`set_up_torch`), a library must not.

A fork copies no threads, but OpenMP does not notice and waits for those of the parent for ever. So
a forked process (of gunicorn --preload, celery, ``multiprocessing``) computes on one thread.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

SETTING = "FRANQ_THREADS"
"""The environment variable that sets the number of threads; unset: it is chosen automatically."""
WORTH = 4e9
"""Multiply-adds of a forward pass above which a second thread pays off: about 0.1 s of one core."""

_RAN = 0.75
"""If a thread ran for less than this share of a forward pass, other work is using the cores."""
_PATIENCE = 64
"""For how many forward passes such a finding is remembered."""


class Neighbours:
    """Detects other work on the cores by the share of each pass that a thread could run."""

    def __init__(self) -> None:
        self._left = 0

    def busy(self) -> bool:
        """Whether other work used the cores lately; call it once for each forward pass."""
        if self._left <= 0:
            return False
        self._left -= 1
        return True

    def note(self, ran: float, wall: float) -> None:
        """Record that in a pass of ``wall`` seconds the first thread ran for ``ran`` seconds."""
        if ran < _RAN * wall:
            self._left = _PATIENCE


_neighbours = Neighbours()
_forked = False


def _after_fork() -> None:
    """Compute on one thread if torch was loaded before the fork, as torch's own workers do."""
    global _forked
    limit = getattr(sys.modules.get("torch"), "set_num_threads", None)
    if limit is not None:
        _forked = True
        limit(1)  # also torch's work between the passes, such as loading a model


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def threads_for(work: float = math.inf) -> Iterator[None]:
    """Compute on as many threads as pay off, in the calling thread alone.

    Never more than torch would use, and one where the work is small or other work is using the
    cores. The environment variable ``FRANQ_THREADS`` overrides the choice. Where the number cannot
    be set for one calling thread alone (torch's OpenMP is not accessible), nothing is changed.

    Args:
        work: multiply-adds of the forward pass.
    """
    runtime = _openmp()
    if runtime is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    chosen = chosen_threads(work, before)
    runtime.omp_set_num_threads(chosen)
    began, ran = time.perf_counter(), time.thread_time()
    try:
        yield
    finally:
        if chosen > 1:
            _neighbours.note(time.thread_time() - ran, time.perf_counter() - began)
        runtime.omp_set_num_threads(before)


def chosen_threads(work: float, most: int) -> int:
    """The number of threads for ``work`` multiply-adds where torch would use ``most``."""
    if _forked:
        return 1
    if (given := setting()) is not None:
        return given
    if work < WORTH or most == 1 or _neighbours.busy():
        return 1
    return min(most, usable_cores())


def setting() -> int | None:
    """The number of threads that :data:`SETTING` sets; None if it is not set.

    Raises:
        ValueError: if it is not a whole number of at least 1.
    """
    given = os.environ.get(SETTING, "").strip()
    if not given:
        return None
    if not given.isdecimal() or int(given) < 1:
        raise ValueError(f"{SETTING} must be a whole number of at least 1, not {given!r}")
    return int(given)


def set_up_torch() -> None:
    """Let torch's threads sleep while they wait, and keep few kernels; for our own programs.

    To be called before torch is loaded: GNU's and LLVM's OpenMP and oneDNN read these environment
    variables then. Values that the user has set are kept. oneDNN keeps a kernel for each shape of
    a product, 1,024 by default. Nearly each pass of the encoder has a shape of its own, so they
    took 250 MB that were of no use again.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("KMP_BLOCKTIME", "0")
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")


@cache
def usable_cores() -> int:
    """How many cores this process may use, by its CPU affinity and its control groups' quota."""
    seen = getattr(os, "sched_getaffinity", None)
    cores = len(seen(0)) if seen is not None else os.cpu_count() or 1
    return max(1, math.floor(min(cores, cpu_quota())))


def cpu_quota(
    groups: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")
) -> float:
    """How many cores the control groups (v1 or v2) of this process allow; infinite without a quota.

    A group gets no more than any group above it. In a container the files of its own group are at
    the root of the mount, whatever the group is called outside.
    """
    try:
        lines = groups.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return math.inf
    granted = [math.inf]
    for line in lines:
        _, controllers, group = (*line.split(":", 2), "", "")[:3]
        if not controllers:
            granted += [_of_v2(folder) for folder in _and_above(mounted, group)]
        elif "cpu" in controllers.split(","):
            for name in dict.fromkeys((controllers, "cpu", "cpu,cpuacct")):
                granted += [_of_v1(folder) for folder in _and_above(mounted / name, group)]
    return min(granted)


def _and_above(mounted: Path, group: str) -> Iterator[Path]:
    parts = [part for part in group.split("/") if part not in ("", "..")]
    for size in range(len(parts), -1, -1):
        yield mounted.joinpath(*parts[:size])


def _of_v2(folder: Path) -> float:
    quota, period = (*_words(folder / "cpu.max"), "", "")[:2]
    return _cores(quota, period)


def _of_v1(folder: Path) -> float:
    quota, period = (_words(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    return _cores("".join(quota), "".join(period))


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        return []


def _cores(quota: str, period: str) -> float:
    """The cores of one quota; ``max`` and -1 mean no limit."""
    known = quota.isdecimal() and period.isdecimal() and int(quota) > 0 and int(period) > 0
    return int(quota) / int(period) if known else math.inf


@cache
def _openmp() -> Any:
    """The OpenMP library that torch computes with; None if it cannot be accessed or called."""
    import torch

    before = torch.get_num_threads()
    try:
        runtime = ctypes.CDLL(None)
        runtime.omp_set_num_threads(before + 1)
    except (AttributeError, OSError, TypeError):
        return None
    followed = torch.get_num_threads() == before + 1
    runtime.omp_set_num_threads(before)
    return runtime if followed else None
