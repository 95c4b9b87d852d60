"""Shared by the tests of all distributions: what the machine has set does not count, how random
examples are drawn, and one bundled model for a process."""

import os
import sys
import threading
import tracemalloc
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Nothing that a developer or a CI has set for colours, tracing or this library decides a test.
_PRINTING = {"COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR"}
_PREFIXES = ("FRANQ_", "LANGCHAIN_", "LANGSMITH_", "OTEL_")
_KEPT = {"FRANQ_CACHE_DIR", "FRANQ_TEST_MARKS"}
for name in set(os.environ) - _KEPT:
    if name in _PRINTING or name.startswith(_PREFIXES):
        del os.environ[name]
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# A proxy of the machine's does not know the servers that tests start here.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"

# No test fails because a machine is slow. Every run draws the same examples, so that a change is
# judged by what it changes; `make test-random` draws new ones.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **_PATIENT)
settings.register_profile("random", **_PATIENT)
settings.load_profile("same")

# Threads change places ten times as often, so that few runs at once find what many would.
sys.setswitchinterval(0.0005)


@pytest.fixture(scope="session")
def smollm():
    """The bundled model: 540 MB and seconds to load, so all files of tests share it."""
    from franq_guard.language_model import load_bundled

    return load_bundled()


class Hanging:
    """A call that hangs once, until it is let go; a check's time is over when it does."""

    def __init__(self):
        self.begun, self.go, self.ended = threading.Event(), threading.Event(), threading.Event()
        self._over = threading.Semaphore(0)

    def __call__(self):
        if not self.begun.is_set():
            self.begun.set()
            self._over.release()
            assert self.go.wait(60)
            self.ended.set()

    def time_is_over(self):
        return self._over.acquire(timeout=0.001)


@pytest.fixture
def hanging(monkeypatch):
    """A :class:`Hanging` call: deadlines pass at it, and not where a busy machine is slow."""
    from franq_guard.basics import deadline

    class UntilItHangs(Future):
        def result(self, timeout=None):
            while timeout is not None and not self.done():
                if found.time_is_over():
                    raise TimeoutError
            return super().result()

    found = Hanging()
    monkeypatch.setattr(deadline, "Future", UntilItHangs)
    yield found
    found.go.set()


def held_by(packages):
    """Bytes in use that these packages' own lines have allocated."""
    files = [tracemalloc.Filter(True, f"{Path(p.__file__).parent}/*") for p in packages]
    found = tracemalloc.take_snapshot().filter_traces(files).statistics("filename")
    return sum(statistic.size for statistic in found)


@pytest.fixture
def kept_bytes():
    """Bytes that a run keeps, of those that ``packages`` allocate: what frameworks keep is theirs.

    What is kept grows at every step; caches that fill, and a list or dictionary that doubles, do so
    at some: so it is the least of up to eight steps of runs.
    """

    def least(runs, times, *packages, enough):
        tracemalloc.start()
        try:
            runs(times)  # fills every cache with what is counted
            sizes = [held_by(packages)]
            while len(sizes) < 9:
                runs(times)
                sizes.append(held_by(packages))
                if sizes[-1] - sizes[-2] < enough * times:
                    break
        finally:
            tracemalloc.stop()
        return min((after - before) / times for before, after in pairwise(sizes))

    return least
