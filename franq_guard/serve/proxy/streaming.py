"""A streamed reply: events are read from the upstream and sent on once their text is checked."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

import httpx

from franq_guard.basics.failures import log_failure
from franq_guard.records import GuardedAnswer
from franq_guard.serve.errors import ServeError
from franq_guard.serve.proxy.chunks import Choices, Chunk
from franq_guard.serve.proxy.reports import TextKey
from franq_guard.serve.proxy.upstream import UpstreamError, failure
from franq_guard.serve.proxy.wire import (
    DONE,
    Events,
    MalformedError,
    comment,
    done,
    event,
    read_json,
)

Answers = Mapping[TextKey, GuardedAnswer]
T = TypeVar("T")

_log = logging.getLogger(__name__)

_TICK = 0.05
"""Seconds between two looks for checked text to send, while the upstream sends nothing."""
_SILENCE = 15.0
"""Seconds without text after which a comment is sent: load balancers between client and proxy may
close a silent connection, often after a minute."""


async def guarded_events(
    upstream: httpx.Response,
    choices: Choices,
    report: Callable[[Answers], Mapping[str, Any]],
    on_error: Callable[[str], object],
) -> AsyncGenerator[bytes, None]:
    """The events for the client, made from the stream of ``upstream``.

    If anything fails, the claims that are being checked are sent first, then an event with the
    error. Nothing follows it: no unchecked text and no ``[DONE]``.

    Args:
        upstream: its reply, not read yet.
        choices: checks the reply.
        report: makes the report of the checked texts.
        on_error: called with the code of a failure.
    """
    try:
        try:
            async for data in _kept_open(_read(upstream, choices)):
                yield data
        except (httpx.HTTPError, MalformedError, ServeError):
            async for data in _kept_open(_with_ticks(choices.settled())):
                yield data
            raise
        ended = time.perf_counter()
        async for data in _kept_open(_with_ticks(choices.rest())):
            yield data
        choices.judge.checker.generated(time.perf_counter() - ended, ended - choices.began)
        for chunk in choices.last(report(choices.answers())):
            yield event(chunk)
        yield done()
    except UpstreamError as error:
        on_error(error.code)
        yield event(error.to_dict())
    except Exception as error:
        refusal = _refusal(error)
        on_error(refusal.code)
        yield error_event(refusal)


def error_event(error: ServeError) -> bytes:
    """The last event of a stream that fails."""
    return event({"error": {**error.to_dict()["error"], "type": "franq_error"}})


async def _kept_open(chunks: AsyncGenerator[Chunk | None, None]) -> AsyncGenerator[bytes, None]:
    """The chunks as events, with comments between them while there is none to send."""
    sent = time.monotonic()
    async with aclosing(chunks):
        async for chunk in chunks:
            if chunk is not None:
                yield event(chunk)
            elif time.monotonic() - sent > _SILENCE:
                yield comment()
            else:
                continue
            sent = time.monotonic()


async def _read(upstream: httpx.Response, choices: Choices) -> AsyncGenerator[Chunk | None, None]:
    """The chunks that can be sent while the upstream still writes; None after each look at it.

    Raises:
        httpx.HTTPError: if the connection fails.
        MalformedError: if the stream cannot be read, or ends too early.
        UpstreamError: if the upstream sends an error.
        ServeError: if a text is too long.
    """
    async with aclosing(_events(upstream)) as events:
        async for data in events:
            if data is not None and data.strip() == DONE:
                return  # also without finish reasons, which some gateways never send
            ready = choices.checked() if data is None else choices.feed(_chunk(data))
            async for chunk in ready:
                yield chunk
            yield None
    if not choices.finished:  # some servers send no [DONE], but all send finish reasons
        raise MalformedError("it ended before the answer did")


async def _events(upstream: httpx.Response) -> AsyncGenerator[str | None, None]:
    """The data of each event; None each time nothing arrived for a moment."""
    events = Events()
    async with aclosing(_with_ticks(upstream.aiter_bytes())) as pieces:
        async for piece in pieces:
            if piece is None:
                yield None
                continue
            for data in events.feed(piece):
                yield data
    for data in events.end():
        yield data


def _chunk(data: str) -> Chunk:
    chunk = read_json(data)
    if not isinstance(chunk, dict):
        raise MalformedError("an event is no JSON object")
    if chunk.get("error") is not None:
        raise UpstreamError(chunk["error"])
    return chunk


async def _with_ticks(source: AsyncIterator[T]) -> AsyncGenerator[T | None, None]:
    """What ``source`` yields; None each time nothing came for a moment."""
    pending: asyncio.Task[T | None] | None = None
    try:
        while True:
            pending = pending or asyncio.create_task(_next(source))
            await asyncio.wait([pending], timeout=_TICK)
            if not pending.done():
                yield None
                continue
            piece, pending = pending.result(), None
            if piece is None:
                return
            yield piece
    finally:
        if pending is not None:
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)


async def _next(source: AsyncIterator[T]) -> T | None:
    return await anext(source, None)


def _refusal(error: Exception) -> ServeError:
    """The error reported to the client for a failure; it never contains text of the answer."""
    if isinstance(error, ServeError):
        return error
    if isinstance(error, httpx.HTTPError):
        return failure(error)
    if isinstance(error, MalformedError):
        message = f"the upstream's stream cannot be read: {error}"
        return ServeError(502, "upstream_malformed", message)
    log_failure(_log, "a stream failed", error, logging.ERROR)
    return ServeError(500, "internal", "the service failed")
