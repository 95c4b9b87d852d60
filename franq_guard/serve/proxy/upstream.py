"""The client of the model server behind the proxy; a request cannot choose another host."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

from franq_guard.serve.errors import QueueFull, ServeError
from franq_guard.serve.proxy.reported import added_fields
from franq_guard.serve.proxy.request import ChatRequest
from franq_guard.serve.settings import ServeSettings

_log = logging.getLogger(__name__)

_PASSED_ON = ("openai-organization", "openai-project", "x-request-id", "traceparent", "tracestate")
_PASSED_BACK = (
    "x-request-id",
    "openai-processing-ms",
    "openai-version",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
)
"""Headers that clients read; those of OpenAI decide by the last three when to try again."""
_MAX_BODY_BYTES = 64 * 1024 * 1024
_MAX_REFUSED = 256
_CONNECT = 5.0
"""Seconds to connect, so that a missing server is noticed soon."""

_Shape = tuple[str, bool, bool]
"""The model of a request, whether it is to be streamed, and whether it brings tools."""


class UpstreamError(ServeError):
    """An error that the upstream sent with status 200, or in the middle of a stream.

    Args:
        error: the upstream's error object, passed on to the client as it is.
    """

    def __init__(self, error: Any) -> None:
        super().__init__(502, "upstream_error", "the upstream reported an error")
        self.error = error

    def to_dict(self) -> dict[str, Any]:
        """The body of the reply, or the event."""
        return {"error": self.error}


class Upstream:
    """An HTTP client; it follows no redirects and ignores proxy settings in the environment.

    It keeps no cookies: those of one client's reply would be sent with all other clients' requests.
    It sends ``settings.upstream_key`` if set; else the client's own ``Authorization`` header,
    unless that holds one of our tokens, which must not reach another server.
    """

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._base = base_url(settings.upstream or "")
        self._client: httpx.AsyncClient | None = None
        self._refused: dict[_Shape, None] = {}

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def models(self, headers: Mapping[str, str]) -> httpx.Response:
        """The upstream's list of models; the caller reads and closes the response.

        Raises:
            ServeError: if it cannot be reached.
        """
        return await self._send("GET", "models", headers)

    async def chat(
        self, chat: ChatRequest, headers: Mapping[str, str], *, weighed: bool
    ) -> httpx.Response:
        """The reply to ``chat``, with more fields for the guard to use; the caller closes it.

        If the server refuses an added field, with any error status, it is asked again without
        any. If that succeeds, nothing is added to later requests of this shape: some servers have
        no log-probabilities in streams with tools, but have them elsewhere.

        Args:
            chat: the request.
            headers: those of the client.
            weighed: whether log-probabilities can decide on the answer.

        Raises:
            ServeError: if the upstream cannot be reached.
        """
        shape = _shape(chat)
        added = [] if shape in self._refused else self._added(chat, weighed)
        response = await self._chat(chat, headers, added)
        if added and response.is_error:
            refusal = await read(response)
            if not any(name.encode() in refusal.lower() for name in added):
                return _with_body(response, refusal)
            response = await self._chat(chat, headers)
            if response.status_code == httpx.codes.OK:
                self._remember(shape)
        return response

    def _added(self, chat: ChatRequest, weighed: bool) -> list[str]:
        """The fields to add to the client's request."""
        if not self._settings.ask_logprobs:
            return []
        wanted = added_fields(self._settings.upstream_kind, weighed=weighed)
        return [name for name in wanted if not chat.body.get(name)]

    async def _chat(
        self, chat: ChatRequest, headers: Mapping[str, str], added: Sequence[str] = ()
    ) -> httpx.Response:
        payload = await asyncio.to_thread(chat.payload, added)
        return await self._send("POST", "chat/completions", headers, payload)

    def _remember(self, shape: _Shape) -> None:
        self._refused[shape] = None
        while len(self._refused) > _MAX_REFUSED:
            del self._refused[next(iter(self._refused))]

    async def _send(
        self, method: str, path: str, headers: Mapping[str, str], payload: bytes | None = None
    ) -> httpx.Response:
        client = self._client = self._client or self._new_client()
        request = client.build_request(
            method, f"{self._base}/{path}", headers=self._headers(headers), content=payload
        )
        try:
            response = await client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise failure(error) from error
        if response.has_redirect_location:
            await response.aclose()
            raise ServeError(
                502,
                "upstream_redirects",
                "the upstream redirects to another address, which is not followed: start the "
                "service with that address as its --upstream",
            )
        return response

    def _new_client(self) -> httpx.AsyncClient:
        seconds = self._settings.upstream_seconds
        return httpx.AsyncClient(
            limits=httpx.Limits(
                max_connections=self._settings.queue + 16,  # plus requests for the list of models
                max_keepalive_connections=64,
            ),
            # SSL_CERT_FILE names the authorities to trust; without TLS it need not exist.
            verify=httpx.create_ssl_context(trust_env=httpx.URL(self._base).scheme == "https"),
            timeout=httpx.Timeout(
                seconds, connect=min(_CONNECT, seconds), pool=min(_CONNECT, seconds)
            ),
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            trust_env=False,
        )

    def _headers(self, client_headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
        headers = {name: client_headers[name] for name in _PASSED_ON if name in client_headers}
        headers |= {"content-type": "application/json", "accept-encoding": "identity"}
        authorization = client_headers.get("authorization")
        if self._settings.upstream_key is not None:
            headers["authorization"] = f"Bearer {self._settings.upstream_key}"
        elif authorization is not None and not self._has_our_token(authorization):
            headers["authorization"] = authorization
        # As bytes, because headers need not be ASCII, and httpx takes only ASCII strings.
        return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]

    def _has_our_token(self, authorization: str) -> bool:
        return any(word in self._settings.tokens for word in authorization.split())


