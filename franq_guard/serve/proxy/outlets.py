"""Sends one text of a stream to the client: as a whole once it is checked, or claim by claim."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Protocol

from franq_guard.records import GuardedAnswer
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.reported import Reported
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.streaming import AsyncClaimStream


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
        elif self._text:
            yield self._text

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
        self._stream = judge.stream(chat, self.reported)
        self._claims = AsyncClaimStream(self._stream)

    async def feed(self, piece: str) -> str:
        """Add text and return the claims that have been checked by now.

        Raises:
            ServeError: if the text is too long.
        """
        self._text += piece
        self._judge.limit(self._text)
        return await self._claims.feed(piece)

    async def end(self) -> None:
        """Start the check of the last claims."""
        self._ended = time.perf_counter()
        if self._text.strip():
            self._stream.end()

    async def rest(self) -> AsyncIterator[str]:
        """The last claims, each as soon as its check is done."""
        if not self._text.strip():
            if self._text:
                yield self._text
            return
        async for text in self.settled():
            yield text
        self.answer = await self._claims.answer()
        self._judge.checker.checked(self.answer, time.perf_counter() - self._ended)
        if self._stream.rest:
            yield self._stream.rest

    def settled(self) -> AsyncIterator[str]:
        """The claims that are being checked, each as soon as its check is done."""
        return self._claims.remaining()

    def close(self) -> None:
        """Cancel the checks."""
        self._claims.close()
