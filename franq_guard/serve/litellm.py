"""LiteLLM's generic guardrail protocol: ``POST /beta/litellm_basic_guardrail_api``.

The gateway calls twice for each completion (``mode: [pre_call, post_call]``): with the request,
which contains the messages, and with the response, which contains the texts the model wrote but not
the messages. So the passages of a request are stored by ``litellm_call_id`` until its response.

For a stream the gateway calls repeatedly, each time with the whole text so far
(``streaming_transform_mode: incremental_diff``). It sends the checked text to its client except for
the last ``stream_holdback_chars`` characters, and all of it at the end. It does not say which call
is the last.

As of October 2026 (LiteLLM 1.104); https://docs.litellm.ai/docs/adding_provider/generic_guardrail_api.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from franq_guard.policy import Policy
from franq_guard.records import Generation, GuardedAnswer, Passage, Trace
from franq_guard.serve.checker import Checker
from franq_guard.serve.disconnect import reply_unless_gone, together
from franq_guard.serve.documents import described_reply, refusals, request_body
from franq_guard.serve.gateway_documents import (
    REPLY_EXAMPLE,
    REPLY_SCHEMA,
    REQUEST_EXAMPLE,
    REQUEST_SCHEMA,
)
from franq_guard.serve.growing import Settled, holdback, settle, with_settled
from franq_guard.serve.passages import (
    EXTENSION,
    extension_in,
    passages_in,
    question_of,
    why_unchecked,
)
from franq_guard.serve.reading import (
    bad_request,
    check_extension,
    check_length,
    check_size,
    closed_of,
    deadline_of,
    json_reply,
    object_of,
    size_of,
)
from franq_guard.serve.security import GATEWAY_PATH
from franq_guard.serve.settings import ServeSettings
from franq_guard.serve.store import Store


def litellm_router(checker: Checker, settings: ServeSettings) -> APIRouter:
    """The route of the guardrail API."""
    router = APIRouter(tags=["gateways"])
    gateway = Gateway(checker, settings)

    @router.post(
        GATEWAY_PATH,
        responses={
            200: described_reply(REPLY_SCHEMA, REPLY_EXAMPLE),
            **refusals(401, 403, 408, 413, 415, 422, 503),
        },
        openapi_extra={
            "requestBody": request_body("application/json", REQUEST_SCHEMA, REQUEST_EXAMPLE)
        },
    )
    async def guardrail(request: Request) -> Response:
        """LiteLLM's generic guardrail API."""
        body = await request.body()
        reply = _reply(gateway, body, time.perf_counter())
        return await reply_unless_gone(request.receive, reply)

    return router


async def _reply(gateway: Gateway, body: bytes, arrived: float) -> Response:
    row = await asyncio.to_thread(object_of, body)
    return json_reply(await gateway.reply(row, arrived))


@dataclass(frozen=True, slots=True)
class Context:
    """Question and passages of a request, which its answer is checked against."""

    question: str = ""
    passages: tuple[Passage, ...] = ()

    @property
    def size(self) -> int:
        """Number of characters."""
        return len(self.question) + size_of(self.passages)


@dataclass(frozen=True, slots=True)
class _Options:
    """How a call asks for its texts to be checked; see :meth:`.Checker.check`."""

    began: float | None
    deadline: float | None
    closed: bool


