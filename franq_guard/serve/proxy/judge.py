"""The texts of replies to their verdicts: as a whole through the checker, or claim by claim."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import cast

from franq_guard.capture.server_logprobs import server_generation
from franq_guard.guard import Guard
from franq_guard.language_model.server.tokens import ServerToken
from franq_guard.records import GuardedAnswer, Trace
from franq_guard.serve.checker import Checker
from franq_guard.serve.errors import ServeError
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.settings import ServeSettings
from franq_guard.streaming.stream import ClaimStream, check_streamable
from franq_guard.streaming.worker import NotCheckable

_log = logging.getLogger(__name__)


class Judge:
    """Checks what the upstream wrote.

    Args:
        checker: checks whole texts, together with those of other requests.
        settings: limits; ``on_error``.

    Raises:
        ValueError: where streams are to leave claim by claim and the guard cannot do that.
    """

    def __init__(self, checker: Checker, settings: ServeSettings) -> None:
        self.checker, self._settings = checker, settings
        if settings.stream == "claims":
            check_streamable(cast("Guard", checker.guard))

    async def whole(
        self, chat: ChatRequest, text: str, told: Sequence[ServerToken]
    ) -> GuardedAnswer:
        """The checked text; without passages it is unverified, reason ``no_evidence``.

        Raises:
            ServeError: if it is too long, or too many answers wait.
        """
        self.limit(text)
        if not chat.passages:
            trace = _trace(chat, text, (), None)
            return await self.checker.unverified(trace, "no_evidence", closed=chat.closed)
        prompt = await asyncio.to_thread(chat.prompt, self._guard(chat))
        trace = _trace(chat, text, told, prompt)
        return await self.checker.check(trace, deadline=chat.deadline, closed=chat.closed)

    def stream(self, chat: ChatRequest, told: Sequence[ServerToken], id: str) -> ClaimStream:
        """A text that is still being written; ``told`` grows with it."""
        guard = self._guard(chat)
        prompt = cache(lambda: chat.prompt(guard))

        def lookup(text: str) -> tuple[Guard, Trace]:
            if not chat.passages:
                raise NotCheckable("no_evidence")
            return guard, _trace(chat, text, tuple(told), prompt(), id)

        return ClaimStream(guard, lookup, id=id)

    def limit(self, text: str) -> None:
        """Refuse a text that is too long to be checked.

        Raises:
            ServeError: see above.
        """
        if len(text) > self._settings.max_answer_chars:
            most = self._settings.max_answer_chars
            raise ServeError(
                413, "answer_too_long", f"the upstream's answer has more than {most} characters"
            )

    def tell(self, answer: GuardedAnswer, seconds: float) -> None:
        """Tell the checker's listeners of an answer that was checked beside it."""
        for listener in self.checker.on_checked:
            try:
                listener(answer, seconds)
            except Exception:  # an observer must not break what it observes
                _log.warning("a listener failed", exc_info=True)

    def _guard(self, chat: ChatRequest) -> Guard:
        """The guard with this request's deadline and ``on_error``, sharing its models."""
        guard = copy(cast("Guard", self.checker.guard))
        guard.policy = self.checker.policy(closed=chat.closed)
        limits = (guard.deadline, self._settings.deadline, chat.deadline)
        guard.deadline = min((known for known in limits if known is not None), default=None)
        return guard


def _trace(
    chat: ChatRequest,
    text: str,
    told: Sequence[ServerToken],
    prompt: str | None,
    id: str | None = None,
) -> Trace:
    return Trace(chat.question, chat.passages, server_generation(text, prompt, told), id=id)
