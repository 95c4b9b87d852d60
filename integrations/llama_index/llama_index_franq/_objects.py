"""Streams of a pydantic object that is written field by field, beside streams of text.

LlamaIndex hands the object over again and again, each time with more of it. A guarded stream keeps
all of that back and gives the finished object once its fields are checked.
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
from llama_index_franq._streams import END, areleased_of, asteps, released_of, steps
from llama_index_franq._structured import Fields, keeps


def released_text_or_object(
    call: Call,
    chunks: Iterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], None],
) -> Generator[Any, None, None]:
    """What may leave of a stream; ``done`` is called with the check.

    Of an object: the finished one, nothing where the policy takes something out of it, in ``tail``
    mode every state as it comes.
    """
    left = steps(call.capture, chunks)
    state = next(left, END)
    if not _is_object(state):
        yield from released_of(call, left if state is END else chain([state], left), nodes, done)
        return
    while state is not END:
        last = _object(state)
        if call.watch.advisory:
            yield last
        state = next(left, END)
    fields = Fields(last)
    checked = call.check(fields.text, nodes, fields.claims)
    done(checked)
    if _leaves(call, checked):
        yield last


async def areleased_text_or_object(
    call: Call,
    chunks: AsyncIterable[Any],
    nodes: Sequence[NodeWithScore],
    done: Callable[[Checked], Awaitable[None]],
) -> AsyncGenerator[Any, None]:
    """:func:`released_text_or_object` for async streams, with the check in a thread."""
    left = asteps(call.capture, chunks)
    state = await anext(left, END)
    if not _is_object(state):
        async for piece in areleased_of(call, _with_first(state, left), nodes, done):
            yield piece
        return
    while state is not END:
        last = _object(state)
        if call.watch.advisory:
            yield last
        state = await anext(left, END)
    fields = Fields(last)
    checked = await call.acheck(fields.text, nodes, fields.claims)
    await done(checked)
    if _leaves(call, checked):
        yield last


def _leaves(call: Call, checked: Checked) -> bool:
    return not call.watch.advisory and keeps(call.watch.guard.policy, checked.answer)


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
