"""Reads and checks a streamed answer.

In ``buffer`` mode all text is held back until it is checked, in ``claims`` mode each claim is
released once it is checked, and in ``tail`` mode remarks follow the raw text.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Sequence,
)
from contextlib import closing
from typing import Any

from llama_index.core.schema import NodeWithScore

from franq_guard.streaming import AsyncClaimStream
from llama_index_franq._call import Call, Checked
from llama_index_franq._capture import Capture
from llama_index_franq._events import observed

END = object()


def released(
    call: Call,
    chunks: Iterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], None],
) -> Generator[str, None, None]:
    """What can be released of a stream of text, in order; ``done`` is called with the result.

    ``chunks``: as :func:`steps` reads them.
    """
    if call.watch.stream == "claims":
        yield from _claims(call, chunks, nodes, done)
        return
    said: list[str] = []
    for chunk in chunks:
        said.append(_text(chunk))
        if call.watch.advisory:
            yield chunk
    checked = call.check("".join(said), nodes)
    done(checked)
    yield checked.ending


async def areleased(
    call: Call,
    chunks: AsyncIterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], Awaitable[None]],
) -> AsyncGenerator[str, None]:
    """:func:`released` for async streams (read by :func:`asteps`), with the check in a thread."""
    if call.watch.stream == "claims":
        async for text in _aclaims(call, chunks, nodes, done):
            yield text
        return
    said: list[str] = []
    async for chunk in chunks:
        said.append(_text(chunk))
        if call.watch.advisory:
            yield chunk
    checked = await call.acheck("".join(said), nodes)
    await done(checked)
    yield checked.ending


def _claims(
    call: Call,
    chunks: Iterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], None],
) -> Generator[str, None, None]:
    with closing(call.claims(nodes)) as stream:
        for chunk in chunks:
            if text := stream.feed(_text(chunk)):
                yield text
        stream.end()
        yield from stream.remaining()
        done(call.of_claims(stream.answer(), stream.trace))
        yield stream.rest


async def _aclaims(
    call: Call,
    chunks: AsyncIterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], Awaitable[None]],
) -> AsyncGenerator[str, None]:
    stream = call.claims(nodes)
    with closing(AsyncClaimStream(stream)) as claims:
        async for chunk in chunks:
            if text := await claims.feed(_text(chunk)):
                yield text
        stream.end()
        async for text in claims.remaining():
            yield text
        await done(call.of_claims(await claims.answer(), stream.trace))
        yield stream.rest


def steps(chunks: Iterable[Any], *captures: Capture) -> Generator[Any, None, None]:
    """The chunks, each requested from the model while events are observed.

    The model is called only when a chunk is requested, in the reader's context. There must be no
    ``yield`` while events are observed, or the reader's own events would be recorded.
    """
    left = iter(chunks)
    while True:
        with observed(*captures):
            chunk = next(left, END)
        if chunk is END:
            return
        yield chunk


async def asteps(chunks: AsyncIterable[Any], *captures: Capture) -> AsyncGenerator[Any, None]:
    """:func:`steps` of an async stream."""
    left = aiter(chunks)
    while True:
        with observed(*captures):
            chunk = await anext(left, END)
        if chunk is END:
            return
        yield chunk


def _text(chunk: Any) -> str:
    if not isinstance(chunk, str):
        raise TypeError(
            f"a stream of {type(chunk).__name__} cannot be checked: stream text, or turn streaming "
            "off for structured responses"
        )
    return chunk
