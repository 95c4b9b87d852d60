"""``POST /v1/check`` and ``POST /v1/check/batch``: check answers and return their verdicts."""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from franq_guard.basics.deadline import until
from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Trace
from franq_guard.rows.lines import RowError
from franq_guard.rows.traces import row_id
from franq_guard.serve.checker import Checker
from franq_guard.serve.disconnect import reply_unless_gone
from franq_guard.serve.documents import (
    ANSWER_EXAMPLE,
    ANSWER_HEADERS,
    ANSWER_SCHEMA,
    REQUEST_HEADERS,
    TRACE_EXAMPLE,
    TRACE_SCHEMA,
    described_reply,
    refusals,
    request_body,
)
from franq_guard.serve.errors import ServeError
from franq_guard.serve.reading import (
    answer_headers,
    closed_of,
    deadline_of,
    json_line,
    json_reply,
    object_of,
    trace_of_row,
)
from franq_guard.serve.security import BATCH_PATH, CHECK_PATH
from franq_guard.serve.settings import Route, ServeSettings

JSON_LINES = "application/x-ndjson"
_LINE_WITH_TEXT = re.compile(rb"\S[^\n]*")

_log = logging.getLogger(__name__)


def checks_router(checker: Checker, settings: ServeSettings) -> APIRouter:
    """The routes for one answer and for a batch."""
    router = APIRouter(tags=["checks"])
    checks = _Checks(checker, settings)

    @router.post(
        CHECK_PATH,
        responses={
            200: described_reply(ANSWER_SCHEMA, ANSWER_EXAMPLE, headers=ANSWER_HEADERS),
            **refusals(401, 403, 408, 413, 415, 422, 503),
        },
        openapi_extra={
            "parameters": REQUEST_HEADERS,
            "requestBody": request_body("application/json", TRACE_SCHEMA, TRACE_EXAMPLE),
        },
    )
    async def check(request: Request) -> Response:
        """One answer."""
        return await checks.one(request)

    @router.post(
        BATCH_PATH,
        response_class=StreamingResponse,
        responses={
            200: {
                "description": "franq.answer/1, or franq.error/1 for a line that cannot be "
                "checked: a line each, in the order of the request, as they are done.",
                "content": {JSON_LINES: {"schema": {"type": "string"}}},
            },
            **refusals(401, 403, 408, 413, 415, 422, 503),
        },
        openapi_extra={
            "parameters": REQUEST_HEADERS,
            "requestBody": request_body(JSON_LINES, {"type": "string"}, json_line(TRACE_EXAMPLE)),
        },
    )
    async def batch(request: Request) -> Response:
        """Many answers, as JSON Lines of what ``/v1/check`` takes."""
        return await checks.many(request)

    return router


@dataclass(frozen=True, slots=True)
class _Row:
    """An answer to check, as its request asks for it.

    ``began``: when its deadline began, on the clock of ``time.perf_counter()``.
    """

    trace: Trace
    began: float
    deadline: float | None
    closed: bool


class _Checks:
    """Handles the requests of both routes."""

    def __init__(self, checker: Checker, settings: ServeSettings) -> None:
        self.checker, self.settings = checker, settings

    async def one(self, request: Request) -> Response:
        body = await request.body()
        arrived = time.perf_counter()
        return await reply_unless_gone(request.receive, self._one(body, request, arrived))

    async def _one(self, body: bytes, request: Request, arrived: float) -> Response:
        # In a thread: locating given claims in the answer is slow and would block other requests.
        row = await asyncio.to_thread(self._read, body, request, "check", arrived)
        answer, policy = await self._checked(row, "check")
        return json_reply(answer.to_dict(), headers=answer_headers(answer.status, [answer], policy))

    async def many(self, request: Request) -> Response:
        self._options(request, {}, "batch")  # invalid headers fail here, once for the whole batch
        lines = await request.body()
        return StreamingResponse(self._outcomes(lines, request), media_type=JSON_LINES)

    async def _outcomes(self, lines: bytes, request: Request) -> AsyncIterator[str]:
        """The result lines, in order; enough are checked at a time to fill every round."""
        tasks: deque[asyncio.Task[str]] = deque()
        try:
            for number, line in _numbered(lines):
                tasks.append(asyncio.create_task(self._line(number, line, request)))
                if len(tasks) >= 2 * self.settings.batch_size:
                    yield await tasks.popleft()
            while tasks:
                yield await tasks.popleft()
        finally:  # the client may have disconnected
            for task in tasks:
                task.cancel()

    async def _line(self, number: int, line: bytes, request: Request) -> str:
        try:
            if len(line) > self.settings.max_body_bytes:
                raise ServeError(
                    413,
                    "too_large",
                    f"the line is larger than {self.settings.max_body_bytes} bytes",
                )
            row = await asyncio.to_thread(self._read, line, request, "batch")
            read = time.perf_counter()
            await self.checker.room()
            waited = time.perf_counter() - read  # not counted in its deadline
            answer, _ = await self._checked(replace(row, began=row.began + waited), "batch")
            return json_line(answer.to_dict())
        except ServeError as error:
            return json_line(RowError(number, error.message, _id_of(line)).to_dict())
        except Exception as error:
            _log.error("line %d of a batch failed: %s", number, type(error).__name__)
            return json_line(RowError(number, "the check failed", _id_of(line)).to_dict())

    async def _checked(self, row: _Row, route: Route) -> tuple[GuardedAnswer, Policy]:
        """The checked answer and the policy that applied."""
        policy = self.checker.policy(closed=row.closed)
        answer = await self.checker.check(
            row.trace, deadline=row.deadline, began=row.began, closed=row.closed
        )
        self.checker.sent(route, answer, policy)
        return answer, policy

    def _read(
        self, body: bytes, request: Request, route: Route, began: float | None = None
    ) -> _Row:
        """The answer to check; its given claims are located in it until its deadline passes.

        ``began``: when the deadline began; None: now.
        """
        began = time.perf_counter() if began is None else began
        fields = object_of(body)
        requested, closed = self._options(request, fields, route)
        deadline = self.checker.deadline(requested)
        with until(math.inf if deadline is None else began + deadline):
            trace = trace_of_row(fields, self.settings)
        return _Row(trace, began, deadline, closed)

    def _options(
        self, request: Request, row: dict[str, object], route: Route
    ) -> tuple[float | None, bool]:
        """The deadline that a request asks for, and whether unchecked claims count as weak."""
        headers = request.headers
        return (
            deadline_of(headers.get("x-franq-deadline"), row.get("deadline")),
            closed_of(self.settings, route, headers.get("x-franq-on-error"), row.get("on_error")),
        )


def _numbered(lines: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their line numbers; blank lines count.

    Blank lines are passed over in one go: a body of nothing else holds millions of them.
    """
    start, number = 0, 1
    for match in _LINE_WITH_TEXT.finditer(lines):
        number += lines.count(b"\n", start, match.start())
        start = match.start()
        yield number, match[0].rstrip()


def _id_of(line: bytes) -> str | None:
    with suppress(ServeError, ValueError):
        return row_id(object_of(line))
    return None
