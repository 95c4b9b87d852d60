"""The reply to a client that reads a stream and may disconnect at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from franq_guard.serve.disconnect import ClientGoneError, unless_gone
from franq_guard.serve.errors import Closing
from franq_guard.serve.proxy.streaming import error_event


class EventStream(Response):
    """Sends server-sent events until they end or the client disconnects.

    Args:
        events: the events to send; closed early if the client disconnects.
        cleanup: always closed after the last event.
        headers: headers of the reply.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[bytes, None],
        cleanup: AsyncExitStack,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(headers={"cache-control": "no-cache", **headers})
        del self.headers["content-length"]
        self._events, self._cleanup = events, cleanup

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; if the service stops before their end, the last one is an error."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        try:
            with suppress(ClientGoneError, OSError):
                await send(start)
                await unless_gone(receive, self._send(send))
        except asyncio.CancelledError:  # the time for requests is over
            await send({"type": "http.response.body", "body": error_event(Closing())})
        finally:
            await self._cleanup.aclose()

    async def _send(self, send: Send) -> None:
        async with aclosing(self._events) as events:
            async for piece in events:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
