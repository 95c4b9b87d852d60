"""The service as an ASGI application: routers, security middleware, startup and shutdown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from franq_guard import __version__
from franq_guard.serve.checker import Checker, Checks
from franq_guard.serve.checks import checks_router
from franq_guard.serve.errors import ServeError, error_body
from franq_guard.serve.health import health_router
from franq_guard.serve.litellm import litellm_router
from franq_guard.serve.metrics import Metrics
from franq_guard.serve.proxy import proxy_router
from franq_guard.serve.security import SecurityMiddleware, with_tokens
from franq_guard.serve.settings import ServeSettings

_log = logging.getLogger(__name__)

_RETRY_SECONDS = 5.0
_NO_ROUTE = (
    "there is no such route: /openapi.json lists those of this service. Of a model's routes it has "
    "/v1/chat/completions and /v1/models, if it stands in front of one (--upstream)"
)


class _Service(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The description of the API; it names the headers for a token, if one is required."""
        schema = super().openapi()
        return with_tokens(schema) if self.state.settings.tokens else schema


def create_app(guard: Checks, settings: ServeSettings | None = None) -> FastAPI:
    """Build the service around ``guard``.

    Its checker is ``app.state.checker``. The models are loaded in the background after startup.

    Args:
        guard: a :class:`~franq_guard.Guard`. Set the deadline in ``settings``, not in the guard:
            a guard with a deadline checks every answer alone, which is slower.
        settings: limits, tokens, upstream; default: no token required, no upstream.
    """
    settings = settings or ServeSettings()
    checker = Checker(guard, settings)
    app = _Service(
        title="franq_guard",
        summary="Tells true from false in RAG answers, claim by claim.",
        version=__version__,
        lifespan=_lifespan,
        redirect_slashes=False,  # redirects go to the host that a request names, and lose https
        docs_url=None,  # FastAPI's pages of documentation load scripts from another host
        redoc_url=None,
    )
    metrics = Metrics(checker)
    app.state.checker, app.state.settings, app.state.metrics = checker, settings, metrics
    for router in _routers(checker, settings, metrics):
        app.include_router(router)
    app.add_exception_handler(ServeError, _serve_error_reply)
    app.add_exception_handler(HTTPException, _http_error_reply)
    app.add_middleware(SecurityMiddleware, settings=settings, on_error=metrics.refused)
    return app


def _routers(checker: Checker, settings: ServeSettings, metrics: Metrics) -> Iterator[APIRouter]:
    yield health_router(checker, metrics)
    yield checks_router(checker, settings)
    yield litellm_router(checker, settings)
    if settings.upstream is not None:
        yield proxy_router(checker, settings)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    checker: Checker = app.state.checker
    loading = asyncio.create_task(_load(checker))
    try:
        yield
    finally:
        loading.cancel()
        await asyncio.wait([loading])
        await checker.drain()


async def _load(checker: Checker) -> None:
    """Load the models, retrying until it succeeds.

    A model file may be mounted late, or a model server started after this service.
    """
    while not checker.ready:
        try:
            await checker.load()
        except Exception as error:
            _log.error("the models cannot be loaded: %s: %s", type(error).__name__, error)
            await asyncio.sleep(_RETRY_SECONDS)


async def _serve_error_reply(request: Request, error: Exception) -> JSONResponse:
    refusal = cast("ServeError", error)
    request.app.state.metrics.refused(refusal.code)
    return JSONResponse(refusal.to_dict(), refusal.status, refusal.headers)


async def _http_error_reply(request: Request, error: Exception) -> JSONResponse:
    http_error = cast("HTTPException", error)
    codes = {404: "not_found", 405: "method_not_allowed"}
    code = codes.get(http_error.status_code, "bad_request")
    request.app.state.metrics.refused(code)
    body = error_body(code, _NO_ROUTE if code == "not_found" else str(http_error.detail))
    return JSONResponse(body, http_error.status_code, http_error.headers)
