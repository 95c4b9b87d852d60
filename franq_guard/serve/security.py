"""Checks the token and size of a request before its body is read."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Callable, Iterable
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from franq_guard.basics.failures import log_failure
from franq_guard.serve.errors import ServeError, error_body
from franq_guard.serve.settings import ServeSettings

OPEN_PATHS = ("/healthz", "/readyz")
"""Paths that need no token: health probes have none, and the replies reveal no requests."""
BATCH_PATH = "/v1/check/batch"
GATEWAY_PATH = "/beta/litellm_basic_guardrail_api"

_SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    "token": {"type": "apiKey", "in": "header", "name": "x-franq-token"},
}
"""The headers of :func:`_bearer`, as OpenAPI describes them."""

_log = logging.getLogger(__name__)


class Tokens:
    """The accepted bearer tokens, compared in constant time."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self._digests = [_digest(token.encode()) for token in tokens]

    def let_in(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether the headers contain a valid token, or no token is required."""
        if not self._digests:
            return True
        given = _digest(_bearer(headers))
        found = False
        for digest in self._digests:  # no early exit: the time must not reveal which one matched
            found |= hmac.compare_digest(digest, given)
        return found


class Door:
    """ASGI middleware: checks tokens and body sizes, and logs failures without request text.

    Args:
        app: the application behind it.
        settings: tokens and size limits.
        on_error: called with the error code of each request that is refused or fails here.
    """

    def __init__(
        self, app: ASGIApp, settings: ServeSettings, on_error: Callable[[str], object]
    ) -> None:
        self.app, self.settings, self._on_error = app, settings, on_error
        self._tokens = Tokens(settings.tokens)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reply with an error."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            self._admit(scope)
        except ServeError as error:
            self._on_error(error.code)
            reply = JSONResponse(error.to_dict(), error.status, error.headers)
            await reply(scope, receive, send)
            return
        await self._guarded(scope, self._limited(scope, receive), send)

    def _admit(self, scope: Scope) -> None:
        if scope["path"] not in OPEN_PATHS and not self._tokens.let_in(scope["headers"]):
            raise ServeError(
                401,
                "wrong_token",
                "a bearer token is needed that this service knows",
                headers={"WWW-Authenticate": "Bearer"},
            )
        for name, value in scope["headers"]:
            # isdigit first: int() would also accept underscores and signs
            if name == b"content-length" and value.isdigit() and int(value) > self._most(scope):
                raise _too_large(self._most(scope))

    def _most(self, scope: Scope) -> int:
        many = scope["path"] in (BATCH_PATH, GATEWAY_PATH)
        return self.settings.max_batch_bytes if many else self.settings.max_body_bytes

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """A ``receive`` that also limits bodies sent without a content length."""
        left = most = self._most(scope)

        async def limited() -> Message:
            nonlocal left
            message = await receive()
            if message["type"] == "http.request":
                left -= len(message.get("body", b""))
                if left < 0:
                    raise _too_large(most)
            return message

        return limited

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except ClientDisconnect:  # it left before its body had arrived: no failure of the service
            return
        except Exception as error:
            log_failure(_log, f"{scope['path']} failed", error, logging.ERROR)
            self._on_error("internal")
            if begun:
                raise ConnectionError("the reply broke off") from None
            reply = JSONResponse(error_body("internal", "the service failed"), 500)
            await reply(scope, receive, send)


def with_tokens(described: dict[str, Any]) -> dict[str, Any]:
    """An OpenAPI description in which each operation that needs a token says so."""
    described.setdefault("components", {})["securitySchemes"] = _SCHEMES
    for path, item in described["paths"].items():
        for operation in item.values() if path not in OPEN_PATHS else ():
            operation["security"] = [{name: []} for name in _SCHEMES]
    return described


def _bearer(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The token of a request; gateways send it as ``x-api-key``.

    ``x-franq-token`` takes precedence: ``Authorization`` may then hold the upstream server's key.
    """
    given = list(headers)
    found = b""
    for name, value in given:
        if name == b"x-franq-token":
            return value.strip()
    for name, value in given:
        if name == b"authorization":
            kind, _, token = value.partition(b" ")
            return token.strip() if kind.lower() == b"bearer" else b""
        if name == b"x-api-key":
            found = value.strip()
    return found


def _digest(token: bytes) -> bytes:
    """A digest of fixed length, so that the comparison does not reveal the token's length."""
    return hashlib.sha256(token).digest()


def _too_large(most: int) -> ServeError:
    return ServeError(413, "too_large", f"the body is larger than {most} bytes")
