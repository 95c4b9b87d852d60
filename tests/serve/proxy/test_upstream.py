"""What the upstream is asked for, with which key, and how its failures are told."""

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from franq_guard import Guard
from franq_guard.calibration import Calibrator
from franq_guard.serve.app import create_app
from franq_guard.serve.errors import ServeError
from franq_guard.serve.proxy.upstream import Upstream
from franq_guard.serve.settings import ServeSettings
from franq_guard.testing import FakeFaithfulness

JSON = {"content-type": "application/json"}


def logprobs_of(text):
    words = text.split(" ")
    pieces = [words[0], *(f" {word}" for word in words[1:])]
    told = [{"token": p, "bytes": list(p.encode()), "logprob": -0.01} for p in pieces]
    return {"content": told}


def with_logprobs(kit, text, logprobs):
    _, _, (raw,) = kit.completion(text)
    body = json.loads(raw)
    body["choices"][0]["logprobs"] = logprobs
    return 200, JSON, [json.dumps(body).encode()]


def test_log_probabilities_are_asked_for_used_and_kept_from_who_did_not_ask(proxied, kit):
    proxy = proxied()
    proxy.upstream.reply = lambda _: with_logprobs(kit, kit.GOOD, logprobs_of(kit.GOOD))
    body = proxy.ask().json()
    assert proxy.upstream.bodies[0]["logprobs"] is True
    assert body["choices"][0]["logprobs"] is None
    raw = body["franq"]["choices"][0]["answer"]["verdicts"][0]["raw"]
    assert raw["uq_faith"] == pytest.approx(-0.01 * 7)  # seven words, each as the upstream told


def test_log_probabilities_leave_only_with_an_unchanged_text(proxied, kit):
    proxy = proxied()
    for text, kept in ((kit.GOOD, True), (f"{kit.GOOD} {kit.BAD}", False)):
        told = logprobs_of(text)
        proxy.upstream.reply = lambda _, text=text, told=told: with_logprobs(kit, text, told)
        found = proxy.ask(logprobs=True).json()["choices"][0]["logprobs"]
        assert found == (told if kept else None)


@pytest.mark.parametrize("odd", ["x", [1], {"content": [{"bytes": "x", "logprob": "y"}]}])
def test_unreadable_log_probabilities_are_none(proxied, kit, odd):
    proxy = proxied()
    proxy.upstream.reply = lambda _: with_logprobs(kit, kit.GOOD, odd)
    assert proxy.ask().json()["choices"][0]["message"]["content"] == kit.GOOD


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_of_log_probabilities_is_remembered(proxied, kit, stream):
    def reply(body):
        if "logprobs" in body:
            return 400, {}, [b'{"error": {"message": "Unknown parameter: logprobs"}}']
        if body.get("stream"):
            return 200, kit.STREAM, [*kit.chunks(kit.GOOD), kit.DONE]
        return kit.completion(kit.GOOD)

    proxy = proxied()
    proxy.upstream.reply = reply
    for _ in range(2):
        assert proxy.ask(stream=stream).status_code == 200
    assert ["logprobs" in body for body in proxy.upstream.bodies] == [True, False, False]
    refused = proxy.ask(logprobs=True)  # the client's own wish: its own error
    assert refused.status_code == 400
    assert "Unknown parameter" in refused.text


def refusing(kit, status, names):
    """An upstream that refuses log-probabilities in requests that have all these fields."""

    def reply(body):
        if body.get("logprobs") and all(map(body.get, names)):
            return status, JSON, [b'{"error": {"message": "LogProbs is not supported"}}']
        if body.get("stream"):
            return 200, kit.STREAM, [*kit.chunks(kit.GOOD), kit.DONE]
        return kit.completion(kit.GOOD)

    return reply


@pytest.mark.parametrize("status", [404, 500, 501])
def test_a_refusal_of_log_probabilities_may_have_any_status(proxied, kit, status):
    proxy = proxied()
    proxy.upstream.reply = refusing(kit, status, ())
    assert [proxy.ask().status_code for _ in range(2)] == [200, 200]
    assert ["logprobs" in body for body in proxy.upstream.bodies] == [True, False, False]


