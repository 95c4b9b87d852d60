"""Streams of text, or of a pydantic object that is written field by field.

LlamaIndex yields the object repeatedly, each time with more of it. A guarded stream holds these
states back and yields the finished object once its fields are checked.
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
from itertools import chain
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.schema import NodeWithScore

from llama_index_franq._call import Call, Checked
from llama_index_franq._streams import END, areleased, asteps, released, steps


def released_text_or_object(
    call: Call,
    chunks: Iterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], None],
) -> Generator[Any, None, None]:
    """What can be released of a stream; ``done`` is called with the result of the check.

    For an object this is the finished one, or nothing if the policy removes a field, or in ``tail``
    mode every state as it comes.
    """
    left = steps(chunks, call.capture)
    state = next(left, END)
    if not _is_object(state):
        yield from released(call, left if state is END else chain([state], left), nodes, done)
        return
    while state is not END:
        last = _object(state)
        if call.watch.advisory:
            yield last
        state = next(left, END)
    checked, kept = call.check_object(last, nodes)
    done(checked)
    if kept is not None and not call.watch.advisory:
        yield kept


async def areleased_text_or_object(
    call: Call,
    chunks: AsyncIterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], Awaitable[None]],
) -> AsyncGenerator[Any, None]:
    """:func:`released_text_or_object` for async streams, with the check in a thread."""
    left = asteps(chunks, call.capture)
    state = await anext(left, END)
    if not _is_object(state):
        async for piece in areleased(call, _with_first(state, left), nodes, done):
            yield piece
        return
    while state is not END:
        last = _object(state)
        if call.watch.advisory:
            yield last
        state = await anext(left, END)
    checked, kept = await call.acheck_object(last, nodes)
    await done(checked)
    if kept is not None and not call.watch.advisory:
        yield kept


def _object(state: Any) -> Any:
    if not _is_object(state):
        raise TypeError(f"a stream of objects and {type(state).__name__} cannot be checked")
    return state


def _is_object(state: Any) -> bool:
    if isinstance(state, (list, tuple)):
        return bool(state) and all(isinstance(item, BaseModel) for item in state)
    return isinstance(state, BaseModel)


async def _with_first(first: Any, left: AsyncIterable[Any]) -> AsyncGenerator[Any, None]:
    if first is not END:
        yield first
        async for chunk in left:
            yield chunk
