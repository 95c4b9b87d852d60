"""The notes that agents keep for their memory, and which part of a text is the answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from llama_index.core.agent.react.types import (
    ActionReasoningStep,
    ObservationReasoningStep,
    ResponseReasoningStep,
)
from llama_index.core.agent.workflow import CodeActAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from llama_index_franq._messages import with_text

_ANSWER = "Answer:"
_THOUGHT = "I can answer without using any more tools."
_NEED = "I need a tool."
_CODE = re.compile(r"<execute>.*?</execute>", re.S)


def answer_in(agent: Any, text: str) -> tuple[str, str]:
    """The text before the answer in a final step, and the answer.

    A ReActAgent itself removes everything up to ``Answer:``; its last thought often states the
    answer too and is left out.
    """
    _, marker, answer = text.partition(_ANSWER)
    if not isinstance(agent, ReActAgent) or not marker:
        return "", text
    return f"{_ANSWER} ", answer.strip()


async def note_answer(agent: Any, ctx: Any, text: str) -> None:
    """Replace the unchecked answer by ``text`` in the notes that become the memory."""
    await _change(
        agent, ctx, lambda notes: [*notes[:-1], *(_answered(n, text) for n in notes[-1:])]
    )


async def forget_answer(agent: Any, ctx: Any) -> None:
    """Remove the answer of a run that fails, whose notes begin the next run of its context."""
    await _change(
        agent, ctx, lambda notes: [*notes[:-1], *(n for n in notes[-1:] if not _is_answer(n))]
    )
    await forget_words(agent, ctx)


async def note_returned(agent: Any, ctx: Any, raw: str, text: str) -> None:
    """Replace what a tool returned by ``text`` wherever it is noted."""
    await _change(agent, ctx, lambda notes: [_returned(n, raw, text) for n in notes])


async def forget_words(agent: Any, ctx: Any) -> None:
    """Remove from the notes what the model wrote besides its tool calls, which is unchecked."""
    await _change(agent, ctx, lambda notes: [*(_quiet(agent, n) for n in notes[:-1]), *notes[-1:]])


async def _change(agent: Any, ctx: Any, change: Callable[[list[Any]], list[Any]]) -> None:
    key = agent.reasoning_key if isinstance(agent, ReActAgent) else agent.scratchpad_key
    await ctx.store.set(key, change(await ctx.store.get(key, default=[])))


def _is_answer(note: Any) -> bool:
    by_model = isinstance(note, ChatMessage) and note.role == MessageRole.ASSISTANT
    return by_model or isinstance(note, ResponseReasoningStep)


def _answered(note: Any, text: str) -> Any:
    if not _is_answer(note):
        return note
    if isinstance(note, ChatMessage):
        return with_text(note, text)
    return ResponseReasoningStep(thought=_THOUGHT, response=text)


def _returned(note: Any, raw: str, text: str) -> Any:
    if isinstance(note, ObservationReasoningStep) and note.observation == raw:
        return note.model_copy(update={"observation": text})
    if isinstance(note, ChatMessage) and note.role == MessageRole.TOOL and note.content == raw:
        return with_text(note, text)
    return note


def _quiet(agent: Any, note: Any) -> Any:
    if isinstance(note, ActionReasoningStep):
        return note.model_copy(update={"thought": _NEED})
    if isinstance(note, ChatMessage) and note.role == MessageRole.ASSISTANT and note.content:
        code = _CODE.findall(note.content) if isinstance(agent, CodeActAgent) else []
        return with_text(note, "\n".join(code))
    return note
