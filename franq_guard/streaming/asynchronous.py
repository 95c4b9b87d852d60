"""A stream of claims for event loops: what takes long is done in a thread of the stream's own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from franq_guard.basics.background import Steps
from franq_guard.records import GuardedAnswer
from franq_guard.streaming.release import Release
from franq_guard.streaming.stream import ClaimStream

R = TypeVar("R")


class AsyncClaimStream:
    """A :class:`ClaimStream` that does not hold up its event loop.

    Looking for the claims of a long table, or removing weak ones from it, takes a tenth of a second
    and more, for which all other requests would have to wait. ``on_claim`` and ``on_report`` are
    called on the event loop, in order.

    Args:
        stream: the stream. Of its own methods only :meth:`~ClaimStream.end` is called from now on.
    """

    def __init__(self, stream: ClaimStream) -> None:
        self.stream = stream
        self._to_tell: deque[Callable[[], object]] = deque()
        self._apart: Steps | None = None
        asked = stream.release
        stream.release = Release(
            self._later(asked.on_report), asked.raise_on, self._later(asked.on_claim)
        )

    async def feed(self, piece: str) -> str:
        """Add text and return the text that can be released now, as :meth:`ClaimStream.feed`."""
        return await self._do(partial(self.stream.feed, piece), self.stream.takes_long(piece))

    async def remaining(self) -> AsyncIterator[str]:
        """The text that the checks under way release, each as soon as it is done."""
        while await self.stream.until_news():
            if text := await self.feed(""):
                yield text

    async def answer(self) -> GuardedAnswer:
        """Release the rest and return the whole answer, as :meth:`ClaimStream.answer`."""
        return await self._do(self.stream.answer, self.stream.is_long)

    def close(self) -> None:
        """Cancel all checks, as :meth:`ClaimStream.close`; a step in work ends before that."""
        if self._apart is None:
            self.stream.close()
        else:  # the stream is used by one thread at a time
            self._apart.submit(self.stream.close)

    async def _do(self, step: Callable[[], R], takes_long: bool) -> R:
        try:
            if takes_long:
                self._apart = self._apart or Steps("stream")
                found = await asyncio.wrap_future(self._apart.submit(copy_context().run, step))
            else:
                found = step()
        except Exception:  # not if the task is cancelled: the step may still be at work
            self._tell()
            raise
        self._tell()
        return found

    def _tell(self) -> None:
        while self._to_tell:
            self._to_tell.popleft()()

    def _later(self, tell: Callable[[Any], object] | None) -> Callable[[Any], object] | None:
        return tell and (lambda told: self._to_tell.append(partial(tell, told)))
