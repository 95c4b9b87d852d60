"""Cancels work whose result nobody waits for: its client has left, or a part of it failed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive

Result = TypeVar("Result")

_GONE = 499
"""Status of the reply if the client has disconnected (nginx's "client closed request")."""


class ClientGoneError(Exception):
    """The client disconnected before the reply was ready."""


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of ``work``, which is cancelled if the client disconnects.

    Args:
        receive: of a request whose body has been read.
        work: what the client waits for.

    Raises:
        ClientGoneError: if it disconnected.
        Exception: any error of ``work``.
    """
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGoneError
        return task.result()
    finally:
        await _stopped(task, gone)


async def together(work: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results of all ``work``, in order; if one fails, the others are cancelled.

    ``asyncio.gather`` alone would leave them in the queue, where they take the place of others.

    Raises:
        Exception: the first error.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await _stopped(*tasks)


async def reply_unless_gone(receive: Receive, work: Coroutine[Any, Any, Response]) -> Response:
    """The reply that ``work`` makes, or an empty one, status 499, if the client disconnects."""
    try:
        return await unless_gone(receive, work)
    except ClientGoneError:
        return Response(status_code=_GONE)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _stopped(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
