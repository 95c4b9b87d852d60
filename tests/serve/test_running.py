"""The service on a real port: where it listens, how it ends, who leaves early."""

import asyncio
import json
import socket
import threading
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPConnection
from select import select

import httpx
import pytest

from franq_guard.serve import security
from franq_guard.serve.app import create_app
from franq_guard.serve.running import Server, is_local
from franq_guard.serve.settings import ServeSettings
from franq_guard.testing import FakeGuard

from .conftest import TRACE, HeldGuard

get, post, head = (partial(ask, timeout=60) for ask in (httpx.get, httpx.post, httpx.head))


@contextmanager
def listening(guard, *, grace=50, **settings):
    """The server, its address, and the thread it runs in."""
    told, addresses = threading.Event(), []

    def tell(address):
        addresses.append(address)
        told.set()

    app = create_app(guard, ServeSettings(**settings))
    server = Server(app, host="127.0.0.1", port=0, grace=grace, listening=tell)
    thread = threading.Thread(target=server.run)
    thread.start()
    assert told.wait(60)
    try:
        yield server, addresses[0], thread
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


def test_it_tells_where_it_listens_and_answers_there():
    with listening(FakeGuard()) as (_, address, _thread):
        assert address.startswith("http://127.0.0.1:")
        reply = post(f"{address}/v1/check", json=TRACE)
        assert reply.json()["text"] == "Ann did. [checked: T]"
        assert "server" not in reply.headers


def test_where_it_cannot_listen_it_says_why_and_loads_nothing():
    class Unused(FakeGuard):
        @property
        def faithfulness(self):
            raise AssertionError("it was loaded")

    app = create_app(Unused(), ServeSettings())
    no_address = "Cannot assign requested address|could not bind on any address"
    for host, why in (("192.0.2.1", no_address), ("no.invalid", ".*name")):
        with pytest.raises(OSError, match=rf"^cannot listen on {host}, port 8790: (?i:{why})"):
            Server(app, host=host, port=8790).run()


def test_a_load_balancer_closes_a_connection_before_the_service_does():
    with listening(FakeGuard()) as (server, *_):
        assert server.config.timeout_keep_alive > 60  # what the usual ones keep


def test_shutdown_finishes_what_is_in_work():
    guard = HeldGuard()
    with listening(guard, window_ms=0, batch_size=1) as (server, address, thread):
        replies = []
        lines = "\n".join(json.dumps({**TRACE, "id": i}) for i in range(3))
        sent = [
            lambda: post(f"{address}/v1/check", json=TRACE),
            lambda: post(f"{address}/v1/check/batch", content=lines),
        ]
        threads = [threading.Thread(target=lambda f=f: replies.append(f())) for f in sent]
        for started in threads:
            started.start()
        assert guard.begun.wait(60)
        while len(server.server_state.tasks) < 2:
            threading.Event().wait(0.001)
        server.should_exit = True
        while server.servers[0].is_serving():
            threading.Event().wait(0.001)
        with pytest.raises(httpx.HTTPError):
            get(f"{address}/healthz")
        guard.go.set()
        for ended in (*threads, thread):
            ended.join(60)
        assert [reply.status_code for reply in replies] == [200, 200]
        (batch,) = [r for r in replies if "ndjson" in r.headers["content-type"]]
        assert [json.loads(line)["id"] for line in batch.text.splitlines()] == ["0", "1", "2"]


def test_a_client_that_leaves_a_batch_stops_it(run):
    class Counting(FakeGuard):
        checked = 0

        def check_many(self, traces, *, batch_size=8):
            type(self).checked += len(traces)
            return super().check_many(traces, batch_size=batch_size)

    async def leave(address):
        answer = {**TRACE, "answer": "x" * 10_000}
        lines = "\n".join(json.dumps({**answer, "id": i}) for i in range(1400))
        async with (
            httpx.AsyncClient() as client,
            client.stream("POST", f"{address}/v1/check/batch", content=lines) as reply,
        ):
            async for line in reply.aiter_lines():
                assert json.loads(line)["id"] == "0"
                break

    with listening(Counting(), batch_size=1, window_ms=0) as (server, address, _):
        run(leave(address))
        checker = server.config.app.state.checker
        while checker.waiting:
            threading.Event().wait(0.001)
        assert post(f"{address}/v1/check", json=TRACE).status_code == 200
        assert Counting.checked < 1400


