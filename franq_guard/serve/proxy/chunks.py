"""The chunks of a streamed reply: text is passed on to the client only after it was checked."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from franq_guard.records import GuardedAnswer
from franq_guard.serve.passages import text_of
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.outlets import Outlet
from franq_guard.serve.proxy.reply import (
    REASONING_FIELDS,
    REPLY_FIELDS,
    TEXT_FIELDS,
    is_unchanged,
    pick,
    prompt_fields,
)
from franq_guard.serve.proxy.reported import Reported, reported_by, tokens_of
from franq_guard.serve.proxy.reports import TextKey
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.proxy.wire import MalformedError
from franq_guard.serve.settings import UpstreamKind

Chunk = dict[str, Any]

_CHUNK_FIELDS = tuple(name for name in REPLY_FIELDS if name != "usage")
_CALL_FIELDS = ("tool_calls", "function_call")
_END_FIELDS = ("finish_reason", "stop_reason")
_MAX_CHOICES = 128
"""Most choices of one reply that are accepted."""


@dataclass
class _Choice:
    """What has arrived of one choice so far."""

    outlets: dict[str, Outlet] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, list[Any]] = field(default_factory=dict)
    token_ids: list[Any] = field(default_factory=list)
    separate_reasoning: bool = False


class Choices:
    """All choices of one streamed reply.

    Args:
        judge: checks the texts.
        chat: the request.
        outlet: makes the outlet of one text, given what the upstream reported about it so far, and
            whether it is the first text of its choice.
        kind: which kind of server the upstream is.
    """

    def __init__(
        self,
        judge: Judge,
        chat: ChatRequest,
        outlet: Callable[[Reported, bool], Outlet],
        *,
        kind: UpstreamKind,
    ) -> None:
        self.judge, self.began = judge, time.perf_counter()
        self._chat, self._outlet, self._kind = chat, outlet, kind
        self._reported, self._prompt_fields = Reported(), dict[str, Any]()
        self._common_fields: Chunk = {"id": "", "created": int(time.time()), "model": chat.model}
        self._usage: Any = None
        self._choices: dict[int, _Choice] = {}

    @property
    def finished(self) -> bool:
        """Whether the upstream has sent a finish reason for every choice."""
        choices = self._choices.values()
        return bool(choices) and all(choice.end.get("finish_reason") for choice in choices)

    async def feed(self, chunk: Mapping[str, Any]) -> AsyncIterator[Chunk]:
        """Take a chunk of the upstream; yield the chunks that can be sent to the client now.

        Raises:
            MalformedError: if the chunk is not of the expected form.
            ServeError: if a text is too long.
        """
        self._common_fields |= pick(chunk, _CHUNK_FIELDS)
        self._usage = chunk.get("usage") or self._usage
        if not self._choices:  # only vLLM's first chunk contains the prompt
            self._reported = reported_by(self._kind, chunk)
            self._prompt_fields = prompt_fields(self._chat, chunk)
        choices = chunk.get("choices") or []
        if not isinstance(choices, list):
            raise MalformedError("a chunk has no list of choices")
        for item in choices:
            async for chunk_for_client in self._feed_choice(item):
                yield chunk_for_client

    async def checked(self) -> AsyncIterator[Chunk]:
        """The text whose check has finished since the last call."""
        for (index, name), outlet in self._outlets():
            if text := await outlet.feed(""):
                yield self._delta(index, {name: text})

    async def rest(self) -> AsyncIterator[Chunk]:
        """The remaining text once the upstream has finished, choice by choice.

        Raises:
            ServeError: if the service is shutting down.
        """
        for _, outlet in self._outlets():
            await outlet.end()
        for (index, name), outlet in self._outlets():
            async for text in outlet.rest():
                yield self._delta(index, {name: text})

    async def settled(self) -> AsyncIterator[Chunk]:
        """The claims that were being checked when the upstream's stream failed."""
        for (index, name), outlet in self._outlets():
            async for text in outlet.settled():
                yield self._delta(index, {name: text})

    def answers(self) -> dict[TextKey, GuardedAnswer]:
        """The checked texts, after :meth:`rest`."""
        answers = ((key, outlet.answer) for key, outlet in self._outlets())
        return {key: answer for key, answer in answers if answer is not None}

    def last(self, report: Mapping[str, Any]) -> Iterator[Chunk]:
        """The finish reason of each choice, the last with the report; then usage, if requested."""
        answers = self.answers()
        ends = [self._end(index, answers) for index in sorted(self._choices)]
        final = ends[-1] if ends else self._chunk([])
        final["franq"] = report
        wants_usage = self._chat.wants_usage
        if self._usage is not None and not wants_usage:
            final["usage"] = self._usage
        yield from ends or [final]
        if self._usage is not None and wants_usage:
            yield {**self._chunk([]), "usage": self._usage}

    def close(self) -> None:
        """Stop all checks."""
        for _, outlet in self._outlets():
            outlet.close()

    async def _feed_choice(self, item: Any) -> AsyncIterator[Chunk]:
        index = item.get("index", 0) if isinstance(item, Mapping) else None
        if not isinstance(index, int) or not 0 <= index < _MAX_CHOICES:
            raise MalformedError("a choice has no number")
        if index not in self._choices and len(self._choices) >= self._chat.choices:
            raise MalformedError("it has more choices than were asked for")
        delta = item.get("delta") or {}
        if not isinstance(delta, Mapping):
            raise MalformedError("a choice has no delta")
        if index not in self._choices:
            self._choices[index] = _Choice()
            first = self._delta(index, {"role": "assistant", "content": ""})
            yield {**first, **self._prompt_fields}
        choice = self._choices[index]
        has_text = any(isinstance(delta.get(name), str) for name in TEXT_FIELDS)
        has_reasoning = any(map(delta.get, REASONING_FIELDS))
        choice.separate_reasoning = choice.separate_reasoning or has_reasoning
        if has_text and not has_reasoning:
            self._keep_tokens(choice, item)
        for name in TEXT_FIELDS:
            piece = text_of(delta.get(name), joined_by="")
            # A delta without text may have tokens, e.g. part of a character or of a stop string.
            tokens = tokens_of(item) if name == "content" and name in delta else []
            if piece or tokens:
                outlet = self._outlet_of(choice, name)
                outlet.reported.written.add(tokens)
                outlet.reported.separate_reasoning = choice.separate_reasoning
                if text := await outlet.feed(piece):
                    yield self._delta(index, {name: text})
        # Some servers send an empty list, or null, with each piece of text.
        if calls := {name: value for name, value in pick(delta, _CALL_FIELDS).items() if value}:
            yield self._delta(index, calls)
        choice.end |= {
            name: value for name, value in pick(item, _END_FIELDS).items() if value is not None
        }

    def _outlet_of(self, choice: _Choice, name: str) -> Outlet:
        if name not in choice.outlets:
            is_first = not choice.outlets
            choice.outlets[name] = self._outlet(self._reported.of_text(), is_first)
        return choice.outlets[name]

    def _keep_tokens(self, choice: _Choice, item: Mapping[str, Any]) -> None:
        """Keep the tokens back: they may be sent only if the policy leaves the text unchanged."""
        ids, logprobs = item.get("token_ids"), item.get("logprobs")
        if self._chat.wants("return_token_ids") and isinstance(ids, list):
            choice.token_ids += ids
        if self._chat.wants_logprobs and isinstance(logprobs, Mapping):
            for name in TEXT_FIELDS:
                if isinstance(entries := logprobs.get(name), list):
                    choice.logprobs.setdefault(name, []).extend(entries)

    def _outlets(self) -> list[tuple[TextKey, Outlet]]:
        return [
            ((index, name), outlet)
            for index, choice in sorted(self._choices.items())
            for name, outlet in choice.outlets.items()
        ]

    def _end(self, index: int, answers: Mapping[TextKey, GuardedAnswer]) -> Chunk:
        choice = self._choices[index]
        ended = {"index": index, "delta": {}, "finish_reason": None, **choice.end}
        if is_unchanged(answers, index):
            tokens = {"logprobs": choice.logprobs, "token_ids": choice.token_ids}
            ended |= {name: value for name, value in tokens.items() if value}
        return self._chunk([ended])

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Chunk:
        return self._chunk([{"index": index, "delta": delta, "finish_reason": None}])

    def _chunk(self, choices: list[Chunk]) -> Chunk:
        return {**self._common_fields, "object": "chat.completion.chunk", "choices": choices}
