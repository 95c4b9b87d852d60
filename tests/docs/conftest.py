"""The guard of the pages: the real one, with models that are loaded once for all pages."""

from functools import cache

import pytest


@pytest.fixture(scope="session")
def small():
    from franq_guard.faithfulness import SmallFaithfulness

    return SmallFaithfulness.bundled()


@pytest.fixture(scope="session")
def language_model():
    """A function that gives the bundled language model: few pages need it."""
    from franq_guard.language_model import load_bundled

    return cache(load_bundled)


@pytest.fixture
def shared_models(monkeypatch, small, language_model):
    """``Guard.offline()`` as it is, but that it takes the models that are there already."""
    from franq_guard.faithfulness.small.model import SmallFaithfulness
    from franq_guard.language_model.transformers import smollm2

    monkeypatch.setattr(SmallFaithfulness, "bundled", staticmethod(lambda: small))
    monkeypatch.setattr(smollm2, "load_bundled", language_model)
