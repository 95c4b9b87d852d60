"""A streamed answer, read and checked: nothing leaves before, or (``tail``) remarks follow.

In ``claims`` mode each claim leaves once it is checked.
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

from franq_guard.capture.outlet import aremaining, remaining
from llama_index_franq._call import Call, Checked
from llama_index_franq._capture import Capture, observed

_END = object()


def released(
    call: Call,
    chunks: Iterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], None],
) -> Generator[str, None, None]:
    """What may leave of a stream of text, in order; ``done`` is called with the check."""
    if call.watch.stream == "claims":
        yield from _claims(call, chunks, nodes, done)
        return
    said: list[str] = []
    for chunk in _steps(call.capture, chunks):
        said.append(chunk)
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
    """:func:`released` for async streams, with the check in a thread."""
    if call.watch.stream == "claims":
        async for text in _aclaims(call, chunks, nodes, done):
            yield text
        return
    said: list[str] = []
    async for chunk in _asteps(call.capture, chunks):
        said.append(chunk)
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
        for chunk in _steps(call.capture, chunks):
            if text := stream.feed(chunk):
                yield text
        stream.end()
        yield from remaining(stream)
        done(call.checked(stream))
        yield stream.rest


async def _aclaims(
    call: Call,
    chunks: AsyncIterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], Awaitable[None]],
) -> AsyncGenerator[str, None]:
    with closing(call.claims(nodes)) as stream:
        async for chunk in _asteps(call.capture, chunks):
            if text := stream.feed(chunk):
                yield text
        stream.end()
        async for text in aremaining(stream):
            yield text
        await done(call.checked(stream))
        yield stream.rest


def _steps(capture: Capture, chunks: Iterable[Any]) -> Generator[str, None, None]:
    """The chunks. The model is only called as each is asked for, in the reader's context.

    So events are observed for that moment alone: no yield inside.
    """
    left = iter(chunks)
    while True:
        with observed(capture):
            chunk = next(left, _END)
        if chunk is _END:
            return
        yield _text(chunk)


async def _asteps(capture: Capture, chunks: AsyncIterable[Any]) -> AsyncGenerator[str, None]:
    left = aiter(chunks)
    while True:
        with observed(capture):
            chunk = await anext(left, _END)
        if chunk is _END:
            return
        yield _text(chunk)


def _text(chunk: Any) -> str:
    if not isinstance(chunk, str):
        raise TypeError(
            f"a stream of {type(chunk).__name__} cannot be checked: stream text, or turn streaming "
            "off for structured responses"
        )
    return chunk
