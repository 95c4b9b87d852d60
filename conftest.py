"""Shared by the tests of all distributions: no network, and one bundled model for a process."""

import os
import sys
import tracemalloc
from itertools import pairwise

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest

# Threads change places ten times as often, so that few runs at once find what many would.
sys.setswitchinterval(0.0005)


@pytest.fixture(scope="session")
def smollm():
    """The bundled model: 540 MB and seconds to load, so all files of tests share it."""
    from franq_guard.language_model import load_bundled

    return load_bundled()


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
