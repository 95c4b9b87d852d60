"""Shared by all tests: no network, and one guard on fakes."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest


@pytest.fixture
def fake_guard():
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    return Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())


@pytest.fixture(scope="session")
def smollm():
    from franq_guard.language_model import load_bundled

    return load_bundled()
