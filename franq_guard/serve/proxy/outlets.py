"""Sends one text of a stream to the client: as a whole once it is checked, or claim by claim."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import ParamSpec, Protocol, TypeVar

from franq_guard.basics.background import Steps
from franq_guard.records import GuardedAnswer
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.reported import Reported
from franq_guard.serve.proxy.request import ChatRequest

P = ParamSpec("P")
R = TypeVar("R")
_LONG = 2000
"""From so many characters on a stream is read in a thread of its own: looking for the claims of a
long table takes up to a second, for which all other requests would have to wait."""
_PARTS = 64
"""A stream is searched for settled claims each time it has grown by one part in this many, so that
a long text is not searched again after every few characters."""


class Outlet(Protocol):
    """Takes one text of a stream and returns it once it is checked."""

    reported: Reported
    """What the upstream reported about the text so far, such as its tokens."""
    answer: GuardedAnswer | None
    """The checked text, after :meth:`rest` has ended; None if the text is blank."""

    async def feed(self, piece: str) -> str:
        """Add text ("" adds nothing) and return the text that can be sent now."""

    async def end(self) -> None:
        """Note that the text is complete."""

    def rest(self) -> AsyncIterator[str]:
        """The remaining checked text; call it after :meth:`end`."""

    def settled(self) -> AsyncIterator[str]:
        """The claims that were being checked when the upstream's stream failed."""

    def close(self) -> None:
        """Cancel the checks and discard text that was not sent."""


class Whole:
    """Holds the text back until it is complete and checked."""

    def __init__(self, judge: Judge, chat: ChatRequest, reported: Reported) -> None:
        self.reported = reported
        self.answer: GuardedAnswer | None = None
        self._judge, self._chat, self._text = judge, chat, ""
        self._check: asyncio.Task[GuardedAnswer] | None = None

    async def feed(self, piece: str) -> str:
        """Add text; always returns "".

        Raises:
            ServeError: if the text is too long.
        """
        self._text += piece
        self._judge.limit(self._text)
        return ""

    async def end(self) -> None:
        """Start the check."""
        if self._text.strip():
            work = self._judge.whole(self._chat, self._text, self.reported)
            self._check = asyncio.create_task(work)

    async def rest(self) -> AsyncIterator[str]:
        """The whole checked text.

        Raises:
            ServeError: if the service is shutting down.
        """
        if self._check is not None:
            self.answer = await self._check
            yield self.answer.text

    async def settled(self) -> AsyncIterator[str]:
        """Nothing: an incomplete answer is not checked as a whole."""
        return
        yield

    def close(self) -> None:
        """Cancel the check."""
        if self._check is not None and not self._check.cancel() and not self._check.cancelled():
            self._check.exception()  # retrieved, or asyncio warns


class Claims:
    """Returns each claim once it has its verdict."""

    def __init__(self, judge: Judge, chat: ChatRequest, reported: Reported) -> None:
        self.reported = reported
        self.answer: GuardedAnswer | None = None
        self._judge, self._text, self._ended = judge, "", 0.0
        self._held = self._late = ""
        self._stream = judge.stream(chat, self.reported)
        self._apart: Steps | None = None

    async def feed(self, piece: str) -> str:
        """Add text and return the claims that have been checked by now.

        Raises:
            ServeError: if the text is too long.
        """
        self._text += piece
        self._held += piece
        self._judge.limit(self._text)
        held = ""
        if not piece or len(self._held) >= len(self._text) / _PARTS:
            held, self._held = self._held, ""
        if not held and not self._stream.has_news:
            return ""
        return await self._do(self._stream.feed, held)

    async def end(self) -> None:
        """Start the check of the last claims."""
        self._ended = time.perf_counter()
        if self._text.strip():
            self._late = await self._do(self._stream.feed, self._held)
            self._stream.end()

    async def rest(self) -> AsyncIterator[str]:
        """The last claims, each as soon as its check is done."""
        if not self._text.strip():
            return
        if self._late:
            yield self._late
        async for text in self.settled():
            yield text
        self.answer = await self._do(self._stream.answer)
        self._judge.checker.checked(self.answer, time.perf_counter() - self._ended)
        if self._stream.rest:
            yield self._stream.rest

    async def settled(self) -> AsyncIterator[str]:
        """The claims that are being checked, each as soon as its check is done."""
        while await self._stream.until_news():
            if text := await self._do(self._stream.feed, ""):
                yield text

    def close(self) -> None:
        """Cancel the checks."""
        if self._apart is None:
            self._stream.close()
        else:  # the stream is used by one thread at a time
            self._apart.submit(self._stream.close)

    async def _do(self, step: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of ``step``; that of a long text runs in the outlet's own thread."""
        if len(self._text) < _LONG and self._apart is None:
            return step(*args, **kwargs)
        self._apart = self._apart or Steps("stream")
        return await asyncio.wrap_future(self._apart.submit(step, *args, **kwargs))
