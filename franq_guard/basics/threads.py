"""How many threads a forward pass gets: as many as pay off, of the cores this process may use.

torch takes a thread for each core it sees. Under a CPU limit, or beside another busy process, these
wait for each other in a spin that eats the very time they wait for: two threads on two cores that
others used too took up to eight times as long as one. What stands here sets the number for the
calling thread alone and puts it back, so that the host application's own work is as it was.

How the threads wait can be set only before torch is loaded, for the whole process: the command line
does (:func:`wait_passively`), a library does not.
"""

from __future__ import annotations

import ctypes
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

SETTING = "FRANQ_THREADS"
"""The environment variable that sets the number; without it, it is chosen."""
WORTH = 4e9
"""Multiply-adds of a pass that a second thread pays for: about a tenth of a second of one core."""

_RAN = 0.75
"""Of a pass, the share its thread must have run; below, others want the same cores."""
_PATIENCE = 64
"""Passes for which that is remembered."""


class Neighbours:
    """Whether others want the cores, told by how much of its passes a thread could run."""

    def __init__(self) -> None:
        self._left = 0

    def crowd(self) -> bool:
        """Whether they did lately; to be asked once a pass."""
        if self._left <= 0:
            return False
        self._left -= 1
        return True

    def note(self, ran: float, wall: float) -> None:
        """Of a pass of ``wall`` seconds on several threads, its first thread ran ``ran``."""
        if ran < _RAN * wall:
            self._left = _PATIENCE


_neighbours = Neighbours()


@contextmanager
def threads_for(work: float = math.inf) -> Iterator[None]:
    """Compute on as many threads as pay off, in the calling thread alone.

    Never more than torch would take, and one where the work is small or others want the cores. The
    environment variable ``FRANQ_THREADS`` says a number instead. Where torch's threads cannot be
    set for one thread alone (no OpenMP that can be reached), nothing is changed.

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
    """The number of threads for so many multiply-adds where torch would take ``most``."""
    if (told := setting()) is not None:
        return told
    if work < WORTH or most == 1 or _neighbours.crowd():
        return 1
    return min(most, usable_cores())


def setting() -> int | None:
    """What :data:`SETTING` says; None where it says nothing.

    Raises:
        ValueError: where it is no number of at least 1.
    """
    told = os.environ.get(SETTING, "").strip()
    if not told:
        return None
    if not told.isdecimal() or int(told) < 1:
        raise ValueError(f"{SETTING} must be a whole number of at least 1, not {told!r}")
    return int(told)


def wait_passively() -> None:
    """Have torch's threads sleep while they wait. For programs of our own, before torch is loaded.

    GNU's and LLVM's OpenMP read these when they are loaded; what the user has set stays.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("KMP_BLOCKTIME", "0")


@cache
def usable_cores() -> int:
    """Cores this process may use: its affinity and the CPU quota of its control groups."""
    seen = getattr(os, "sched_getaffinity", None)
    cores = len(seen(0)) if seen is not None else os.cpu_count() or 1
    return max(1, math.floor(min(cores, cpu_quota())))


def cpu_quota(
    groups: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")
) -> float:
    """Cores that the control groups of this process grant, versions 1 and 2; infinite without.

    A group is granted no more than those above it. In a container the files of its own group stand
    at the root, whatever the name of the group outside is.
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
    """``max`` and -1 set no limit."""
    known = quota.isdecimal() and period.isdecimal() and int(quota) > 0 and int(period) > 0
    return int(quota) / int(period) if known else math.inf


@cache
def _openmp() -> Any:
    """The OpenMP that torch computes with; None where it cannot be reached or does not answer."""
    import torch

    before = torch.get_num_threads()
    try:
        runtime = ctypes.CDLL(None)
        runtime.omp_set_num_threads(before + 1)
    except (AttributeError, OSError, TypeError):
        return None
    heard = torch.get_num_threads() == before + 1
    runtime.omp_set_num_threads(before)
    return runtime if heard else None