def connected(address, head, body=b"", *, length=None, room=None):
    """A connection that has sent a request, or the part ``body`` of one of ``length`` bytes."""
    host, port = address.removeprefix("http://").split(":")
    made = socket.socket()
    if room is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    made.settimeout(60)
    made.connect((host, int(port)))
    length = len(body) if length is None else length
    made.sendall(f"{head} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode() + body)
    return made


def until_closed(connection):
    """What arrives until the other side closes: with a reset if it has not read all that came."""
    found = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(4096):
            found += part
    return found


def test_a_body_that_does_not_come_is_408_and_gives_its_place_back(monkeypatch):
    monkeypatch.setattr(security, "_STALLED", 0.1)
    with listening(FakeGuard(), batches=1) as (_, address, _thread):
        with connected(address, "POST /v1/check/batch", b"{", length=9) as stalled:
            reply = until_closed(stalled)
        assert b" 408 " in reply
        assert b'"client_stalled"' in reply
        assert post(f"{address}/v1/check/batch", content="").status_code == 200


def test_a_body_that_trickles_in_is_408_and_gives_its_place_back(monkeypatch):
    monkeypatch.setattr(security, "_WHOLE_BODY", 0.2)
    with listening(FakeGuard(), batches=1) as (_, address, _thread):
        with connected(address, "POST /v1/check/batch", b"{", length=200) as slow:
            for _ in range(199):  # then it would have arrived
                if select([slow], [], [], 0.02)[0]:
                    break
                slow.sendall(b" ")
            reply = until_closed(slow)
        assert b" 408 " in reply
        assert b'"client_stalled"' in reply
        assert post(f"{address}/v1/check/batch", content="").status_code == 200


HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"


def dialled(address):
    """A connection on which nothing has been sent."""
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


@pytest.mark.parametrize("sent", [b"", b"G", HEAD])
def test_a_connection_whose_headers_do_not_come_is_closed(sent):
    with listening(FakeGuard()) as (server, address, _thread):
        server.config.timeout_keep_alive = 0.2
        # A slow machine may send only after it was closed, which raises an error.
        with dialled(address) as stalled, suppress(ConnectionError):
            stalled.sendall(sent)
            assert stalled.recv(4096) == b""


@pytest.mark.parametrize("sent", [b"G", HEAD])
def test_the_headers_of_a_later_request_are_limited_too(sent):
    with listening(FakeGuard()) as (server, address, _thread), dialled(address) as stalled:
        stalled.sendall(HEAD + b"\r\n")
        assert b" 200 " in stalled.recv(4096)
        while server.server_state.tasks:
            threading.Event().wait(0.001)
        (connection,) = server.server_state.connections
        connection.timeout_keep_alive = 0.2
        stalled.sendall(sent)
        while stalled.recv(4096):  # the rest of the first reply; then it is closed
            pass


def test_a_connection_whose_headers_trickle_in_is_closed():
    with listening(FakeGuard()) as (server, address, _thread):
        server.config.timeout_keep_alive = 0.2
        with dialled(address) as slow:
            slow.sendall(HEAD + b"X: ")
            for _ in range(3000):  # for a minute
                if select([slow], [], [], 0.02)[0]:
                    break
                slow.sendall(b"x")
            with suppress(ConnectionResetError):  # what was sent last may not have been read
                assert slow.recv(4096) == b""
        server.config.timeout_keep_alive = 75
        assert get(f"{address}/healthz").status_code == 200


def test_the_limit_on_headers_ends_with_them():
    """Neither a slow body nor a slow check is cut off, on a first request or a later one."""
    guard = HeldGuard()
    body = json.dumps(TRACE).encode()
    with listening(guard, window_ms=0) as (server, address, _thread):
        client = HTTPConnection(address.removeprefix("http://"), timeout=60)
        for _ in "12":
            client.putrequest("POST", "/v1/check")
            client.putheader("Content-Length", str(len(body)))
            client.endheaders()
            while not server.server_state.tasks:
                threading.Event().wait(0.001)
            (connection,) = server.server_state.connections
            assert connection._headers_timeout is None
            client.send(body)
            assert guard.begun.wait(60)
            assert connection._headers_timeout is None
            guard.go.set()
            reply = client.getresponse()
            assert (reply.status, reply.read()[:9]) == (200, b'{"schema"')
            while server.server_state.tasks:
                threading.Event().wait(0.001)
            guard.begun.clear()
            guard.go.clear()
        client.close()


def test_a_client_that_does_not_read_gives_its_place_back(monkeypatch):
    line = json.dumps({**TRACE, "answer": "x" * 40_000}).encode() + b"\n"
    guard = HeldGuard()
    with (
        listening(guard, batches=1, window_ms=0) as (_, address, _thread),
        connected(address, "POST /v1/check/batch", line * 300, room=4096),
    ):
        assert guard.begun.wait(60)
        monkeypatch.setattr(security, "_STALLED", 0.5)  # not before: sending so much takes a while
        refused = post(f"{address}/v1/check/batch", content="")
        assert refused.json()["error"]["code"] == "batches_full"
        guard.go.set()
        for _ in range(600):
            if post(f"{address}/v1/check/batch", content="").status_code == 200:
                break
            threading.Event().wait(0.05)
        metrics = get(f"{address}/metrics").text
    assert 'franq_errors_total{code="client_stalled"} 1.0' in metrics


def test_shutdown_does_not_wait_for_ever_for_a_client_that_stalls():
    with (
        listening(FakeGuard(), grace=0) as (server, address, thread),
        connected(address, "POST /v1/check", b"{", length=9) as stalled,
    ):
        while not server.server_state.tasks:
            threading.Event().wait(0.001)
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()
        reply = until_closed(stalled)
        assert b" 503 " in reply
        assert b'"closing"' in reply


def test_bytes_that_are_no_http_break_nothing():
    async def talk(address):
        host, port = address.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"\x00\xff nonsense\r\n\r\n")
        await writer.drain()
        reply = await reader.read()
        writer.close()
        await writer.wait_closed()
        return reply

    with listening(FakeGuard()) as (_, address, _thread):
        assert b" 400 " in asyncio.run(talk(address))
        assert post(f"{address}/v1/check", json=TRACE).status_code == 200


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.0.0.2", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.2", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_what_only_this_machine_can_reach(host, local):
    assert is_local(host) is local


def test_probes_may_ask_for_the_head_alone():
    with listening(FakeGuard(), tokens=("ours",)) as (_, address, _):
        found = {path: head(f"{address}/{path}") for path in ("healthz", "readyz", "metrics")}
    assert found["healthz"].status_code == 200
    assert found["readyz"].status_code in (200, 503)
    assert found["metrics"].status_code == 401
    assert not any(reply.content for reply in found.values())
