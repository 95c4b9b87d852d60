"""Checks the texts of replies: whole texts through the checker, streams claim by claim."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache
from typing import cast

from franq_guard.calibration.defaults import for_writer
from franq_guard.guard import Guard
from franq_guard.records import Generation, GuardedAnswer, Trace
from franq_guard.serve.checker import Checker
from franq_guard.serve.errors import ServeError
from franq_guard.serve.passages import why_unchecked
from franq_guard.serve.proxy.reported import Reported, writer_of
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.settings import ServeSettings
from franq_guard.streaming.stream import ClaimStream, check_streamable
from franq_guard.streaming.worker import NotCheckable


class Judge:
    """Checks what the upstream wrote.

    Args:
        checker: checks whole texts, together with those of other requests.
        settings: limits and ``on_error``.

    Raises:
        ValueError: if streams are to be sent claim by claim and the guard cannot do that.
    """

    def __init__(self, checker: Checker, settings: ServeSettings) -> None:
        self.checker, self._settings = checker, settings
        if settings.stream == "claims":
            check_streamable(cast("Guard", checker.guard))

    async def whole(self, chat: ChatRequest, text: str, reported: Reported) -> GuardedAnswer:
        """Check a whole text; without passages or a question its claims are unverified.

        Raises:
            ServeError: if it is too long, or the service is shutting down.
        """
        began = time.perf_counter()
        self.limit(text)
        if reason := why_unchecked(chat.question, chat.passages):
            trace = Trace(chat.question, chat.passages, Generation(text), id=reported.id)
            return await self.checker.unverified(trace, reason, closed=chat.closed)
        trace = await asyncio.to_thread(_trace, self._guard(chat), chat, text, reported)
        return await self.checker.check(
            trace, deadline=chat.deadline, began=began, closed=chat.closed, admitted=True
        )

    def stream(self, chat: ChatRequest, reported: Reported) -> ClaimStream:
        """Start checking a text that is still being written; ``reported`` is updated meanwhile."""
        guard = self._guard(chat)
        prompt = cache(lambda: _prompt(guard, chat, reported))

        def lookup(text: str) -> tuple[Guard, Trace]:
            if reason := why_unchecked(chat.question, chat.passages):
                raise NotCheckable(reason)
            return guard, _trace(guard, chat, text, reported, prompt)

        return ClaimStream(guard, lookup, id=reported.id, thinks=lambda _: reported.thinks_first)

    async def weighs_likelihoods(self, chat: ChatRequest) -> bool:
        """Whether log-probabilities can decide on the answer, so that they are worth asking for.

        They can with a calibrator or methods that were given, and with a calibrator that is known
        for the upstream's model.
        """
        choice = cast("Guard", self.checker.guard).choice
        if choice.franq is not None:
            return not choice.franq.evidence_only
        writer = writer_of(self._settings.upstream_kind, chat.model)
        if choice.named or writer is None:
            return choice.named
        try:
            # In a thread, because it loads the faithfulness model.
            calibrators = await asyncio.to_thread(lambda: choice.known)
        except Exception:  # the check will fail for the same reason, and report it
            return False
        fitting = for_writer(calibrators, "server", writer)
        return any(not calibrator.evidence_only for calibrator in fitting)

    def limit(self, text: str) -> None:
        """Refuse a text that is too long to be checked.

        Raises:
            ServeError: 413, if it is too long.
        """
        if len(text) > self._settings.max_answer_chars:
            limit = self._settings.max_answer_chars
            raise ServeError(
                413, "answer_too_long", f"the upstream's answer has more than {limit} characters"
            )

    def _guard(self, chat: ChatRequest) -> Guard:
        """The guard with this request's deadline and ``on_error``, sharing its models."""
        guard = copy(cast("Guard", self.checker.guard))
        guard.policy = self.checker.policy(closed=chat.closed)
        limits = (guard.deadline, self._settings.deadline, chat.deadline)
        guard.deadline = min((seconds for seconds in limits if seconds is not None), default=None)
        return guard


def _trace(
    guard: Guard,
    chat: ChatRequest,
    text: str,
    reported: Reported,
    prompt: Callable[[], str | None] | None = None,
) -> Trace:
    """The trace of ``text``; with a prompt only if a language model will score the text."""
    generation = reported.generation(text, ids=_reads_ids(guard, reported))
    if guard.choice.reads(generation):
        rendered = prompt() if prompt else _prompt(guard, chat, reported)
        generation = replace(generation, prompt=rendered)
    return Trace(chat.question, chat.passages, generation, id=reported.id)


def _prompt(guard: Guard, chat: ChatRequest, reported: Reported) -> str | None:
    """The prompt its model saw, if the upstream reported it; else the guard's prompt for it."""
    return reported.prompt if reported.holds(chat.passages) else chat.prompt(guard)


def _reads_ids(guard: Guard, reported: Reported) -> bool:
    """Whether the guard's language model wrote the text; only then can it use the token ids."""
    model = guard.loaded_language_model
    return model is not None and reported.writer == model.fingerprint
