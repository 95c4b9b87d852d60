"""Shared by all tests: no network, and one guard on fakes."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest
from hypothesis import settings

# No test fails because a machine is slow. Every run draws the same examples, so that a change is
# judged by what it changes; `make test-random` draws new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile("same")


@pytest.fixture
def fake_guard():
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    return Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())


@pytest.fixture(scope="session")
def smollm():
    from franq_guard.language_model import load_bundled

    return load_bundled()
