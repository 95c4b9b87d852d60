"""A service in the test's own process."""

import asyncio
import threading
from contextlib import asynccontextmanager

import httpx
import pytest

from franq_guard.serve.app import create_app
from franq_guard.serve.settings import ServeSettings
from franq_guard.testing import FakeGuard

TRACE = {"question": "Who?", "passages": [{"title": "T", "text": "Ann did."}], "answer": "Ann did."}


class HeldGuard(FakeGuard):
    """A guard that works only when the test lets it; ``begun`` tells that it wants to."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.begun, self.go = threading.Event(), threading.Event()

    def check_many(self, traces, *, batch_size=8):
        self.begun.set()
        assert self.go.wait(60)
        return super().check_many(traces, batch_size=batch_size)


class FailingGuard(FakeGuard):
    """A guard that raises for answers with "poison" in them."""

    def check_many(self, traces, *, batch_size=8):
        if any("poison" in trace.generation.text for trace in traces):
            raise RuntimeError("secret text of the request")
        return super().check_many(traces, batch_size=batch_size)


@asynccontextmanager
async def serving(guard=None, **settings):
    """A client of a running service, and the application."""
    app = create_app(FakeGuard() if guard is None else guard, ServeSettings(**settings))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://franq.test") as client,
    ):
        yield client, app


async def begun(guard):
    """Until the guard works."""
    await asyncio.to_thread(guard.begun.wait, 60)


@pytest.fixture
def run():
    return asyncio.run
