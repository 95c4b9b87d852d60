"""The notes that agents keep for their memory, and which part of a text is the answer."""

from __future__ import annotations

import re
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
    if isinstance(agent, ReActAgent):
        steps = await ctx.store.get(agent.reasoning_key, default=[])
        if steps and isinstance(steps[-1], ResponseReasoningStep):
            steps = [*steps[:-1], ResponseReasoningStep(thought=_THOUGHT, response=text)]
            await ctx.store.set(agent.reasoning_key, steps)
        return
    messages = await ctx.store.get(agent.scratchpad_key, default=[])
    if messages and messages[-1].role == MessageRole.ASSISTANT:
        await ctx.store.set(agent.scratchpad_key, [*messages[:-1], with_text(messages[-1], text)])


async def note_returned(agent: Any, ctx: Any, raw: str, text: str) -> None:
    """Replace what a tool returned by ``text`` wherever it is noted."""
    key = agent.reasoning_key if isinstance(agent, ReActAgent) else agent.scratchpad_key
    notes = await ctx.store.get(key, default=[])
    await ctx.store.set(key, [_returned(note, raw, text) for note in notes])


async def forget_words(agent: Any, ctx: Any) -> None:
    """Remove from the notes what the model wrote besides its tool calls, which is unchecked."""
    if isinstance(agent, ReActAgent):
        steps = await ctx.store.get(agent.reasoning_key, default=[])
        await ctx.store.set(agent.reasoning_key, [_without_thought(step) for step in steps])
        return
    messages = await ctx.store.get(agent.scratchpad_key, default=[])
    quiet = [_calls_alone(agent, message) for message in messages[:-1]]
    await ctx.store.set(agent.scratchpad_key, [*quiet, *messages[-1:]])


def _returned(note: Any, raw: str, text: str) -> Any:
    if isinstance(note, ObservationReasoningStep) and note.observation == raw:
        return note.model_copy(update={"observation": text})
    if isinstance(note, ChatMessage) and note.role == MessageRole.TOOL and note.content == raw:
        return with_text(note, text)
    return note


def _without_thought(step: Any) -> Any:
    if isinstance(step, ActionReasoningStep):
        return step.model_copy(update={"thought": _NEED})
    return step


def _calls_alone(agent: Any, message: ChatMessage) -> ChatMessage:
    if message.role != MessageRole.ASSISTANT or not message.content:
        return message
    code = _CODE.findall(message.content) if isinstance(agent, CodeActAgent) else []
    return with_text(message, "\n".join(code))
