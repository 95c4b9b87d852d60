"""Checks what a tool returns where a model may have written it.

That is the result of a tool with ``return_direct``, which is the agent's answer, and any text that
a model inside a tool wrote, also where a ``Command`` puts it into the state. Such a text is checked
like an answer and does not count as evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from franq_guard import GuardedAnswer, Passage
from franq_guard.capture.job import Job
from franq_guard.capture.outlet import REPORT_KEY
from franq_guard.streaming.release import Release
from langchain_franq._beside import Checked, texts_to_check, with_blocks
from langchain_franq._blocks import written_in_blocks
from langchain_franq._capture import Capture
from langchain_franq._documents import document_of
from langchain_franq._messages import Report, text_of, with_text
from langchain_franq._quiet import observed_by, out_of_sight, words_out_of_sight
from langchain_franq._shapes import NO_ANSWER
from langchain_franq._state import (
    Values,
    command_in,
    update_in,
    values_of,
    with_updates,
    with_values,
)
from langchain_franq._texts import Path, given_texts, mapped
from langchain_franq._turns import BY_A_MODEL_KEY, is_error


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


class ToolResult:
    """One call of a tool: what it returned is checked where a model wrote it or it is the answer.

    Args:
        request: the call.
        make: makes the job of a text, whose message has the id (None for a text in no message).
        release: what happens to a checked text.
    """

    def __init__(
        self,
        request: ToolCallRequest,
        make: Callable[[ToolResult, str, str | None], Job],
        release: Release,
    ) -> None:
        self.request, self.capture = request, Capture()
        self.stored: Values = {}
        self._make, self._release = make, release
        self._given = {**values_of(request.state), "arguments": request.tool_call["args"]}
        self._jobs: dict[str, Job] = {}

    def jobs(self, returned: Any) -> list[Job]:
        """The jobs of the texts to check in what the tool returned."""
        updates = list(_updates_in(returned))
        # What it stores beside its messages, such as documents, may be what its texts rest on.
        stored = {key: v for update in updates for key, v in update.items() if key != "messages"}
        self.stored = stored
        ids = {text_of(m): m.id for m in _answers_in(returned) if self._is_checked(m)}
        for message in _answers_in(returned):
            for text in written_in_blocks(message, self.capture.wrote):
                ids.setdefault(text, message.id)
        for text in (text for update in updates for text in self._texts_of(update)):
            ids.setdefault(text, None)
        self._jobs = {text: self._make(self, text, id) for text, id in ids.items()}
        return list(self._jobs.values())

    def delivered(self, returned: Any, answers: Sequence[GuardedAnswer]) -> Any:
        """What the tool returned, with the checked texts; raises what the release does."""
        passed = [self._release(answer) for answer in answers]
        checked: Checked = {
            raw: (job.lead + answer.text, answer.to_dict())
            for (raw, job), answer in zip(self._jobs.items(), passed, strict=True)
        }

        def change(message: ToolMessage | AIMessage) -> BaseMessage:
            text = text_of(message)
            if self._is_checked(message) and text in checked:
                return self._with_blocks(self._with_report(message, *checked[text]), checked)
            return self._with_blocks(message, checked)

        known = given_texts(self._given)
        texts = {raw: new for raw, (new, _) in checked.items() if raw not in known}
        with_messages = _with_answers(returned, change) if checked else returned
        return with_updates(with_messages, lambda _, text: texts.get(text, text))

    def _texts_of(self, update: Values) -> dict[str, Path]:
        """A model's texts in a state's update, but for messages that a guard inside has checked."""
        found = texts_to_check(update, NO_ANSWER, self._given, self.capture)
        messages = update.get("messages") or ()
        known = {text_of(m) for m in messages if REPORT_KEY in m.response_metadata}
        return {text: path for text, path in found.items() if text not in known}

    def _with_report(
        self, message: ToolMessage | AIMessage, text: str, report: Report
    ) -> BaseMessage:
        if isinstance(message, AIMessage):
            return with_text(message, text, report)
        if not self.capture.wrote(str(message.text)):
            return _with_answer(message, text, report)
        found = self.capture.evidence(self.stored, answer=str(message.text))
        return _with_answer(message, text, {**report, BY_A_MODEL_KEY: True}, found)

    def _with_blocks(self, message: BaseMessage, checked: Checked) -> BaseMessage:
        """A tool's message with the checked texts in its blocks; it is marked as a model's."""
        by_model = written_in_blocks(message, self.capture.wrote)
        if not by_model:
            return message
        new = with_blocks(message, checked, checked[by_model[0]][1])
        if getattr(message, "artifact", None) is None:
            found = [document_of(p) for p in self.capture.evidence(self.stored)]
            return new.model_copy(update={"artifact": found})
        return new

    def _is_checked(self, message: ToolMessage | AIMessage) -> bool:
        """Whether it is checked; of an AI message the texts of its update decide."""
        counts = isinstance(message, AIMessage) or answers_directly(self.request.tool)
        text = text_of(message)
        return bool(text.strip()) and (counts or self.capture.wrote(text))


def _updates_in(returned: Any) -> Iterator[Values]:
    """The updates of the state in what a tool call returned."""
    if isinstance(returned, (list, tuple)):
        for one in returned:
            yield from _updates_in(one)
    elif command_in(returned) is not None:
        yield update_in(returned)


def _answers_in(returned: Any) -> list[ToolMessage]:
    """The tools' messages in what a tool call returned: one, or those of its ``Command``s.

    Errors do not count, nor do answers that a guard inside has already checked.
    """
    found: list[ToolMessage] = []

    def note(message: ToolMessage | AIMessage) -> BaseMessage:
        if isinstance(message, ToolMessage):
            found.append(message)
        return message

    _with_answers(returned, note)
    return found


def _with_answers(returned: Any, change: Callable[[ToolMessage | AIMessage], BaseMessage]) -> Any:
    """What a tool call returned, with each unchecked message of a tool or a model changed."""
    if isinstance(returned, (ToolMessage, AIMessage)):
        known = is_error(returned) or REPORT_KEY in returned.response_metadata
        return returned if known else change(returned)
    if isinstance(returned, (list, tuple)):
        return [_with_answers(one, change) for one in returned]
    if command_in(returned) is None:
        return returned
    messages = update_in(returned).get("messages")
    changed = _with_answers(messages, change)
    return with_values(returned, {"messages": changed}) if messages else returned


def _with_answer(
    message: ToolMessage, text: str, report: Report, passages: Sequence[Passage] = ()
) -> BaseMessage:
    """A tool's message with the checked text, also where the artifact repeats it.

    ``passages``: what the model inside the tool wrote it from. If the message has no artifact, they
    become its artifact: the agent's answer is then checked against them and not against the text.
    """
    raw = str(message.text)
    checked = with_text(message, text, report)
    artifact = mapped(message.artifact, lambda _, value: text if value == raw else value)
    if artifact is None and passages:
        artifact = [document_of(passage) for passage in passages]
    return checked.model_copy(update={"artifact": artifact})
