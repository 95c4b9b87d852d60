"""Shared by the tests of training: products that are the same on every processor."""

import pytest


@pytest.fixture
def plain_products(monkeypatch):
    """In float32 on any processor. One thread: more only wait for each other."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("franq_bench.training.loop.native_bfloat16", lambda: False)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