def test_a_refusal_counts_for_requests_of_its_kind(proxied, kit):
    """llama.cpp's server has no log-probabilities in streams with tools."""
    proxy = proxied()
    proxy.upstream.reply = refusing(kit, 400, ("stream", "tools"))
    tools = [{"type": "function", "function": {"name": "f"}}]
    kinds = ({}, {"tools": tools}, {"stream": True}, {"tools": tools, "stream": True})
    for _ in range(2):
        assert {proxy.ask(**kind).status_code for kind in kinds} == {200}
    asked = ["logprobs" in body for body in proxy.upstream.bodies]
    assert asked == [True, True, True, True, False, True, True, True, False]


@pytest.mark.parametrize("stream", [False, True])
def test_errors_pass_unchanged(proxied, stream):
    proxy = proxied()
    raw = b'{"error":  {"message": "No such key."}}\n'
    told = {"retry-after": "7", "retry-after-ms": "6500", "x-should-retry": "false"}
    headers = {"content-type": "application/problem+json", "location": "/x", **told}
    for status in (400, 401, 404, 429, 500, 503):
        proxy.upstream.reply = lambda _, status=status: (status, headers, [raw])
        reply = proxy.ask(stream=stream)
        assert (reply.status_code, reply.content) == (status, raw)
        assert reply.headers["content-type"] == "application/problem+json"
        assert told.items() <= dict(reply.headers).items()
        assert "location" not in reply.headers


