"""Shared by the tests of all distributions: no network, and one bundled model for a process."""

import os
import sys

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
