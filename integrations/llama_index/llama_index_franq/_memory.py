"""A chat memory that holds an answer back until it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory

from llama_index_franq._messages import with_text


class HeldMemory:
    """``memory`` for one guarded turn; holds the assistant's messages back until :meth:`settle`.

    Everything else reaches ``memory`` at once. If a turn is never settled (its stream was not
    read), only the user's message is stored, so that the next turn cannot build on an unchecked
    answer.
    """

    def __init__(self, memory: BaseMemory) -> None:
        self._memory = memory
        self._held: list[ChatMessage] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    def put(self, message: ChatMessage) -> None:
        """Hold back an assistant's message, store any other."""
        if not self._holds(message):
            self._memory.put(message)

    async def aput(self, message: ChatMessage) -> None:
        """:meth:`put`, async."""
        if not self._holds(message):
            await self._memory.aput(message)

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

    def _holds(self, message: ChatMessage) -> bool:
        if message.role != MessageRole.ASSISTANT:
            return False
        self._held.append(message)
        return True

    def _settled(self, text: str) -> list[ChatMessage]:
        held, self._held = self._held, []
        return [with_text(message, text.strip()) for message in held[-1:]]
