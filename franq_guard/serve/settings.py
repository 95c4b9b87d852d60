"""The settings of a service, fixed at its start: limits, tokens, the upstream server."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args
from urllib.parse import urlsplit

OnError = Literal["open", "closed"]
StreamMode = Literal["buffer", "claims"]
UpstreamKind = Literal["openai", "vllm"]
Route = Literal["check", "batch", "litellm", "chat"]
"""Routes by which answers arrive: the two of ``/v1/check``, the gateway's, the proxy's."""

_MIB = 1024 * 1024
_AT_LEAST_ONE = (
    "max_body_bytes",
    "max_batch_bytes",
    "max_passages",
    "max_passage_chars",
    "max_answer_chars",
    "max_claims",
    "max_samples",
    "queue",
    "batch_size",
    "batches",
    "streams",
    "reports_kept",
    "reports_bytes",
    "messages_kept",
    "messages_chars",
)
_SECONDS = ("deadline", "report_seconds", "messages_seconds", "upstream_seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """Limits, security and the upstream of one service; no request can change them.

    Attributes:
        tokens: accepted bearer tokens; empty: no token is required.
        max_body_bytes: largest body of one request; also the largest line of a batch.
        max_batch_bytes: largest body of a batch; also of a gateway's call and of a chat request of
            the proxy, which may contain images.
        max_passages: most passages of one answer.
        max_passage_chars: most characters of all passages of one answer together, with their
            titles and ids; also of its question and of each prompt.
        max_answer_chars: most characters of one answer.
        max_claims: most claims given with one answer; together they have at most
            ``max_answer_chars`` characters.
        max_samples: most samples given with one answer.
        queue: most answers that may wait; further ones are refused.
        batches: most batches in work at once; further ones are refused.
        streams: most choices of streams that are checked claim by claim at once (a request with
            ``n=3`` has three); streams of further ones are refused. Each choice has threads of its
            own, which take time from all other requests.
        window_ms: how long an idle service waits for more answers to check together.
        batch_size: most answers that are checked together.
        deadline: seconds an answer may take, from when its request has arrived, unless the request
            sets a shorter deadline. None: no limit.
        on_error: ``closed`` treats claims that could not be checked as weak. A request may ask for
            ``closed`` if this is ``open``, but not the other way round.
        closed_routes: routes that are ``closed`` even if ``on_error`` is ``open``.
        upstream: base address of the OpenAI-compatible server behind the proxy, such as
            ``http://localhost:8000/v1``. None: no proxy.
        upstream_kind: a ``vllm`` server can return the prompt that its model saw, for which it is
            then asked, and token ids, for which it is asked together with log-probabilities.
        upstream_key: sent to the upstream instead of the client's own key.
        upstream_seconds: how long the upstream may send nothing before the request fails.
        ask_logprobs: ask the upstream for log-probabilities, even if the client does not, where
            the guard can weigh them.
        stream: ``claims`` sends each claim of a stream once it has its verdict, ``buffer`` sends
            the answer once all claims have theirs.
        reports_kept: most reports of the proxy that are kept for clients to fetch.
        reports_bytes: most bytes of all these together; that of a long answer has a megabyte.
        report_seconds: how long a report is kept.
        messages_kept: most requests of a gateway whose passages are kept until their answer.
        messages_chars: most characters of all these together, and of the ids of their calls.
        messages_seconds: how long they are kept.

    Raises:
        ValueError: if a setting is invalid.
    """

    tokens: tuple[str, ...] = field(default=(), repr=False)
    max_body_bytes: int = _MIB
    max_batch_bytes: int = 16 * _MIB
    max_passages: int = 100
    max_passage_chars: int = 500_000
    max_answer_chars: int = 50_000
    max_claims: int = 500
    max_samples: int = 100
    queue: int = 256
    batches: int = 4
    streams: int = 16
    window_ms: float = 5.0
    batch_size: int = 16
    deadline: float | None = None
    on_error: OnError = "open"
    closed_routes: tuple[Route, ...] = ()
    upstream: str | None = None
    upstream_kind: UpstreamKind = "openai"
    upstream_key: str | None = field(default=None, repr=False)
    upstream_seconds: float = 300.0
    ask_logprobs: bool = True
    stream: StreamMode = "claims"
    reports_kept: int = 1000
    reports_bytes: int = 64 * _MIB
    report_seconds: float = 900.0
    messages_kept: int = 1000
    messages_chars: int = 50_000_000
    messages_seconds: float = 900.0

    def closed_on(self, route: Route) -> bool:
        """Whether the settings make unchecked claims count as weak for every request of a route."""
        return self.on_error == "closed" or route in self.closed_routes

    def __post_init__(self) -> None:
        for name in _AT_LEAST_ONE:
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
        for name in _SECONDS:
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} must be a positive number of seconds, not {value!r}")
        if not 0 <= self.window_ms < math.inf:
            raise ValueError(f"window_ms must not be negative, not {self.window_ms!r}")
        if self.on_error not in ("open", "closed"):
            raise ValueError(f"on_error must be 'open' or 'closed', not {self.on_error!r}")
        _check_routes(self.closed_routes)
        if self.stream not in ("buffer", "claims"):
            raise ValueError(f"stream must be 'buffer' or 'claims', not {self.stream!r}")
        if self.upstream_kind not in get_args(UpstreamKind):
            raise ValueError(f"upstream_kind must be openai or vllm, not {self.upstream_kind!r}")
        _check_tokens(self.tokens)
        if self.upstream_key is not None and not _fits_a_header(self.upstream_key):
            raise ValueError("upstream_key must be printable ASCII text, no line break, not empty")
        _check_upstream(self.upstream)


def _check_routes(routes: object) -> None:
    if not isinstance(routes, tuple):
        raise ValueError(f"closed_routes must be a tuple, not {routes!r}")
    for route in routes:
        if route not in get_args(Route):
            raise ValueError(f"closed_routes are {', '.join(get_args(Route))}, not {route!r}")


def _check_tokens(tokens: object) -> None:
    """Validate the tokens; no message contains a token, because messages end up in logs."""
    if not isinstance(tokens, tuple) or not all(isinstance(token, str) for token in tokens):
        raise ValueError("tokens must be a tuple of strings")
    if not all(map(_fits_a_header, tokens)):
        raise ValueError("a token must be printable ASCII text and not empty")
    if any(token != "".join(token.split()) for token in tokens):
        raise ValueError("a token must not hold spaces")


def _fits_a_header(secret: str) -> bool:
    return bool(secret) and secret.isascii() and secret.isprintable()


def _check_upstream(upstream: str | None) -> None:
    if upstream is None:
        return
    try:
        parts = urlsplit(upstream)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        fits = False
    if not fits:
        raise ValueError("upstream must be an address such as http://localhost:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("upstream must not hold a user name, a query or a fragment")
    if parts.path.rstrip("/").endswith("/chat/completions"):
        raise ValueError("upstream must be the address before /chat/completions, which is added")
