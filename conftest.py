"""Shared by the tests of all distributions: no network, and one bundled model for a process."""

import os
import sys
import threading
import tracemalloc
from concurrent.futures import Future
from itertools import pairwise

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# A proxy of the machine's does not know the servers that tests start here.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"

import pytest

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


def traced():
    return tracemalloc.get_traced_memory()[0]


@pytest.fixture
def kept_bytes():
    """Bytes that a run keeps. What is kept grows at every step; caches that fill, and a list or
    dictionary that doubles, do so at some: so it is the least of up to eight steps of runs."""

    def least(runs, times, *, enough, size=traced):
        tracemalloc.start()
        try:
            runs(times)  # fills every cache with what is counted
            sizes = [size()]
            while len(sizes) < 9:
                runs(times)
                sizes.append(size())
                if sizes[-1] - sizes[-2] < enough * times:
                    break
        finally:
            tracemalloc.stop()
        return min((after - before) / times for before, after in pairwise(sizes))

    return least
