"""Runs the service on a port until it is stopped."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

_KEPT = 75
"""Seconds that a connection is kept while nothing is asked: longer than load balancers keep theirs
(60, mostly). If the server closes first, a request may be on its way, and its client gets 502."""


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
            timeout_keep_alive=_KEPT,
        )
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening and report the address."""
        await super().startup(sockets)
        if self.started:
            found = self.servers[0].sockets[0].getsockname()
            host = f"[{found[0]}]" if ":" in found[0] else found[0]
            self._listening(f"http://{host}:{found[1]}")


def is_local(host: str) -> bool:
    """Whether a server listening on ``host`` can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
