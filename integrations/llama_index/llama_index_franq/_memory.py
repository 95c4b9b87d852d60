"""A chat memory that holds an answer back until it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory

from llama_index_franq._messages import calls_alone, with_text


class HeldMemory:
    """``memory`` for one guarded turn; holds the assistant's messages back until :meth:`settle`.

    Everything else reaches ``memory`` at once. So do tool calls, without the text beside them, when
    the next message comes: servers refuse the result of a tool without its call. If a turn is never
    settled (its stream was not read), no answer is stored, so that the next turn cannot build on an
    unchecked one.
    """

    def __init__(self, memory: BaseMemory) -> None:
        self._memory = memory
        self._held: list[ChatMessage] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    def put(self, message: ChatMessage) -> None:
        """Hold back an assistant's message, store any other."""
        for one in self._known_with(message):
            self._memory.put(one)

    async def aput(self, message: ChatMessage) -> None:
        """:meth:`put`, async."""
        for one in self._known_with(message):
            await self._memory.aput(one)

    def put_messages(self, messages: Sequence[ChatMessage]) -> None:
        """:meth:`put` for each."""
        for message in messages:
            self.put(message)

    async def aput_messages(self, messages: Sequence[ChatMessage]) -> None:
        """:meth:`aput` for each."""
        for message in messages:
            await self.aput(message)

    def settle(self, text: str) -> None:
        """Store the answer as ``text``."""
        for message in self._settled(text):
            self._memory.put(message)

    async def asettle(self, text: str) -> None:
        """:meth:`settle`, async."""
        for message in self._settled(text):
            await self._memory.aput(message)

    def _known_with(self, message: ChatMessage) -> list[ChatMessage]:
        """What can be stored now that ``message`` comes: tool calls before it, and it if known."""
        pairs = [(held, calls_alone(held)) for held in self._held]
        called = [calls for _, calls in pairs if calls is not None]
        self._held = [held for held, calls in pairs if calls is None]
        if message.role != MessageRole.ASSISTANT:
            return [*called, message]
        self._held.append(message)
        return called

    def _settled(self, text: str) -> list[ChatMessage]:
        held, self._held = self._held, []
        return [with_text(message, text.strip()) for message in held[-1:]]
