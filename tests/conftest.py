"""Shared by all tests of the core: how random examples are drawn, and one guard on fakes."""

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
