from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def smollm2(smollm):
    """The bundled model, on one thread."""
    import torch

    torch.set_num_threads(1)
    return smollm


@pytest.fixture(scope="session")
def pipe(smollm2):
    """A short greedy HuggingFacePipeline over it."""
    from langchain_franq.local import pipeline_of

    return pipeline_of(smollm2, max_new_tokens=6)
