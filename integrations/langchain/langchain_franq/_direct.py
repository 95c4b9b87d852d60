"""Checks what a tool returns where a model may have written it.

That is the result of a tool with ``return_direct``, which is the agent's answer, and any text that
a model inside a tool wrote. Such a text is checked like an answer and does not count as evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from franq_guard import Passage
from franq_guard.capture.outlet import REPORT_KEY
from langchain_franq._capture import Capture
from langchain_franq._evidence import document_of, is_error
from langchain_franq._messages import Report, with_text
from langchain_franq._quiet import observed_by, out_of_sight, words_out_of_sight
from langchain_franq._state import command_in, update_in, with_values
from langchain_franq._texts import mapped


def answers_directly(tool: Any) -> bool:
    """Whether what ``tool`` returns is the agent's answer (``return_direct``)."""
    return bool(getattr(tool, "return_direct", False))


class QuietTool:
    """A tool whose run is captured and hidden from streams; otherwise the same as the tool.

    If the tool does not answer directly, streams still show that it is called, and the events that
    it sends itself.
    """

    def __init__(self, tool: Any, capture: Capture) -> None:
        self._tool, self._capture = tool, capture
        self._hide = out_of_sight if answers_directly(tool) else words_out_of_sight

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the tool."""
        return self._tool.invoke(input, self._hidden(config), **options)

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Any:
        """Run the tool."""
        return await self._tool.ainvoke(input, self._hidden(config), **options)

    def _hidden(self, config: RunnableConfig | None) -> RunnableConfig:
        # Set in the configuration, because LangGraph passes that to the tool and ignores the
        # context.
        return observed_by(self._capture, self._hide(config or {}))


@dataclass
class _QuietRequest(ToolCallRequest):
    """A request whose tool is a :class:`QuietTool`, also one that other middleware puts there."""

    capture: Capture

    def __post_init__(self) -> None:
        if self.tool is not None and not isinstance(self.tool, QuietTool):
            tool: Any = QuietTool(self.tool, self.capture)
            object.__setattr__(self, "tool", tool)


def quiet(request: ToolCallRequest, capture: Capture) -> ToolCallRequest:
    """The request with its tool captured and hidden from streams.

    It may have no tool yet: other middleware adds one that the agent did not know of.
    """
    return _QuietRequest(request.tool_call, request.tool, request.state, request.runtime, capture)


def answers_in(returned: Any) -> list[ToolMessage]:
    """The answers in what a tool call returned: a message, a ``Command``, or several of them.

    Errors do not count, nor do answers that a guard inside has already checked.
    """
    found: list[ToolMessage] = []

    def note(message: ToolMessage) -> ToolMessage:
        found.append(message)
        return message

    with_answers(returned, note)
    return found


def with_answers(returned: Any, change: Callable[[ToolMessage], BaseMessage]) -> Any:
    """What a tool call returned, with each message of :func:`answers_in` changed."""
    if isinstance(returned, ToolMessage):
        known = is_error(returned) or REPORT_KEY in returned.response_metadata
        return returned if known or not returned.text.strip() else change(returned)
    if isinstance(returned, (list, tuple)):
        return [with_answers(one, change) for one in returned]
    if command_in(returned) is None:
        return returned
    messages = update_in(returned).get("messages")
    changed = with_answers(messages, change)
    return with_values(returned, {"messages": changed}) if messages else returned


def with_answer(
    message: ToolMessage, text: str, report: Report, passages: Sequence[Passage] = ()
) -> BaseMessage:
    """A tool's message with the checked text, also where the artifact repeats it.

    ``passages``: what the model inside the tool wrote it from. If the message has no artifact, they
    become its artifact: the agent's answer is then checked against them and not against the text.
    """
    raw = str(message.text)
    checked = with_text(message, text, report)
    artifact = mapped(message.artifact, lambda _, told: text if told == raw else told)
    if artifact is None and passages:
        artifact = [document_of(passage) for passage in passages]
    return checked.model_copy(update={"artifact": artifact})
