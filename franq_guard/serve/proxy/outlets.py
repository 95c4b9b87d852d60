"""How one text of a stream leaves: as a whole once it is checked, or claim by claim."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Protocol

from franq_guard.capture.outlet import aremaining
from franq_guard.records import GuardedAnswer
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.proxy.told import Told

_PARTS = 64
"""A stream is looked through anew for settled claims each time it has grown by one of as many
parts: so a long one is not looked through for every few characters."""


class Outlet(Protocol):
    """A text on its way out; nothing of it leaves unchecked."""

    told: Told
    """What the upstream told beside the text so far."""
    answer: GuardedAnswer | None
    """The checked text, once :meth:`rest` is over; None where there were no words."""

    def feed(self, piece: str) -> str:
        """More text in ("" to look again), what may leave now out."""

    def end(self) -> None:
        """The text is over."""

    def rest(self) -> AsyncIterator[str]:
        """What leaves after :meth:`end`."""

    def settled(self) -> AsyncIterator[str]:
        """What was being checked when the text broke off."""

    def close(self) -> None:
        """Stop checking; nothing more leaves."""


class Whole:
    """Holds the text back until it is over and checked."""

    def __init__(self, judge: Judge, chat: ChatRequest, told: Told) -> None:
        self.told = told
        self.answer: GuardedAnswer | None = None
        self._judge, self._chat, self._text = judge, chat, ""
        self._check: asyncio.Task[GuardedAnswer] | None = None

    def feed(self, piece: str) -> str:
        """Nothing leaves.

        Raises:
            ServeError: if the text is too long.
        """
        self._text += piece
        self._judge.limit(self._text)
        return ""

    def end(self) -> None:
        """Have it checked."""
        if self._text.strip():
            work = self._judge.whole(self._chat, self._text, self.told)
            self._check = asyncio.create_task(work)

    async def rest(self) -> AsyncIterator[str]:
        """All of the checked text.

        Raises:
            ServeError: if too many answers wait.
        """
        if self._check is not None:
            self.answer = await self._check
            yield self.answer.text

    async def settled(self) -> AsyncIterator[str]:
        """Nothing: a part of an answer is none."""
        return
        yield

    def close(self) -> None:
        """Nobody waits for the check any more."""
        if self._check is not None and not self._check.cancel() and not self._check.cancelled():
            self._check.exception()  # seen, even where another choice's failure was told


class Claims:
    """Lets each claim out once it has its verdict."""

    def __init__(self, judge: Judge, chat: ChatRequest, told: Told, id: str) -> None:
        self.told = told
        self.answer: GuardedAnswer | None = None
        self._judge, self._text, self._ended = judge, "", 0.0
        self._held = self._late = ""
        self._stream = judge.stream(chat, self.told, id)

    def feed(self, piece: str) -> str:
        """The claims that are checked by now.

        Raises:
            ServeError: if the text is too long.
        """
        self._text += piece
        self._held += piece
        self._judge.limit(self._text)
        if piece and len(self._held) < len(self._text) / _PARTS:
            return self._stream.feed("")
        held, self._held = self._held, ""
        return self._stream.feed(held)

    def end(self) -> None:
        """Have the last claims checked."""
        self._ended = time.perf_counter()
        if self._text.strip():
            self._late = self._stream.feed(self._held)
            self._stream.end()

    async def rest(self) -> AsyncIterator[str]:
        """The last claims, as each is checked."""
        if not self._text.strip():
            return
        if self._late:
            yield self._late
        async for text in aremaining(self._stream):
            yield text
        self.answer = self._stream.answer()
        self._judge.tell(self.answer, time.perf_counter() - self._ended)
        if self._stream.rest:
            yield self._stream.rest

    async def settled(self) -> AsyncIterator[str]:
        """The claims under check, as each is checked."""
        async for text in aremaining(self._stream):
            yield text

    def close(self) -> None:
        """Stop the checks."""
        self._stream.close()
