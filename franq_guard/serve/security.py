"""Checks a request before its body is read: token, size, origin and free slots."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from franq_guard.basics.failures import log_failure
from franq_guard.serve.errors import BatchesFull, Closing, ServeError
from franq_guard.serve.settings import ServeSettings
from franq_guard.serve.slots import Slots

OPEN_PATHS = ("/healthz", "/readyz")
"""Paths that need no token: health probes have none, and the replies reveal no requests."""
CHECK_PATH = "/v1/check"
BATCH_PATH = "/v1/check/batch"
CHAT_PATH = "/v1/chat/completions"
GATEWAY_PATH = "/beta/litellm_basic_guardrail_api"

_STALLED = 120.0
"""Seconds after which a client counts as gone if it sends no more of its body, or reads no more of
its reply. It would keep its slot, its memory and its upstream's connection for ever."""
_WHOLE_BODY = 300.0
"""Seconds that a whole body may take, because a client that sends a byte now and then never stalls.
The largest body (16 MiB) arrives in time at half a megabit a second."""

_SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    "token": {"type": "apiKey", "in": "header", "name": "x-franq-token"},
}
"""The headers of :func:`_token_in`, as OpenAPI describes them."""

_PAGE_SCHEMES = (b"http:", b"https:")
_LOOPBACK = re.compile(rb"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?")

_log = logging.getLogger(__name__)


class Tokens:
    """The accepted bearer tokens, compared in constant time."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self._digests = [_digest(token.encode()) for token in tokens]

    def accepts(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether the headers contain a valid token, or no token is required."""
        if not self._digests:
            return True
        digest_given = _digest(_token_in(headers))
        accepted = False
        for digest in self._digests:  # no early exit: the time must not reveal which one matched
            accepted |= hmac.compare_digest(digest, digest_given)
        return accepted


