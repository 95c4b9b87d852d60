"""Shared by all tests of the core: one guard on fakes."""

import pytest


@pytest.fixture
def fake_guard():
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    return Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
