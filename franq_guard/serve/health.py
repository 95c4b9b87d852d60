"""Routes for operators: is the service running, are its models loaded, and its metrics."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from franq_guard.serve.checker import Checker
from franq_guard.serve.documents import STATUS_SCHEMA, described_reply, refusals
from franq_guard.serve.metrics import CONTENT_TYPE, Metrics


def health_router(checker: Checker, metrics: Metrics) -> APIRouter:
    """``/healthz``, ``/readyz`` and ``/metrics``."""
    router = APIRouter(tags=["operation"])

    @router.get("/healthz", responses={200: described_reply(STATUS_SCHEMA, {"status": "ok"})})
    async def healthz() -> Response:
        """200 as long as the service runs."""
        return JSONResponse({"status": "ok"})

    @router.get(
        "/readyz",
        responses={
            200: described_reply(STATUS_SCHEMA, {"status": "ready"}),
            503: described_reply(STATUS_SCHEMA, {"status": "loading"}),
        },
    )
    async def readyz() -> Response:
        """200 once the models are loaded; a check that comes earlier waits for them."""
        if checker.ready:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "loading"}, 503)

    @router.get(
        "/metrics",
        response_class=Response,
        responses={
            200: {"description": "Prometheus text.", "content": {"text/plain": {"schema": {}}}},
            **refusals(401),
        },
    )
    async def prometheus() -> Response:
        """Counters and histograms in Prometheus's text format."""
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    for path, endpoint in (("/healthz", healthz), ("/readyz", readyz)):
        # Some probes (`wget --spider`, uptime monitors) send HEAD.
        router.add_api_route(path, endpoint, methods=["HEAD"], include_in_schema=False)
    return router