class SecurityMiddleware:
    """ASGI middleware: checks tokens, origins, body sizes and how many requests are in work.

    It ends requests whose client has stalled, and logs failures without request text.

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
        # As many as the checker holds: those that wait, and those of a round.
        answers = settings.queue + settings.batch_size
        self._slots = {
            CHECK_PATH: Slots(answers),
            GATEWAY_PATH: Slots(answers),
            CHAT_PATH: Slots(settings.queue),
            BATCH_PATH: Slots(settings.batches, BatchesFull),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reply with an error."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        with ExitStack() as slot:
            try:
                self._admit(scope)
                if scope["path"] in self._slots:  # of a route that reads a body
                    slot.enter_context(self._slots[scope["path"]].take())
            except ServeError as error:
                await self._refuse(error, scope, receive, send)
                return
            await self._run(scope, self._limited_receive(scope, receive), send)

    def _admit(self, scope: Scope) -> None:
        if scope["path"] not in OPEN_PATHS and not self._tokens.accepts(scope["headers"]):
            raise ServeError(
                401,
                "wrong_token",
                "a bearer token is needed that this service knows",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if not self.settings.tokens and _is_of_a_foreign_page(scope["headers"]):
            raise ServeError(
                403,
                "foreign_page",
                "the request comes from a page of another site, which a service without tokens "
                "refuses: start it with --token-file",
            )
        limit = self._body_limit(scope)
        for name, value in scope["headers"]:
            # isdigit first: int() would also accept underscores and signs
            if name == b"content-length" and value.isdigit() and int(value) > limit:
                raise _too_large_error(limit)
            if name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
                raise ServeError(
                    415, "compressed", "the body must not be compressed (content-encoding)"
                )

    def _body_limit(self, scope: Scope) -> int:
        large = scope["path"] in (BATCH_PATH, GATEWAY_PATH, CHAT_PATH)  # chats have images
        return self.settings.max_batch_bytes if large else self.settings.max_body_bytes

    def _limited_receive(self, scope: Scope, receive: Receive) -> Receive:
        """A ``receive`` that limits bodies without a content length, and the wait for a body."""
        remaining = limit = self._body_limit(scope)
        clock = asyncio.get_running_loop().time
        body_deadline, complete = clock() + _WHOLE_BODY, False

        async def limited() -> Message:
            nonlocal remaining, complete
            try:
                ends = min(clock() + _STALLED, body_deadline)
                async with asyncio.timeout_at(None if complete else ends):
                    message = await receive()
            except TimeoutError:
                raise _stalled_error(whole_body=clock() >= body_deadline) from None
            complete = not message.get("more_body", False)
            remaining -= len(message.get("body", b""))
            if remaining < 0:
                raise _too_large_error(limit)
            return message

        return limited

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply_begun = False

        async def timed_send(message: Message) -> None:
            nonlocal reply_begun
            reply_begun = True
            try:
                async with asyncio.timeout(_STALLED):
                    await send(message)
            except TimeoutError:
                self._on_error("client_stalled")
                raise ClientDisconnect from None

        try:
            await self.app(scope, receive, timed_send)
        except ClientDisconnect:  # no failure of the service
            return
        except asyncio.CancelledError:  # the service stops, and the time for requests is over
            if not reply_begun:  # else it breaks off
                await self._refuse(Closing(), scope, receive, send)
        except Exception as error:
            log_failure(_log, f"{scope['path']} failed", error, logging.ERROR)
            if reply_begun:
                self._on_error("internal")
                raise ConnectionError("the reply broke off") from None
            failure = ServeError(500, "internal", "the service failed")
            await self._refuse(failure, scope, receive, send)

    async def _refuse(self, error: ServeError, scope: Scope, receive: Receive, send: Send) -> None:
        self._on_error(error.code)
        reply = JSONResponse(error.to_dict(), error.status, error.headers)
        await reply(scope, receive, send)


def with_tokens(schema: dict[str, Any]) -> dict[str, Any]:
    """An OpenAPI description in which each operation that needs a token says so."""
    schema.setdefault("components", {})["securitySchemes"] = _SCHEMES
    for path, item in schema["paths"].items():
        for operation in item.values() if path not in OPEN_PATHS else ():
            operation["security"] = [{name: []} for name in _SCHEMES]
    return schema


def _token_in(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The token of a request; gateways send it as ``x-api-key``.

    ``x-franq-token`` takes precedence: ``Authorization`` may then hold the upstream server's key.
    """
    values = dict(reversed([*headers]))  # of a repeated header the first counts
    if b"x-franq-token" in values:
        return values[b"x-franq-token"].strip()
    if b"authorization" in values:
        scheme, _, token = values[b"authorization"].partition(b" ")
        return token.strip() if scheme.lower() == b"bearer" else b""
    return values.get(b"x-api-key", b"").strip()


def _is_of_a_foreign_page(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a browser sends the request for a page of another site.

    Otherwise any page that is opened on this machine could use the service, and the upstream's key.
    Pages that hide their origin ("null", as in a sandboxed frame) count as foreign, and so do those
    whose host name leads to this machine (DNS rebinding), which the browser takes for the same
    site. Applications that run in a browser of their own (``file:``, ``app:``) are let in.
    """
    values = dict(headers)
    origin, site = values.get(b"origin", b""), values.get(b"sec-fetch-site")
    if site in (b"cross-site", b"same-site"):
        return origin == b"null" or origin.startswith(_PAGE_SCHEMES)
    if not origin.startswith(_PAGE_SCHEMES):
        return False
    authority = origin.partition(b"//")[2]
    of_this_service = site == b"same-origin" or authority == values.get(b"host")  # older browsers
    return not (of_this_service and _LOOPBACK.fullmatch(authority))


def _digest(token: bytes) -> bytes:
    """A digest of fixed length, so that the comparison does not reveal the token's length."""
    return hashlib.sha256(token).digest()


def _stalled_error(*, whole_body: bool) -> ServeError:
    """The error for a body that is not complete in its time, or of which nothing more came."""
    message = (
        f"the body did not arrive within {_WHOLE_BODY:.0f} seconds"
        if whole_body
        else f"no more of the body came for {_STALLED:.0f} seconds"
    )
    return ServeError(408, "client_stalled", message, headers={"Connection": "close"})


def _too_large_error(limit: int) -> ServeError:
    return ServeError(413, "too_large", f"the body is larger than {limit} bytes")
