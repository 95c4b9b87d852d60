"""Controls what the steps of a guarded agent stream: of a model's text, only checked answers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from llama_index.core.agent.workflow import AgentInput, AgentOutput, AgentStream, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.tools import ToolOutput

from llama_index_franq._beside import Beside
from llama_index_franq._call import Call
from llama_index_franq._memory import HeldMemory
from llama_index_franq._messages import with_text
from llama_index_franq._tools import report_in

_RETRY = "Error while parsing the output"  # a ReActAgent quotes what its model wrote


class QuietContext:
    """``ctx`` for a step; holds events back until the step has checked what they show."""

    def __init__(self, ctx: Any, *kinds: type) -> None:
        self._ctx, self._kinds = ctx, kinds
        self._held: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def write_event_to_stream(self, event: Any) -> None:
        """Hold back an event of the given kinds, pass on any other."""
        if isinstance(event, self._kinds):
            self._held.append(event)
        else:
            self._ctx.write_event_to_stream(event)

    def release(self) -> list[Any]:
        """The events that were held, in order."""
        held, self._held = self._held, []
        return held


class HeldContext(QuietContext):
    """``ctx`` for a model's step; holds its text back until it is known whether it is the answer.

    Args:
        known: texts of the conversation before this run. Events with the model's input are shown
            without what the model itself wrote in this run.
    """

    def __init__(self, ctx: Any, known: Collection[str] = ()) -> None:
        super().__init__(ctx, AgentStream, AgentOutput)
        self._known = known
        self.store = _HeldStore(ctx.store)

    @property
    def streamed(self) -> bool:
        """Whether the step streamed any text."""
        return any(isinstance(event, AgentStream) for event in self._held)

    def write_event_to_stream(self, event: Any) -> None:
        """Hold back what a model wrote, and pass on any other event."""
        known = isinstance(event, AgentInput)
        super().write_event_to_stream(known_input(event, self._known) if known else event)

    def show_calls(self) -> None:
        """Pass on the last piece, which has the whole step: it was a tool call, not an answer."""
        for event in self._held[-1:]:
            if isinstance(event, AgentStream):
                self._ctx.write_event_to_stream(calls_alone(event))


class _HeldStore:
    """A context's store whose memory holds the assistant's text back until it is checked."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._memories: list[HeldMemory] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get(self, path: str, *default: Any, **named: Any) -> Any:
        """The value at ``path``."""
        value = await self._store.get(path, *default, **named)
        if path != "memory":
            return value
        self._memories.append(HeldMemory(value))
        return self._memories[-1]

    async def asettle(self, text: str) -> None:
        """Store the answer as ``text``."""
        for memory in self._memories:
            await memory.asettle(text)


def without_words(output: AgentOutput) -> AgentOutput:
    """A step that is not an answer, as it may be streamed: its tool calls without its text."""
    return AgentOutput(
        response=with_text(output.response, ""),
        tool_calls=output.tool_calls,
        current_agent_name=output.current_agent_name,
    )


def calls_alone(event: AgentStream) -> AgentStream:
    """A piece of a step that is not an answer: only its tool calls."""
    return AgentStream(
        delta="",
        response="",
        current_agent_name=event.current_agent_name,
        tool_calls=event.tool_calls,
    )


def known_input(event: AgentInput, known: Collection[str]) -> AgentInput:
    """A model's input without what the model itself wrote in this run.

    Args:
        event: of one step.
        known: texts of the conversation before the run, which are checked or the application's own.
    """
    heard = [_emptied(message, known) for message in event.input]
    return AgentInput(input=heard, current_agent_name=event.current_agent_name)


async def settle_result(call: Call, result: ToolCallResult) -> None:
    """Check what a tool's own model wrote, as if its engine were guarded.

    A result that is returned directly is not checked here, but later as the answer.
    """
    if not result.tool_output.is_error and not result.return_direct:
        settle = Beside(call, (), by_models=call.capture.models_ran).value
        result.tool_output = await asyncio.to_thread(settle, result.tool_output, result.tool_name)


def shown_result(result: ToolCallResult) -> ToolCallResult:
    """``result`` as it may be streamed: without an unchecked text that will be the answer."""
    output = result.tool_output
    if not result.return_direct or output.is_error or report_in(output.raw_output) is not None:
        return result
    hidden = ToolOutput(tool_name=output.tool_name, raw_input=output.raw_input, raw_output=None)
    return result.model_copy(update={"tool_output": hidden})


def _emptied(message: ChatMessage, known: Collection[str]) -> ChatMessage:
    text = message.content or ""
    by_model = message.role == MessageRole.ASSISTANT and text not in known
    by_model = by_model or (message.role == MessageRole.USER and text.startswith(_RETRY))
    return with_text(message, "") if by_model else message
