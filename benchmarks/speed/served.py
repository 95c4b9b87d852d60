"""Runs a server in its own process, for the benchmarks in this folder."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep

import httpx


@contextmanager
def served(command: Sequence[str], *, seconds: float = 120) -> Iterator[tuple[str, int]]:
    """The URL and process id of ``command --port PORT``, once its ``/readyz`` answers 200.

    Raises:
        RuntimeError: if the process ends, or is not ready after ``seconds``.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([*command, "--port", str(port)])  # noqa: S603  (our own scripts)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process, seconds)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait(url: str, process: subprocess.Popen[bytes], seconds: float) -> None:
    until = monotonic() + seconds
    while monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        sleep(0.2)
    raise RuntimeError(f"{url} did not become ready")
