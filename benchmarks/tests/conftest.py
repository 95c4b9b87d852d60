"""Shared by the benchmark's tests: no network, and the bundled model loaded once."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest


@pytest.fixture(scope="session")
def smollm():
    from franq_guard.language_model import load_bundled

    return load_bundled()
