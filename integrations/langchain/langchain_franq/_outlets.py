"""Releases a streamed answer: all of it once it is checked, or claim by claim."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessageChunk

from franq_guard import Guard, GuardedAnswer, Trace
from franq_guard.capture.evidence import PASSAGE_KEYS
from franq_guard.streaming import AsyncClaimStream, ClaimStream
from langchain_franq._call import Call, Reading
from langchain_franq._shapes import ANSWER_KEYS, Located, locate


def outlet_of(call: Call) -> Whole | Claims:
    """The outlet for the answer of a stream."""
    return Claims(call) if call.chain.stream_mode == "claims" else Whole(call)


class Whole:
    """Releases the answer in one last chunk, or (``tail``) unchecked with remarks at the end."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def feed(self, chunk: Any) -> Iterator[Any]:
        """What can be released of a chunk of the guarded chain."""
        if self._call.passes(chunk):
            yield chunk

    async def afeed(self, chunk: Any) -> list[Any]:
        """:meth:`feed` for an event loop."""
        return list(self.feed(chunk))

    def rest(self) -> Iterator[Any]:
        """The last chunks, when the chain has finished."""
        if self._call.held:
            reading = self._call.streamed()
            yield reading.last_chunk(reading.check())

    async def arest(self) -> AsyncIterator[Any]:
        """:meth:`rest`, with the check in a thread."""
        if self._call.held:
            reading = self._call.streamed()
            yield reading.last_chunk(await reading.acheck())

    def close(self) -> None:
        """Do nothing: this outlet has no resources."""


class Claims:
    """Releases each claim as soon as it is checked.

    This is possible for strings, message chunks, and dicts with one of these under the answer's
    key. Everything else is released with the last chunk, and so is the report.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        chain = call.chain
        self._stream = ClaimStream(
            chain.guard, self._lookup, release=chain.release, id=str(call.run_id)
        )
        self._text = _AfterPrompt(lambda: call.capture.prompts)
        self._shown = False
        self._streamable = False
        self._carried: dict[str, Any] = {}
        self._apart: AsyncClaimStream | None = None

    def feed(self, chunk: Any) -> Iterator[Any]:
        """Add a chunk; what can be released now."""
        if self._call.passes(chunk):
            yield chunk
        elif (found := self._found(chunk)) is not None:
            yield from self._parts(self._stream.feed(self._text.add(found.text)), found)

    async def afeed(self, chunk: Any) -> list[Any]:
        """:meth:`feed` for an event loop."""
        if self._call.passes(chunk):
            return [chunk]
        if (found := self._found(chunk)) is None:
            return []
        return list(self._parts(await self._claims.feed(self._text.add(found.text)), found))

    def rest(self) -> Iterator[Any]:
        """What is checked after the chain has finished, then the report with everything else."""
        if not self._call.held:
            return
        reading = self._call.streamed()
        if reading.located.fields:
            yield reading.deliver(reading.check())
            return
        yield from self._parts(self._stream.feed(self._left(reading)), reading.located)
        self._stream.end()
        for more in self._stream.remaining():
            yield from self._parts(more, reading.located)
        yield from self._last(reading, self._stream.answer())

    async def arest(self) -> AsyncIterator[Any]:
        """:meth:`rest`, waiting in a thread."""
        if not self._call.held:
            return
        reading = self._call.streamed()
        if reading.located.fields:
            yield reading.deliver(await reading.acheck())
            return
        for part in self._parts(await self._claims.feed(self._left(reading)), reading.located):
            yield part
        self._stream.end()
        async for more in self._claims.remaining():
            for part in self._parts(more, reading.located):
                yield part
        answer = await self._claims.answer()
        for part in await asyncio.to_thread(list, self._last(reading, answer)):
            yield part

    def close(self) -> None:
        """Cancel all checks; nothing more is released."""
        (self._stream if self._apart is None else self._apart).close()

    @property
    def _claims(self) -> AsyncClaimStream:
        """The stream for an event loop, instead of the stream itself."""
        self._apart = self._apart or AsyncClaimStream(self._stream)
        return self._apart

    def _lookup(self, text: str) -> tuple[Guard, Trace]:
        return self._call.job(dict(self._carried), text).of_a_stream()

    def _found(self, chunk: Any) -> Located | None:
        """The piece of the answer in a chunk; None if that is not certain yet."""
        if isinstance(chunk, Mapping):  # noted here: each lookup would read all chunks again
            self._carried |= {k: v for k, v in chunk.items() if k in PASSAGE_KEYS}
        found = _answer_in(chunk, self._call.chain.output_key)
        self._streamable = self._streamable or bool(found and found.text)
        return found

    def _left(self, reading: Reading) -> str:
        """The text that is still to be fed when the chain has finished."""
        text = reading.located.text
        if not text.startswith(self._text.seen):
            raise TypeError(
                "the chunks of this stream do not add up to its answer: use stream='buffer'"
            )
        return self._text.add(text[len(self._text.seen) :]) + self._text.end()

    def _parts(self, text: str, located: Located) -> Iterator[Any]:
        if text and self._streamable:
            lead = "" if self._shown else self._text.lead
            self._shown = True
            yield located.after(lead + text, None)

    def _last(self, reading: Reading, answer: GuardedAnswer) -> Iterator[Any]:
        text = self._stream.rest if self._shown else self._text.lead + answer.text
        chunk = reading.rest(text, answer)
        if chunk != "" or not self._shown:
            yield chunk


class _AfterPrompt:
    """The text of an answer without the prompt that some pipelines repeat before it."""

    def __init__(self, prompts: Callable[[], list[str]]) -> None:
        self._prompts = prompts
        self._held: str | None = ""
        self.seen, self.lead = "", ""

    def add(self, text: str) -> str:
        """Add text; returns the part of it that belongs to the answer."""
        self.seen += text
        if self._held is None:
            return text
        self._held += text
        prompts = [p for p in self._prompts() if p]
        repeated = [p for p in prompts if self._held.startswith(p)]
        if repeated:
            self.lead = max(repeated, key=len)
        elif any(p.startswith(self._held) for p in prompts):
            return ""
        return self.end()[len(self.lead) :]

    def end(self) -> str:
        """The text that was held back because it could have been a prompt."""
        held, self._held = self._held or "", None
        return held


def _answer_in(chunk: Any, output_key: str | None) -> Located | None:
    """The piece of the answer in a chunk; None if that is not certain yet."""
    if isinstance(chunk, Mapping):
        key = output_key or ANSWER_KEYS[0]
        return _piece(locate(chunk, key), chunk[key]) if _is_piece(chunk.get(key)) else None
    return _piece(locate(chunk), chunk) if _is_piece(chunk) else None


def _is_piece(value: Any) -> bool:
    return isinstance(value, (str, BaseMessageChunk))


def _piece(found: Located, value: str | BaseMessageChunk) -> Located:
    """A refusal, or the words of audio, is released as a whole and in its own place."""
    return found if isinstance(value, str) else replace(found, text=str(value.text))
