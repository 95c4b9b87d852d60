"""The chunks of a streamed reply: of what the upstream sends, only what may leave, once it may."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from franq_guard.records import GuardedAnswer
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.outlets import Outlet
from franq_guard.serve.proxy.reply import (
    HEAD,
    REASONING,
    TEXTS,
    of_prompt,
    only,
    text_of,
    unchanged,
)
from franq_guard.serve.proxy.reports import Place
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.proxy.told import Told, tokens_of, told_by
from franq_guard.serve.proxy.wire import MalformedError
from franq_guard.serve.settings import UpstreamKind

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
    token_ids: list[Any] = field(default_factory=list)


class Choices:
    """All choices of one streamed reply.

    Args:
        judge: checks them.
        chat: the request.
        outlet: makes the way out of one text, of which so much is told.
        kind: of the upstream.
    """

    def __init__(
        self,
        judge: Judge,
        chat: ChatRequest,
        outlet: Callable[[Told], Outlet],
        *,
        kind: UpstreamKind,
    ) -> None:
        self.judge, self.began = judge, time.perf_counter()
        self._chat, self._outlet, self._kind = chat, outlet, kind
        self._told, self._of_prompt = Told(), dict[str, Any]()
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
        if not self._choices:  # vLLM tells of the prompt in the first chunk alone
            self._told = told_by(self._kind, chunk)
            self._of_prompt = of_prompt(self._chat, chunk)
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
            first = self._delta(index, {"role": "assistant", "content": ""})
            yield {**first, **self._of_prompt}
        choice = self._choices[index]
        checked = any(isinstance(delta.get(name), str) for name in TEXTS)
        if checked and not any(map(delta.get, REASONING)):
            self._keep_tokens(choice, item)
        for name in TEXTS:
            piece = text_of(delta.get(name))
            # A piece without text may have tokens: parts of a character or of a stop string.
            tokens = tokens_of(item) if name == "content" and name in delta else []
            if piece or tokens:
                outlet = self._outlet_of(choice, name)
                outlet.told.tokens += tokens
                yield from self._text(index, name, outlet.feed(piece))
        if calls := only(delta, _CALLS):
            yield self._delta(index, calls)
        choice.end |= {name: value for name, value in only(item, _END).items() if value is not None}

    def _outlet_of(self, choice: _Choice, name: str) -> Outlet:
        if name not in choice.outlets:
            choice.outlets[name] = self._outlet(replace(self._told, tokens=[]))
        return choice.outlets[name]

    def _keep_tokens(self, choice: _Choice, item: Mapping[str, Any]) -> None:
        """They may leave only once it is known that the text leaves as it is."""
        ids, logprobs = item.get("token_ids"), item.get("logprobs")
        if self._chat.wants("return_token_ids") and isinstance(ids, list):
            choice.token_ids += ids
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
        if unchanged(answers, index):
            told = {"logprobs": choice.logprobs, "token_ids": choice.token_ids}
            made |= {name: value for name, value in told.items() if value}
        return self._made([made])

    def _text(self, index: int, name: str, text: str) -> Iterator[Chunk]:
        if text:
            yield self._delta(index, {name: text})

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Chunk:
        return self._made([{"index": index, "delta": delta, "finish_reason": None}])

    def _made(self, choices: list[Chunk]) -> Chunk:
        return {**self._head, "object": "chat.completion.chunk", "choices": choices}