def _shape(chat: ChatRequest) -> _Shape:
    return chat.model, chat.stream, bool(chat.body.get("tools") or chat.body.get("functions"))


async def read(response: httpx.Response) -> bytes:
    """The whole body; the response is closed.

    Raises:
        ServeError: if the connection fails, or the body exceeds 64 MiB.
    """
    body = bytearray()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _MAX_BODY_BYTES:
                raise ServeError(502, "upstream_too_large", "the upstream's reply is too large")
    except httpx.HTTPError as error:
        raise failure(error) from error
    finally:
        await response.aclose()
    return bytes(body)


def _with_body(response: httpx.Response, body: bytes) -> httpx.Response:
    """A copy of the response with the given body, so that it can be read again."""
    encoding_headers = (b"content-encoding", b"content-length", b"transfer-encoding")
    headers = [
        (name, value)
        for name, value in response.headers.raw
        if name.lower() not in encoding_headers
    ]
    return httpx.Response(response.status_code, headers=headers, content=body)


def passed_back(response: httpx.Response) -> dict[str, str]:
    """The headers of an upstream's reply that are passed on to the client."""
    # Decoded as they were encoded: an upstream may repeat an ``x-request-id`` that is not ASCII.
    headers = httpx.Headers(response.headers.raw, encoding="latin-1").items()
    return {
        name: value
        for name, value in headers
        if name in _PASSED_BACK or name.startswith("x-ratelimit-")
    }


def failure(error: httpx.HTTPError) -> ServeError:
    """The error reported to the client if the upstream fails; it does not reveal the address."""
    kind = type(error).__name__
    if isinstance(error, httpx.PoolTimeout):
        return QueueFull()
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
        # Nothing was sent yet, so its message has no text of a request.
        _log.warning("the upstream cannot be reached: %s: %s", kind, error)
        return ServeError(502, "upstream_unreachable", f"the upstream cannot be reached ({kind})")
    if isinstance(error, httpx.TimeoutException):
        return ServeError(504, "upstream_timeout", f"the upstream was silent too long ({kind})")
    return ServeError(502, "upstream_failed", f"the upstream's reply broke off ({kind})")


def base_url(upstream: str) -> str:
    """The address with a path: ``http://host:8000`` becomes ``http://host:8000/v1``."""
    base = upstream.rstrip("/")
    return base if httpx.URL(base).path.strip("/") else f"{base}/v1"
