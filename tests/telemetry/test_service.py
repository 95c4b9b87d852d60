"""The service checks answers of many requests together; each request gets its own result."""

import asyncio

from franq_guard.serve.checker import Checker
from franq_guard.serve.settings import ServeSettings

from .examples import guard, trace


def test_answers_of_one_round_stand_below_their_own_requests(seen):
    checker = Checker(guard(), ServeSettings(window_ms=50, batch_size=8))
    roots = {}

    async def request(name):
        with seen.span(f"request {name}") as root:
            roots[name] = root.get_span_context().span_id
            await checker.check(trace(id=name))

    async def main():
        await asyncio.gather(*(request(str(i)) for i in range(6)))
        await checker.drain()

    asyncio.run(main())
    checks = {s.attributes["gen_ai.response.id"]: s for s in seen.named("franq.check")}
    assert {name: span.parent.span_id for name, span in checks.items()} == roots
    assert max(span.attributes["franq.batch_size"] for span in checks.values()) > 1
