"""Upstreams that fail in the middle, clients that leave or dawdle, a service that is full."""

import asyncio
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from franq_guard.serve.app import create_app
from franq_guard.serve.running import Server

MODES = ["claims", "buffer"]


def broken_events(proxy, kit, pieces, **body):
    proxy.upstream.reply = lambda _: (200, kit.STREAM, pieces)
    events = kit.events_of(proxy.ask(stream=True, **body).content)
    assert "[DONE]" not in events
    assert [event for event in events if "error" in event] == events[-1:]
    return events


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("last", "code"),
    [
        (RuntimeError("dies"), "upstream_failed"),
        (b"data: {broken\n\n", "upstream_malformed"),
        (b"data: \xff\n\n", "upstream_malformed"),
        (b"data: " + b'{"a":' * 100_000 + b"\n\n", "upstream_malformed"),
        (b"data: [1]\n\n", "upstream_malformed"),
        (b'data: {"choices": [{"index": "x"}]}\n\n', "upstream_malformed"),
        (b'data: {"choices": [{"index": 0, "delta": 1}]}\n\n', "upstream_malformed"),
        (b'data: {"choices": 1}\n\n', "upstream_malformed"),
        (b"data: " + b"x" * 9_000_000, "upstream_malformed"),
        (b"", "upstream_malformed"),
        (b'data: {"error": {"message": "m", "code": "theirs"}}\n\n', "theirs"),
        (b'error: {"message": "m", "code": "theirs"}\n\ndata: [DONE]\n\n', "theirs"),
    ],
)
def test_a_stream_that_breaks_leaves_nothing_unchecked(proxied, kit, mode, last, code):
    proxy = proxied(stream=mode)
    begun = kit.chunks(f"{kit.GOOD} {kit.BAD} And then Zeb")[:-1]
    events = broken_events(proxy, kit, [*begun, last])
    assert events[-1]["error"]["code"] == code
    assert kit.text_of(events) == (kit.GOOD if mode == "claims" else "")
    counted = "upstream_error" if code == "theirs" else code
    assert f'franq_errors_total{{code="{counted}"}} 1.0' in proxy.http.get("/metrics").text
    proxy.upstream.reply = lambda _: (200, kit.STREAM, [*kit.chunks(kit.GOOD), kit.DONE])
    assert kit.text_of(kit.events_of(proxy.ask(stream=True).content)) == kit.GOOD


def test_an_end_without_a_mark_is_an_end_where_the_choice_ended(proxied, kit):
    proxy = proxied()
    proxy.upstream.reply = lambda _: (200, kit.STREAM, kit.chunks(kit.GOOD))
    events = kit.events_of(proxy.ask(stream=True).content)
    assert kit.text_of(events) == kit.GOOD
    assert events[-1] == "[DONE]"


@pytest.mark.parametrize("mode", MODES)
def test_a_mark_is_an_end_also_without_a_finish_reason_which_stays_unknown(proxied, kit, mode):
    proxy = proxied(stream=mode)
    proxy.upstream.reply = lambda _: (200, kit.STREAM, [*kit.chunks(kit.GOOD)[:-1], kit.DONE])
    events = kit.events_of(proxy.ask(stream=True).content)
    assert (kit.text_of(events), events[-1]) == (kit.GOOD, "[DONE]")
    assert events[-2]["choices"][0]["finish_reason"] is None
    assert events[-2]["franq"]["choices"]


@pytest.mark.parametrize("mode", MODES)
def test_a_text_that_grows_too_long_ends_the_stream(proxied, kit, mode):
    proxy = proxied(stream=mode, max_answer_chars=80)
    events = broken_events(proxy, kit, [*kit.chunks(f"{kit.GOOD} {kit.GOOD} {kit.GOOD}"), kit.DONE])
    assert events[-1]["error"]["code"] == "answer_too_long"
    assert kit.text_of(events) == (kit.GOOD if mode == "claims" else "")


async def forever():
    await asyncio.sleep(3600)


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_stops_the_upstream_and_the_checks(proxied, kit, stream):
    proxy = proxied()
    proxy.upstream.reply = lambda _: (200, kit.STREAM, [*kit.chunks(kit.GOOD)[:-1], forever])
    body = {"model": "m", "messages": kit.MESSAGES, "stream": stream}
    if stream:
        with proxy.http.stream("POST", "/v1/chat/completions", json=body) as reply:
            next(reply.iter_bytes())
    while not proxy.upstream.requests:  # on a busy machine it may leave too early
        with pytest.raises(httpx.ReadTimeout):
            proxy.http.post("/v1/chat/completions", json=body, timeout=0.3)
    assert proxy.upstream.left.wait(60)