@pytest.mark.parametrize("stream", [False, True])
def test_a_redirect_is_not_followed_and_the_error_says_what_to_do(proxied, stream):
    proxy = proxied()
    proxy.upstream.reply = lambda _: (308, {"location": "https://127.0.0.1/v1"}, [])
    for reply in (proxy.ask(stream=stream), proxy.http.get("/v1/models")):
        error = reply.json()["error"]
        assert (reply.status_code, error["code"]) == (502, "upstream_redirects")
        assert "--upstream" in error["message"]
        assert "127.0.0.1" not in error["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_an_error_with_status_200_is_passed_on(proxied, stream):
    """Gateways send errors of a model behind them so."""
    proxy = proxied()
    error = {"message": "No credits.", "code": 402}
    proxy.upstream.reply = lambda _: (200, JSON, [json.dumps({"error": error}).encode()])
    reply = proxy.ask(stream=stream)
    assert (reply.status_code, reply.json()) == (502, {"error": error})
    assert 'franq_errors_total{code="upstream_error"} 1.0' in proxy.http.get("/metrics").text


def test_an_upstream_that_does_not_stream_is_told_apart(proxied, kit):
    proxy = proxied()
    proxy.upstream.reply = lambda _: kit.completion(kit.GOOD)
    reply = proxy.ask(stream=True)
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_malformed")
    assert "not the stream" in reply.json()["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_an_upstream_that_is_not_there(proxied, stream):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    proxy = proxied(upstream=f"http://127.0.0.1:{port}")
    reply = proxy.ask(stream=stream)
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_unreachable")
    assert str(port) not in reply.text


def test_an_upstream_that_is_silent(proxied):
    proxy = proxied(upstream_seconds=0.2)
    proxy.upstream.reply = lambda _: (200, {}, [lambda: asyncio.sleep(60)])
    reply = proxy.ask()
    assert (reply.status_code, reply.json()["error"]["code"]) == (504, "upstream_timeout")


def test_a_reply_that_cannot_be_read(proxied):
    proxy = proxied()
    deep = b'{"a":' * 100_000
    for raw in (
        b"",
        b"nope",
        b"[]",
        b'{"choices": [1]}',
        b"\xff",
        deep,
        b'{"choices": [], "a": NaN}',
        b'{"choices": [], "usage": 1e999}',
    ):
        proxy.upstream.reply = lambda _, raw=raw: (200, JSON, [raw])
        reply = proxy.ask()
        assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_malformed")


def test_a_reply_that_breaks_off(proxied):
    proxy = proxied()
    proxy.upstream.reply = lambda _: (200, {}, [b'{"choices"', RuntimeError()])
    reply = proxy.ask()
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_failed")


def test_keys(proxied, kit):
    proxy = proxied(tokens=("ours",))
    proxy.upstream.reply = lambda _: kit.completion(kit.GOOD)
    both = {"authorization": "Bearer theirs", "x-franq-token": "ours"}
    assert proxy.ask(headers=both).status_code == 200
    assert proxy.ask(headers={"authorization": "Bearer ours"}).status_code == 200
    assert proxy.ask(headers={**both, "authorization": "ours"}).status_code == 200
    for wrong in ({}, {"authorization": "Bearer theirs"}, {**both, "x-franq-token": "wrong"}):
        assert proxy.ask(headers=wrong).status_code == 401
        assert proxy.http.get("/v1/reports/x", headers=wrong).status_code == 401
    seen = [headers.get("authorization") for _, headers, _ in proxy.upstream.requests]
    assert seen == ["Bearer theirs", None, None]


def test_headers_that_are_not_ascii_pass_as_they_came(proxied, kit):
    proxy = proxied()
    proxy.upstream.reply = lambda _: kit.completion(kit.GOOD)
    for raw in ("é".encode(), "é".encode("latin-1")):
        assert proxy.ask(headers=[(b"x-request-id", raw)]).status_code == 200
        assert proxy.http.get("/v1/models", headers=[(b"authorization", raw)]).status_code == 200
    seen = [headers for _, headers, _ in proxy.upstream.requests]
    assert [headers.get("x-request-id", "").encode("latin-1") for headers in seen[::2]] == [
        "é".encode(),
        "é".encode("latin-1"),
    ]


@pytest.mark.parametrize("status", [200, 429])
@pytest.mark.parametrize("stream", [True, False])
def test_headers_that_an_upstream_repeats_come_back_as_they_came(proxied, kit, stream, status):
    proxy = proxied()
    whole = [*kit.chunks(kit.GOOD), kit.DONE] if stream else kit.completion(kit.GOOD)[2]
    headers = (kit.STREAM if stream else JSON) | {"X-Request-Id": "€5"}  # sent in UTF-8
    proxy.upstream.reply = lambda _: (status, headers, whole)
    reply = proxy.ask(stream=stream)
    raw = {name.lower(): value for name, value in reply.headers.raw}
    assert (reply.status_code, raw[b"x-request-id"]) == (status, "€5".encode())


def test_a_configured_key_goes_before_the_clients_and_no_request_names_the_host(proxied, kit):
    proxy = proxied(upstream_key="configured")
    proxy.upstream.reply = lambda _: kit.completion(kit.GOOD)
    odd = {
        "authorization": "Bearer x",
        "host": "elsewhere.test",
        "cookie": "c",
        "x-request-id": "7",
    }
    proxy.ask(headers=odd, upstream="http://elsewhere.test", base_url="http://elsewhere.test")
    ((path, headers, _),) = proxy.upstream.requests
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer configured"
    assert headers["host"].startswith("127.0.0.1")
    assert headers["x-request-id"] == "7"
    assert "cookie" not in headers


def test_only_errors_pass_unread(proxied, kit):
    proxy = proxied()
    _, headers, pieces = kit.completion(kit.BAD)
    for status in (201, 206):
        proxy.upstream.reply = lambda _, status=status: (status, headers, pieces)
        assert "Zebras" not in json.dumps(proxy.ask().json()["choices"])


def test_no_log_probabilities_are_asked_for_where_the_settings_say_so(proxied, kit):
    proxy = proxied(ask_logprobs=False)
    proxy.upstream.reply = lambda _: kit.completion(kit.GOOD)
    proxy.ask()
    assert "logprobs" not in proxy.upstream.bodies[0]


def test_no_log_probabilities_are_asked_for_where_the_passages_alone_decide(proxied, kit):
    by_name = Guard(faithfulness=FakeFaithfulness(), uq_faith="max-token-entropy")
    alone = Guard(faithfulness=FakeFaithfulness(), franq=Calibrator.evidence())
    for guard, asked in (
        (Guard(faithfulness=FakeFaithfulness()), False),
        (alone, False),
        (by_name, True),
    ):
        proxy = proxied(guard)
        proxy.upstream.reply = lambda _: kit.completion(kit.GOOD)
        assert proxy.ask().status_code == 200
        assert ("logprobs" in proxy.upstream.bodies[0]) is asked


def test_connections_close_with_the_application(kit, monkeypatch):
    closed = []

    async def close(self):
        closed.append(self)

    monkeypatch.setattr(Upstream, "close", close)
    app = create_app(kit.guard_of(), ServeSettings(upstream="http://127.0.0.1:9"))

    async def run():
        async with app.router.lifespan_context(app):
            assert not closed

    asyncio.run(run())
    assert len(closed) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_cookies_of_one_reply_are_not_sent_with_other_requests(proxied, kit, stream):
    proxy = proxied()
    pieces = [*kit.chunks(kit.GOOD), kit.DONE] if stream else kit.completion(kit.GOOD)[2]
    headers = {**(kit.STREAM if stream else JSON), "set-cookie": "session=of-the-first; Path=/"}
    proxy.upstream.reply = lambda _: (200, headers, pieces)
    for _ in range(2):
        assert "set-cookie" not in proxy.ask(stream=stream).headers
    assert not any("cookie" in headers for _, headers, _ in proxy.upstream.requests)


class Models(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_without_tls_no_certificates_are_read(proxied, kit, monkeypatch):
    monkeypatch.undo()  # the fixture's bare context
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file")
    proxy = proxied()
    proxy.upstream.reply = lambda _: kit.completion(kit.GOOD)
    assert proxy.ask().status_code == 200


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes no certificate")
def test_an_upstream_with_the_certificate_of_an_own_authority(tmp_path, monkeypatch, caplog):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=own"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run([*made, *names], check=True, capture_output=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Models)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    async def status():
        upstream = Upstream(ServeSettings(upstream=f"https://127.0.0.1:{server.server_port}"))
        try:
            reply = await upstream.models({})
            await reply.aclose()
            return reply.status_code
        finally:
            await upstream.close()

    try:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        caplog.set_level("WARNING")
        with pytest.raises(ServeError, match="cannot be reached"):
            asyncio.run(status())
        assert "certificate" in caplog.text
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert asyncio.run(status()) == 200
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_models_are_passed_through(proxied):
    proxy = proxied()
    for status, raw in ((200, b'{"data":  []}'), (401, b"no")):
        proxy.upstream.reply = lambda _, status=status, raw=raw: (status, JSON, [raw])
        reply = proxy.http.get("/v1/models")
        assert (reply.status_code, reply.content) == (status, raw)
    assert proxy.upstream.requests[0][0] == "/v1/models"


def test_a_chat_may_bring_a_photo(proxied, kit):
    proxy = proxied()
    proxy.upstream.reply = lambda _: kit.completion(kit.GOOD)
    photo = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 2_000_000}}
    text = {"type": "text", "text": kit.MESSAGES[0]["content"]}
    reply = proxy.ask(messages=[{"role": "user", "content": [text, photo]}])
    assert reply.status_code == 200
    assert reply.json()["choices"][0]["message"]["content"] == kit.GOOD
    assert proxy.upstream.bodies[0]["messages"][0]["content"][1] == photo


def test_requests_that_are_refused_and_never_forwarded(proxied, kit):
    proxy = proxied()
    proxy.upstream.reply = lambda _: kit.completion(kit.GOOD)
    for raw, status in (
        (b"x" * 20_000_000, 413),
        (b'{"messages":' + b"[" * 200_000, 422),
        (b'{"messages": "\xff"}', 422),
        (b"[]", 422),
        (b'{"stream": "yes"}', 422),
        (b'{"temperature": 1e999}', 422),
        (b'{"temperature": NaN}', 422),
        (b'{"franq": {"deadline": -1}}', 422),
        (b'{"franq": {"passages": "It opened in 1937."}}', 422),
        (b'{"franq": {"passages": ["It opened in 1937.", {"txt": "It is red."}]}}', 422),
        (b'{"franq": {"question": 3}}', 422),
        (b'{"franq": []}', 422),
        (b'{"franq": {"on_eror": "closed"}}', 422),
        (b'{"messages": [' + b"[]," * 500_000 + b"[]]}", 413),
        (json.dumps({"documents": ["a"] * 101}).encode(), 413),
        (json.dumps({"messages": [{"role": "user", "content": "a" * 500_001}]}).encode(), 413),
    ):
        reply = proxy.http.post("/v1/chat/completions", content=raw)
        assert reply.status_code == status
        assert reply.json()["error"]["code"]
    assert proxy.upstream.requests == []
    assert proxy.ask().status_code == 200
