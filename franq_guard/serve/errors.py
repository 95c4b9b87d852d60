"""Errors of the service: an HTTP status, a code for programs and a message for people.

No message contains text of the request, because messages end up in logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ServeError(Exception):
    """A request that cannot be answered.

    Args:
        status: HTTP status.
        code: identifier for programs, such as ``too_many_passages``.
        message: what is wrong, for people.
        headers: sent with the reply.
    """

    def __init__(
        self, status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers = dict(headers or {})

    def to_dict(self) -> dict[str, Any]:
        """The body of the reply."""
        return error_body(self.code, self.message)


class Busy(ServeError):
    """The service takes no more work of this kind now.

    Args:
        code, message: as in :class:`ServeError`.
        seconds: when the client may try again.
    """

    def __init__(self, code: str, message: str, *, seconds: int = 1) -> None:
        super().__init__(503, code, message, headers={"Retry-After": str(seconds)})


class QueueFull(Busy):
    """As many answers as the settings allow wait already."""

    def __init__(self) -> None:
        super().__init__(
            "queue_full", "too many answers are waiting to be checked; try again later"
        )


class BatchesFull(Busy):
    """As many batches as the settings allow are in work already; most take longer than a second."""

    def __init__(self) -> None:
        super().__init__(
            "batches_full", "too many batches are being checked; try again later", seconds=10
        )


class Closing(Busy):
    """The service is shutting down: it finishes waiting answers and accepts no new ones."""

    def __init__(self) -> None:
        super().__init__("closing", "the service is shutting down")


def error_body(code: str, message: str) -> dict[str, Any]:
    """The JSON body of every error reply."""
    return {"error": {"code": code, "message": message}}
