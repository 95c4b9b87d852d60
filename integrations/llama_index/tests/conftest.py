from __future__ import annotations

import asyncio

import pytest


@pytest.fixture(autouse=True)
def _main_event_loop():
    """LlamaIndex opens the main thread's event loop (to count tokens) and never closes it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture(scope="session")
def smollm2(smollm):
    """The bundled model, on one thread."""
    import torch

    torch.set_num_threads(1)
    return smollm
