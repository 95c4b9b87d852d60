"""A proxy under a real server, in front of an upstream that says what a test tells it to say."""

import asyncio
import contextlib
import json
import socket
import ssl
import threading

import httpx
import pytest
import uvicorn

from franq_guard import Guard, Policy
from franq_guard.calibration import Calibrator
from franq_guard.serve.app import create_app
from franq_guard.serve.proxy import upstream as upstream_module
from franq_guard.serve.settings import ServeSettings
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

GOOD = "Ann Baker built the mill in Norwich."
BAD = "Zebras sing loud tunes at midnight."
MESSAGES = [
    {"role": "user", "content": f"<context>{GOOD}</context>\n\nWho built the mill in Norwich?"}
]
STREAM = {"content-type": "text/event-stream"}
DONE = b"data: [DONE]\n\n"


class Upstream:
    """An OpenAI-like server; ``reply(body)`` gives status, headers and an iterator of bytes.

    A piece may also be a function to await, or an exception, which is raised.
    """

    def __init__(self):
        self.reply = lambda body: (200, {}, [b"{}"])
        self.requests = []
        self.left = threading.Event()

    @property
    def bodies(self):
        return [body for _, _, body in self.requests]

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body")
        headers = {k.decode(): v.decode("latin-1") for k, v in scope["headers"]}
        body = json.loads(raw) if raw else None
        self.requests.append((scope["path"], headers, body))
        sending = asyncio.create_task(self._send(send, self.reply(body)))
        leaving = asyncio.create_task(_left(receive))
        await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            self.left.set()
        sending.cancel()
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        with contextlib.suppress(asyncio.CancelledError):
            await sending

    async def _send(self, send, reply):
        status, headers, pieces = reply
        headers = [(k.encode(), v.encode()) for k, v in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for piece in pieces:
            if isinstance(piece, Exception):
                raise piece
            if not isinstance(piece, bytes):
                await piece()
                continue
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive):
    while (await receive())["type"] != "http.disconnect":
        pass


class Served:
    """An ASGI application under uvicorn in a thread of its own."""

    def __init__(self, app):
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(512)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=5)
        self._server = uvicorn.Server(config)
        work = self._server.serve(sockets=[self._socket])
        self._thread = threading.Thread(target=asyncio.run, args=(work,))

    def __enter__(self):
        self._thread.start()
        return self.url

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join(60)
        self._socket.close()
        assert not self._thread.is_alive()


class Proxied:
    """A running proxy, its upstream and a client."""

    def __init__(self, url, upstream, app):
        self.url, self.upstream, self.app = url, upstream, app
        self.http = httpx.Client(base_url=url, timeout=60, trust_env=False)

    def ask(self, *, headers=None, **body):
        body = {"model": "m", "messages": MESSAGES, **body}
        return self.http.post("/v1/chat/completions", json=body, headers=headers)


@pytest.fixture
def proxied(monkeypatch):
    """``proxied(guard, **settings)``: a running proxy and its upstream.

    On a busy machine many connections at once may take more than the usual seconds. To load the
    certificates of the web costs each client 50 ms, and nobody speaks TLS here.
    """
    monkeypatch.setattr(upstream_module, "_CONNECT", 60.0)
    bare = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: bare)
    with contextlib.ExitStack() as stack:

        def start(guard=None, **settings):
            upstream = Upstream()
            address = stack.enter_context(Served(upstream))
            settings = {"upstream": f"{address}/v1", **settings}
            app = create_app(guard or guard_of(), ServeSettings(**settings))
            made = Proxied(stack.enter_context(Served(app)), upstream, app)
            stack.callback(made.http.close)
            return made

        yield start


def guard_of(action="filter", *, fail=None, faithfulness=None, **policy):
    return Guard(
        language_model=FakeLanguageModel(known=0.99),
        faithfulness=faithfulness or FakeFaithfulness(fail=fail),
        policy=Policy(action=action, **policy),
        franq=Calibrator.uncalibrated(),
    )


def completion(*messages, **more):
    """A reply of an upstream as a whole; a message may be a text."""
    choices = [
        {
            "index": i,
            "message": {"role": "assistant", **({"content": m} if isinstance(m, str) else m)},
            "finish_reason": "stop",
            "logprobs": None,
        }
        for i, m in enumerate(messages)
    ]
    usage = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
    body = {**head, "choices": choices, "usage": usage, **more}
    return 200, {"content-type": "application/json"}, [json.dumps(body).encode()]


def chunk(delta, index=0, finish=None, *, top=None, **more):
    """The bytes of one event of an upstream; ``top`` stands beside its choices."""
    choice = {"index": index, "delta": delta, "finish_reason": finish, **more}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    body = {**head, "choices": [choice], **(top or {})}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def chunks(text, size=5, index=0, **more):
    """A text as events, and its end."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    first = chunk({"role": "assistant", "content": ""}, index, **more)
    said = [chunk({"content": piece}, index, **more) for piece in pieces]
    return [first, *said, chunk({}, index, "stop", **more)]


def events_of(raw):
    """The JSON of each event of a stream; the end mark as it is."""
    data = [part.removeprefix(b"data: ") for part in raw.split(b"\n\n") if part]
    return [item.decode() if item == b"[DONE]" else json.loads(item) for item in data]


def text_of(events, index=0, name="content"):
    """The text that a client puts together."""
    choices = [c for e in events if isinstance(e, dict) for c in e.get("choices", ())]
    return "".join(c["delta"].get(name) or "" for c in choices if c["index"] == index)


class Kit:
    """What test modules use by name."""

    GOOD, BAD, MESSAGES, STREAM, DONE = GOOD, BAD, MESSAGES, STREAM, DONE
    guard_of, completion = staticmethod(guard_of), staticmethod(completion)
    chunk, chunks = staticmethod(chunk), staticmethod(chunks)
    events_of, text_of = staticmethod(events_of), staticmethod(text_of)


@pytest.fixture
def kit():
    return Kit


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level("CRITICAL")  # uncalibrated models say so