class Gateway:
    """Handles the gateway's calls for requests and responses.

    Attributes:
        contexts: question and passages of recent requests, by call id.
        settled: the settled text of recent streams and what it was checked against, by call id
            and number of the text. Clients may choose their call ids and use one again, with
            other passages: verdicts of the earlier call then say nothing.
    """

    def __init__(self, checker: Checker, settings: ServeSettings) -> None:
        self.checker, self.settings = checker, settings
        count, seconds, size = (
            settings.messages_kept,
            settings.messages_seconds,
            settings.messages_chars,
        )
        self.contexts: Store[Context] = Store(count, seconds, size=size)
        self.settled: Store[tuple[Context, Settled]] = Store(count, seconds, size=size)

    async def reply(self, row: Mapping[str, Any], arrived: float | None = None) -> dict[str, Any]:
        """The reply to one call of the gateway.

        Args:
            row: the body of the call.
            arrived: when it had arrived, on the clock of ``time.perf_counter()``; None: now.

        Raises:
            ServeError: if the request is invalid or too large, or the queue is full.
        """
        input_type, call_id = row.get("input_type"), row.get("litellm_call_id")
        if input_type not in ("request", "response"):
            raise bad_request("'input_type' must be 'request' or 'response'")
        if call_id is not None and not isinstance(call_id, str):
            raise bad_request("'litellm_call_id' must be a string or null")
        texts = row.get("texts")
        if texts is not None and not _are_texts(texts):
            raise bad_request("'texts' must be a list of strings or null")
        for fields in (_parameters(row), _request(row)):
            check_extension(fields.get(EXTENSION))
        options = self._options(row, arrived)
        context = await asyncio.to_thread(_context_in, row)
        if input_type == "request":
            self._store(call_id, context)
            return {"action": "NONE"}
        return await self._response(
            texts or [], self._with_stored(call_id, context), call_id, options
        )

    def _store(self, call_id: str | None, context: Context) -> None:
        self._check_limits(context)
        if call_id:
            size = context.size + len(call_id)  # which the client may choose
            self.contexts.put(call_id, context, size=size)

    def _check_limits(self, context: Context, *texts: str) -> None:
        check_length(self.settings, "question", context.question)
        for text in texts or ("",):
            check_size(self.settings, context.passages, text)

    def _with_stored(self, call_id: str | None, context: Context) -> Context:
        """Question and passages; those in the response take precedence over its request's."""
        stored = (self.contexts.get(call_id) if call_id else None) or Context()
        return Context(context.question or stored.question, context.passages or stored.passages)

    def _options(self, row: Mapping[str, Any], arrived: float | None) -> _Options:
        of_guardrail, of_request = extension_in(_parameters(row)), extension_in(_request(row))
        return _Options(
            arrived,
            deadline_of(of_guardrail.get("deadline"), of_request.get("deadline")),
            closed_of(
                self.settings, "litellm", of_guardrail.get("on_error"), of_request.get("on_error")
            ),
        )

    async def _response(
        self, texts: list[str], context: Context, call_id: str | None, options: _Options
    ) -> dict[str, Any]:
        self._check_limits(context, *texts)
        checked = await together(
            self._checked(text, context, f"{call_id}:{i}" if call_id else None, options)
            for i, text in enumerate(texts)
        )
        policy = self.checker.policy(closed=options.closed)
        if policy.action == "block":
            weak = [v for answer, _ in checked for v in answer.verdicts if policy.is_weak(v)]
            if weak:
                total = sum(len(answer.verdicts) for answer, _ in checked)
                return {"action": "BLOCKED", "blocked_reason": _reason(weak, total)}
        changed = any(answer.text != answer.original for answer, _ in checked)
        return {
            "action": "GUARDRAIL_INTERVENED" if changed else "NONE",
            **({"texts": [answer.text for answer, _ in checked]} if changed else {}),
            "stream_holdback_chars": [holdback_chars for _, holdback_chars in checked],
        }

    async def _checked(
        self, text: str, context: Context, key: str | None, options: _Options
    ) -> tuple[GuardedAnswer, int]:
        """The checked text, and how much of its end may still change."""
        if not text.strip():  # e.g. a tool call: there is no text to check
            return GuardedAnswer(text, text, (), "unverified"), 0
        trace = Trace(context.question, context.passages, Generation(text), id=key)
        closed = options.closed
        if reason := why_unchecked(context.question, context.passages):
            answer = await self.checker.unverified(trace, reason, closed=closed)
        else:
            answer = await self.checker.check(
                trace, deadline=options.deadline, began=options.began, closed=closed
            )
        policy = self.checker.policy(closed=closed)
        settled_for, previous = (self.settled.get(key) if key else None) or (context, None)
        answer, settled, holdback_chars = await asyncio.to_thread(
            _settled_answer,
            getattr(self.checker.guard, "claims", None),
            answer,
            previous if settled_for == context else None,
            policy,
        )
        self.checker.sent("litellm", answer, policy)
        if key:
            size = len(settled.text) + context.size + len(key)
            self.settled.put(key, (context, settled), size=size)
        return answer, holdback_chars


def _settled_answer(
    splitter: object, answer: GuardedAnswer, previous: Settled | None, policy: Policy
) -> tuple[GuardedAnswer, Settled, int]:
    settled = settle(splitter, answer, previous)
    restored = with_settled(answer, settled, policy)
    return restored, settled, holdback(restored, settled, policy)


def _context_in(row: Mapping[str, Any]) -> Context:
    """Passages and question, from our extension in the parameters or from the messages."""
    parameters, request = _parameters(row), _request(row)
    chat_request = {
        EXTENSION: extension_in(parameters) or extension_in(request),
        "documents": parameters.get("documents") or request.get("documents"),
        "messages": row.get("structured_messages") or _prompts(row),
    }
    return Context(question_of(chat_request), passages_in(chat_request))


def _prompts(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The prompt of a completion request, which has no messages, as one user message."""
    texts = row.get("texts") if row.get("input_type") == "request" else None
    return [{"role": "user", "content": "\n".join(texts)}] if texts else []


def _parameters(row: Mapping[str, Any]) -> Mapping[str, Any]:
    parameters = row.get("additional_provider_specific_params")
    return parameters if isinstance(parameters, Mapping) else {}


def _request(row: Mapping[str, Any]) -> Mapping[str, Any]:
    request = row.get("request_data")
    return request if isinstance(request, Mapping) else {}


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _reason(weak: list[Any], total: int) -> str:
    """Why the answer was blocked; only labels and counts, because the gateway logs this."""
    counts = Counter(verdict.label for verdict in weak)
    labels = ", ".join(f"{count} {label}" for label, count in sorted(counts.items()))
    return f"franq: {len(weak)} of {total} claims: {labels}"
