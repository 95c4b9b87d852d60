"""``/v1/chat/completions`` in front of a model server, its models, and the reports."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
from fastapi import APIRouter, FastAPI, Request, Response

from franq_guard.serve.checker import Checker
from franq_guard.serve.disconnect import reply_unless_gone
from franq_guard.serve.documents import REQUEST_HEADERS, request_body
from franq_guard.serve.errors import QueueFull, ServeError
from franq_guard.serve.proxy.chunks import Choices
from franq_guard.serve.proxy.documents import (
    CHAT_EXAMPLE,
    CHAT_REPLIES,
    CHAT_SCHEMA,
    MODELS_REPLIES,
    REPORT_PARAMETERS,
    REPORT_REPLIES,
)
from franq_guard.serve.proxy.judge import Judge
from franq_guard.serve.proxy.outlets import Claims, Outlet, Whole
from franq_guard.serve.proxy.reply import completion_of, guarded_reply
from franq_guard.serve.proxy.reported import Reported
from franq_guard.serve.proxy.reports import Report, new_id
from franq_guard.serve.proxy.request import ChatRequest, chat_request
from franq_guard.serve.proxy.responses import EventStream
from franq_guard.serve.proxy.streaming import guarded_events
from franq_guard.serve.proxy.upstream import Upstream, passed_back, read
from franq_guard.serve.proxy.wire import to_json
from franq_guard.serve.security import CHAT_PATH
from franq_guard.serve.settings import ServeSettings
from franq_guard.serve.slots import Slots
from franq_guard.serve.store import Store


def proxy_router(checker: Checker, settings: ServeSettings) -> APIRouter:
    """The proxy in front of ``settings.upstream``.

    Raises:
        ValueError: without an upstream, or if ``settings.stream`` is ``claims`` and the guard
            cannot check an answer claim by claim.
    """
    if settings.upstream is None:
        raise ValueError("the proxy needs settings.upstream")
    proxy = Proxy(checker, settings)
    router = APIRouter(lifespan=proxy.lifespan, tags=["proxy"])
    router.add_api_route(
        CHAT_PATH,
        proxy.chat,
        methods=["POST"],
        responses=CHAT_REPLIES,
        openapi_extra={
            "parameters": REQUEST_HEADERS,
            "requestBody": request_body("application/json", CHAT_SCHEMA, CHAT_EXAMPLE),
        },
    )
    router.add_api_route("/v1/models", proxy.models, methods=["GET"], responses=MODELS_REPLIES)
    router.add_api_route(
        "/v1/reports/{id}",
        proxy.report,
        methods=["GET"],
        responses=REPORT_REPLIES,
        openapi_extra={"parameters": REPORT_PARAMETERS},
    )
    return router


class Proxy:
    """Handles the requests; shared by all routes of the proxy."""

    def __init__(self, checker: Checker, settings: ServeSettings) -> None:
        self._checker, self._settings = checker, settings
        self._judge = Judge(checker, settings)
        self._upstream = Upstream(settings)
        self._streams = Slots(settings.streams)
        self._reports = Store[bytes](
            settings.reports_kept, settings.report_seconds, size=settings.reports_bytes
        )

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Close the connections when the service stops."""
        yield
        await self._upstream.close()

    async def models(self, request: Request) -> Response:
        """The models of the upstream, as it lists them."""
        response = await self._upstream.models(request.headers)
        return await _passed_on(response)

    async def report(self, request: Request) -> Response:
        """The report of a reply of the last minutes."""
        report = self._reports.get(request.path_params["id"])
        if report is None:
            raise ServeError(404, "unknown_report", "there is no such report, or no more")
        return Response(report, media_type="application/json")

    async def chat(self, request: Request) -> Response:
        """A chat completion of the upstream, its text checked against the request's passages."""
        body = await request.body()  # first: a chat with images takes a while to arrive
        chat = await asyncio.to_thread(chat_request, body, request.headers, self._settings)
        if self._checker.waiting >= self._settings.queue:
            raise QueueFull
        async with AsyncExitStack() as cleanup:
            if chat.stream and self._settings.stream == "claims":
                # A model that writes several choices at once needs threads for each of them.
                cleanup.enter_context(self._streams.take(chat.choices))
            work = self._reply(chat, request, cleanup)
            return await reply_unless_gone(request.receive, work)

    async def _reply(
        self, chat: ChatRequest, request: Request, cleanup: AsyncExitStack
    ) -> Response:
        started = time.perf_counter()
        weighed = await self._judge.weighs_likelihoods(chat)
        response = await self._upstream.chat(chat, request.headers, weighed=weighed)
        cleanup.push_async_callback(response.aclose)
        if not response.is_success:
            return await _passed_on(response)
        if chat.stream and not _is_json(response):
            return self._streamed(chat, request, response, cleanup)
        body = await read(response)
        if chat.stream:
            completion_of(body)  # raises if it is an error of the upstream
            message = "the upstream's reply is one JSON object, not the stream that was asked for"
            raise ServeError(502, "upstream_malformed", message)
        seconds = time.perf_counter() - started
        kind = self._settings.upstream_kind
        reply, report = await guarded_reply(self._judge, chat, body, seconds, kind=kind)
        reply["franq"] = self._store(report)
        headers = {**passed_back(response), **report.headers()}
        return Response(to_json(reply), 200, headers, "application/json")

    def _streamed(
        self,
        chat: ChatRequest,
        request: Request,
        response: httpx.Response,
        cleanup: AsyncExitStack,
    ) -> Response:
        """The reply as events; the response closes ``cleanup`` after the last one."""
        id = new_id()

        def outlet(reported: Reported, is_first: bool) -> Outlet:
            # A choice takes the threads of one stream: a refusal beside its content is held back.
            kind = Claims if self._settings.stream == "claims" and is_first else Whole
            return kind(self._judge, chat, reported)

        choices = Choices(self._judge, chat, outlet, kind=self._settings.upstream_kind)
        cleanup.callback(choices.close)
        policy = self._checker.policy(closed=chat.closed)
        events = guarded_events(
            response,
            choices,
            report=lambda answers: self._store(Report(answers, policy, id)),
            on_error=request.app.state.metrics.refused,
        )
        headers = {**passed_back(response), "x-franq-report-id": id}
        return EventStream(events, cleanup.pop_all(), headers)

    def _store(self, report: Report) -> dict[str, Any]:
        """Store the report, so that clients can fetch it, and return it as JSON."""
        fields = report.to_dict()
        for answer in report.answers.values():
            self._checker.sent("chat", answer, report.policy)
        body = to_json(fields)  # as JSON it takes a fraction of the memory
        self._reports.put(report.id, body, size=len(body))
        return fields


def _is_json(response: httpx.Response) -> bool:
    media_type: str = response.headers.get("content-type", "")
    return media_type.startswith("application/json")


async def _passed_on(response: httpx.Response) -> Response:
    """The upstream's reply, unchanged."""
    body = await read(response)
    media_type = response.headers.get("content-type")
    return Response(body, response.status_code, passed_back(response), media_type)
