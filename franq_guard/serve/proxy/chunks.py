"""The chunks of a streamed reply: of what the upstream sends, only what may leave, once it may."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from franq_guard.records import GuardedAnswer
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.outlets import Outlet
from franq_guard.serve.proxy.reply import HEAD, TEXTS, only, text_of, told_by, unchanged
from franq_guard.serve.proxy.reports import Place
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.proxy.wire import MalformedError

Chunk = dict[str, Any]

_HEAD = tuple(name for name in HEAD if name != "usage")
_CALLS = ("tool_calls", "function_call")
_END = ("finish_reason", "stop_reason")
_MOST = 128
"""Choices of one reply."""


@dataclass
class _Choice:
    """One choice so far."""

    outlets: dict[str, Outlet] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, list[Any]] = field(default_factory=dict)


class Choices:
    """All choices of one streamed reply.

    Args:
        judge: checks them.
        chat: the request.
        outlet: makes the way out of one text.
    """

    def __init__(self, judge: Judge, chat: ChatRequest, outlet: Callable[[], Outlet]) -> None:
        self.judge, self.began = judge, time.perf_counter()
        self._chat, self._outlet = chat, outlet
        self._head: Chunk = {"id": "", "created": int(time.time()), "model": chat.model}
        self._usage: Any = None
        self._choices: dict[int, _Choice] = {}

    @property
    def finished(self) -> bool:
        """Whether the upstream said of every choice why it stopped."""
        choices = self._choices.values()
        return bool(choices) and all(choice.end.get("finish_reason") for choice in choices)

    def feed(self, chunk: Mapping[str, Any]) -> Iterator[Chunk]:
        """A chunk of the upstream in, what may leave now out.

        Raises:
            MalformedError: for a chunk of another form.
            ServeError: if a text is too long.
        """
        self._head |= only(chunk, _HEAD)
        self._usage = chunk.get("usage") or self._usage
        choices = chunk.get("choices") or []
        if not isinstance(choices, list):
            raise MalformedError("a chunk has no list of choices")
        for item in choices:
            yield from self._item(item)

    def checked(self) -> Iterator[Chunk]:
        """What was checked meanwhile."""
        for (index, name), outlet in self._places():
            yield from self._text(index, name, outlet.feed(""))

    async def rest(self) -> AsyncIterator[Chunk]:
        """What leaves once the upstream is done, choice by choice.

        Raises:
            ServeError: if too many answers wait.
        """
        for _, outlet in self._places():
            outlet.end()
        for (index, name), outlet in self._places():
            async for text in outlet.rest():
                for chunk in self._text(index, name, text):
                    yield chunk

    async def settled(self) -> AsyncIterator[Chunk]:
        """The claims under check when the upstream broke off."""
        for (index, name), outlet in self._places():
            async for text in outlet.settled():
                for chunk in self._text(index, name, text):
                    yield chunk

    def answers(self) -> dict[Place, GuardedAnswer]:
        """The checked texts, after :meth:`rest`."""
        found = ((place, outlet.answer) for place, outlet in self._places())
        return {place: answer for place, answer in found if answer is not None}

    def last(self, report: Mapping[str, Any]) -> Iterator[Chunk]:
        """Why each choice stopped; the last such chunk has the report. Then usage, if asked for."""
        answers = self.answers()
        ends = [self._end(index, answers) for index in sorted(self._choices)]
        final = ends[-1] if ends else self._made([])
        final["franq"] = report
        asked = self._chat.wants_usage
        if self._usage is not None and not asked:
            final["usage"] = self._usage
        yield from ends or [final]
        if self._usage is not None and asked:
            yield {**self._made([]), "usage": self._usage}

    def close(self) -> None:
        """Stop all checks."""
        for _, outlet in self._places():
            outlet.close()

    def _item(self, item: Any) -> Iterator[Chunk]:
        index = item.get("index", 0) if isinstance(item, Mapping) else None
        if not isinstance(index, int) or not 0 <= index < _MOST:
            raise MalformedError("a choice has no number")
        delta = item.get("delta") or {}
        if not isinstance(delta, Mapping):
            raise MalformedError("a choice has no delta")
        if index not in self._choices:
            self._choices[index] = _Choice()
            yield self._delta(index, {"role": "assistant", "content": ""})
        choice = self._choices[index]
        self._keep_logprobs(choice, item.get("logprobs"))
        for name in TEXTS:
            if piece := text_of(delta.get(name)):
                outlet = self._outlet_of(choice, name)
                if name == "content":
                    outlet.told += told_by(item.get("logprobs"))
                yield from self._text(index, name, outlet.feed(piece))
        if calls := only(delta, _CALLS):
            yield self._delta(index, calls)
        choice.end |= {name: value for name, value in only(item, _END).items() if value is not None}

    def _outlet_of(self, choice: _Choice, name: str) -> Outlet:
        if name not in choice.outlets:
            choice.outlets[name] = self._outlet()
        return choice.outlets[name]

    def _keep_logprobs(self, choice: _Choice, logprobs: Any) -> None:
        """They may leave only once it is known that the text leaves as it is."""
        if self._chat.wants_logprobs and isinstance(logprobs, Mapping):
            for name in TEXTS:
                if isinstance(entries := logprobs.get(name), list):
                    choice.logprobs.setdefault(name, []).extend(entries)

    def _places(self) -> list[tuple[Place, Outlet]]:
        return [
            ((index, name), outlet)
            for index, choice in sorted(self._choices.items())
            for name, outlet in choice.outlets.items()
        ]

    def _end(self, index: int, answers: Mapping[Place, GuardedAnswer]) -> Chunk:
        choice = self._choices[index]
        made = {"index": index, "delta": {}, "finish_reason": None, **choice.end}
        if choice.logprobs and unchanged(answers, index):
            made["logprobs"] = choice.logprobs
        return self._made([made])

    def _text(self, index: int, name: str, text: str) -> Iterator[Chunk]:
        if text:
            yield self._delta(index, {name: text})

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Chunk:
        return self._made([{"index": index, "delta": delta, "finish_reason": None}])

    def _made(self, choices: list[Chunk]) -> Chunk:
        return {**self._head, "object": "chat.completion.chunk", "choices": choices}