def test_a_client_that_leaves_while_its_answer_is_checked(proxied, kit):
    go, asked = threading.Event(), threading.Event()

    def wait():
        asked.set()
        assert go.wait(60)

    proxy = proxied(kit.guard_of(fail=wait), queue=1)
    proxy.upstream.reply = lambda _: (200, kit.STREAM, [*kit.chunks(kit.GOOD), kit.DONE])
    body = {"model": "m", "messages": kit.MESSAGES, "stream": True}
    with proxy.http.stream("POST", "/v1/chat/completions", json=body) as reply:
        got = reply.iter_bytes()
        next(got)
        assert asked.wait(60)
    go.set()
    for _ in range(600):  # its place becomes free
        last = proxy.ask(stream=True)
        if last.status_code == 200:
            break
        threading.Event().wait(0.05)
    assert kit.text_of(kit.events_of(last.content)) == kit.GOOD


def test_a_full_service_says_so_before_the_upstream_is_asked(proxied, kit):
    proxy = proxied(queue=1)
    go = threading.Event()

    async def wait():
        assert await asyncio.to_thread(go.wait, 60)

    proxy.upstream.reply = lambda _: (200, kit.STREAM, [kit.chunk({"content": ""}), wait, kit.DONE])
    body = {"model": "m", "messages": kit.MESSAGES, "stream": True}
    with proxy.http.stream("POST", "/v1/chat/completions", json=body) as reply:
        got = reply.iter_bytes()
        next(got)
        for stream in (True, False):
            refused = proxy.ask(stream=stream)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert len(proxy.upstream.requests) == 1
        go.set()
        assert b"[DONE]" in b"".join(got)


def test_an_answer_that_its_model_has_written_is_not_refused_for_a_full_queue(proxied, kit):
    asked, written, go = threading.Event(), threading.Event(), threading.Event()

    async def wait():
        asked.set()
        assert await asyncio.to_thread(written.wait, 60)

    proxy = proxied(
        kit.guard_of(fail=lambda: go.wait(60)), queue=1, batch_size=1, window_ms=0, stream="buffer"
    )
    *_, pieces = kit.completion(kit.GOOD)
    proxy.upstream.reply = lambda _: (200, {}, [wait, *pieces])
    trace = {"question": "Who?", "passages": [kit.GOOD], "answer": kit.GOOD}
    checker = proxy.app.state.checker
    with ThreadPoolExecutor() as pool:
        chat = pool.submit(proxy.ask)
        assert asked.wait(60)
        checks = []
        for waiting in (0, 1):  # one is in work, one fills the queue
            checks.append(pool.submit(proxy.http.post, "/v1/check", json=trace))
            while checker.waiting != waiting or len(checker._unanswered) != len(checks):
                threading.Event().wait(0.005)
        written.set()
        while checker.waiting < 2 and not chat.done():
            threading.Event().wait(0.005)
        go.set()
        assert chat.result().status_code == 200
        assert [check.result().status_code for check in checks] == [200, 200]


def test_a_stream_that_outlasts_the_service_ends_with_an_error(proxied, kit, capfd):
    hangs, go, told = proxied(), threading.Event(), threading.Event()

    async def wait():
        await asyncio.to_thread(go.wait, 60)

    hangs.upstream.reply = lambda _: (200, kit.STREAM, [kit.chunk({"role": "assistant"}), wait])
    addresses = []
    app = create_app(kit.guard_of(), hangs.app.state.settings)
    server = Server(
        app,
        host="127.0.0.1",
        port=0,
        grace=0,
        listening=lambda address: (addresses.append(address), told.set()),
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    assert told.wait(60)
    body = {"model": "m", "messages": kit.MESSAGES, "stream": True}
    url = f"{addresses[0]}/v1/chat/completions"
    with httpx.stream("POST", url, json=body, timeout=60) as reply:
        pieces = reply.iter_bytes()
        seen = next(pieces)
        server.should_exit = True
        events = kit.events_of(seen + b"".join(pieces))
    go.set()
    thread.join(60)
    assert not thread.is_alive()
    assert events[-1]["error"]["code"] == "closing"
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_slow_client_holds_nobody_up_and_is_not_read_ahead_for(proxied, kit):
    sent, all_of_it = [], 400
    call = kit.chunk({"tool_calls": [{"index": 0, "function": {"arguments": "x" * 100_000}}]})

    def pieces():
        for i in range(all_of_it):
            sent.append(i)
            yield call
        yield kit.DONE

    def reply(body):
        short = [*kit.chunks(kit.GOOD), kit.DONE]
        return 200, kit.STREAM, pieces() if body["model"] == "long" else short

    proxy = proxied()
    proxy.upstream.reply = reply
    body = json.dumps({"model": "long", "messages": kit.MESSAGES, "stream": True})
    host, port = proxy.url.removeprefix("http://").split(":")
    head = f"POST /v1/chat/completions HTTP/1.0\r\nhost: {host}\r\ncontent-length: {len(body)}"
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect((host, int(port)))
        slow.sendall(f"{head}\r\n\r\n{body}".encode())
        for _ in range(3):
            assert kit.text_of(kit.events_of(proxy.ask(stream=True).content)) == kit.GOOD
        assert len(sent) < all_of_it
        slow.settimeout(60)
        size, tail = 0, b""
        while piece := slow.recv(1_000_000):
            size, tail = size + len(piece), (tail + piece)[-100:]
    assert size > all_of_it * 100_000
    assert b"[DONE]" in tail
