"""Runs the service on a port until it is stopped."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

_KEEP_ALIVE = 75
"""Seconds that a connection is kept while nothing is asked: longer than load balancers keep theirs
(60, mostly). If the server closes first, a request may be on its way, and its client gets 502."""


class _Connection(H11Protocol):
    """A connection that is closed if the headers of a request do not arrive in time.

    uvicorn limits only the time between a reply and the first byte after it, which is
    ``timeout_keep_alive``. A client that connects and sends nothing, or a byte now and then, would
    keep its connection for ever. So the headers of each request get that time, too.
    """

    _headers_timeout: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:  # a request is in work
            self._end_limit()
        elif self._headers_timeout is None:
            self._limit_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_limit()
        super().connection_lost(exc)

    def _limit_headers(self) -> None:
        self._headers_timeout = self.loop.call_later(self.timeout_keep_alive, self.transport.close)

    def _end_limit(self) -> None:
        if self._headers_timeout is not None:
            self._headers_timeout.cancel()
            self._headers_timeout = None


class Server(uvicorn.Server):
    """Serves the application; when stopped, it first finishes the requests in work.

    Args:
        app: from :func:`~franq_guard.serve.app.create_app`.
        host: the address to listen on.
        port: the port to listen on; 0: any free port.
        grace: seconds after which what is still in work is cancelled, once it is to stop.
        listening: called with the service's address once it listens.
    """

    def __init__(
        self,
        app: FastAPI,
        *,
        host: str,
        port: int,
        grace: int = 50,
        listening: Callable[[str], object] = lambda address: None,
    ) -> None:
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=grace,
            timeout_keep_alive=_KEEP_ALIVE,
            http=_Connection,
        )
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening and report the address.

        Raises:
            OSError: if it cannot listen there; says what to do. No model is loaded then.
        """
        await self._try_to_listen()
        await super().startup(sockets)
        if self.started:
            address = self.servers[0].sockets[0].getsockname()
            host = f"[{address[0]}]" if ":" in address[0] else address[0]
            self._listening(f"http://{host}:{address[1]}")

    async def _try_to_listen(self) -> None:
        # uvicorn tries it only after the application has started, and then ends the process.
        host, port = self.config.host, self.config.port
        loop = asyncio.get_running_loop()
        try:
            tried = await loop.create_server(
                asyncio.Protocol, host=host, port=port, start_serving=False
            )
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise OSError(
                    f"port {port} of {host} is in use: stop what listens there, or name another "
                    "one with --port (0: any free one)"
                ) from None
            unknown = isinstance(error, socket.gaierror)  # the name of a host
            # On Python 3.13 the error has no number if no address can be taken.
            why = os.strerror(error.errno) if error.errno and not unknown else error.strerror
            why = why or str(error)
            raise OSError(f"cannot listen on {host}, port {port}: {why}") from None
        tried.close()


def is_local(host: str) -> bool:
    """Whether a server listening on ``host`` can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
