"""The door: tokens, sizes, and what is logged."""

import asyncio
import gzip
import json
import logging

import pytest

from franq_guard.serve.security import Tokens
from franq_guard.testing import FakeGuard

from .conftest import TRACE, serving

TOKENS = ("first-token", "second-token")


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    "headers",
    [bearer("first-token"), bearer("second-token"), {"Authorization": "bearer second-token"}],
)
def test_each_token_is_let_in(run, headers):
    async def main():
        async with serving(tokens=TOKENS) as (client, _):
            return await client.post("/v1/check", json=TRACE, headers=headers)

    assert run(main()).status_code == 200


def test_a_gateway_may_send_its_token_as_a_key(run):
    async def main():
        async with serving(tokens=TOKENS) as (client, _):
            return await client.post("/v1/check", json=TRACE, headers={"x-api-key": "first-token"})

    assert run(main()).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer("wrong-token"),
        bearer("first-toke"),
        bearer(""),
        {"Authorization": "first-token"},
        {"Authorization": "Basic first-token"},
        {"x-api-key": "wrong-token"},
        {"Authorization": b"Bearer \xff\xfe"},
    ],
)
@pytest.mark.parametrize("path", ["/v1/check", "/v1/check/batch", "/metrics", "/openapi.json"])
def test_any_other_is_401_before_anything_is_read(run, caplog, headers, path):
    async def main():
        async with serving(tokens=TOKENS) as (client, _):
            return await client.post(path, content=b"not json", headers=headers)

    with caplog.at_level(logging.DEBUG):
        reply = run(main())
    assert reply.status_code == 401
    assert reply.json()["error"]["code"] == "wrong_token"
    assert reply.headers["www-authenticate"] == "Bearer"
    assert "wrong-token" not in caplog.text + reply.text


def test_the_description_says_which_routes_need_a_token(run):
    async def described(**settings):
        async with serving(**settings) as (client, _):
            return (await client.get("/openapi.json", headers=bearer("first-token"))).json()

    with_tokens, without = run(described(tokens=TOKENS)), run(described())
    schemes = {*with_tokens["components"]["securitySchemes"]}
    for path, item in with_tokens["paths"].items():
        (operation,) = item.values()
        named = {name for choice in operation.get("security", ()) for name in choice}
        assert named == (set() if path in ("/healthz", "/readyz") else schemes)
    assert "security" not in json.dumps(without)


def test_probes_need_no_token(run):
    async def main():
        async with serving(tokens=TOKENS) as (client, _):
            return [(await client.get(path)).status_code for path in ("/healthz", "/readyz")]

    assert run(main())[0] == 200


def test_every_token_is_compared_whichever_fits(monkeypatch):
    compared = []

    def compare(one, other):
        compared.append(len(one))
        return one == other

    monkeypatch.setattr("franq_guard.serve.security.hmac.compare_digest", compare)
    tokens = Tokens(TOKENS)
    assert tokens.accepts([(b"authorization", b"Bearer first-token")])
    assert not tokens.accepts([(b"authorization", b"Bearer x")])
    assert compared == [32] * 4


def test_a_stated_length_over_the_limit_is_413_before_the_body(run):
    async def main():
        async with serving() as (client, _):
            return await client.post("/v1/check", content=b"x" * 20_000_000)

    reply = run(main())
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")


def test_a_body_without_a_length_is_stopped_at_the_limit(run):
    sent = 0

    async def endless():
        nonlocal sent
        while sent < 20_000_000:
            sent += 65_536
            yield b"x" * 65_536

    async def main():
        async with serving() as (client, _):
            return await client.post("/v1/check", content=endless())

    assert run(main()).status_code == 413
    assert sent < 2_000_000


def test_a_batch_may_be_larger_than_one_request(run):
    async def main():
        async with serving(max_body_bytes=100, max_batch_bytes=1000) as (client, _):
            fits = await client.post("/v1/check/batch", content=b"\n" * 500)
            too_large = await client.post("/v1/check/batch", content=b"\n" * 1001)
            return fits.status_code, too_large.status_code

    assert run(main()) == (200, 413)


def test_a_compressed_body_is_415(run):
    async def main():
        async with serving() as (client, _):
            body = gzip.compress(json.dumps(TRACE).encode())
            return [
                await client.post("/v1/check", content=body, headers={"Content-Encoding": kind})
                for kind in ("gzip", "br")
            ] + [
                await client.post("/v1/check", json=TRACE, headers={"Content-Encoding": "identity"})
            ]

    *refused, plain = run(main())
    assert {(r.status_code, r.json()["error"]["code"]) for r in refused} == {(415, "compressed")}
    assert plain.status_code == 200


@pytest.mark.parametrize(
    ("origin", "site", "tokens", "status"),
    [
        ("https://evil.example", "cross-site", (), 403),
        ("http://localhost:3000", "same-site", (), 403),
        ("http://127.0.0.1:8790", "same-origin", (), 200),
        ("http://[::1]:8790", "same-origin", (), 200),
        ("file://", "cross-site", (), 200),
        ("null", "cross-site", (), 403),  # a frame of its own, or a page that hides its address
        ("http://evil.example:8790", "same-origin", (), 403),  # its name leads to this machine
        ("http://127.0.0.1.evil.example", "same-origin", (), 403),
        # Older browsers do not say of which site a page is.
        ("https://evil.example", None, (), 403),
        ("http://localhost:3000", None, (), 403),
        (None, None, (), 200),  # no browser
        ("https://app.example", "cross-site", TOKENS, 200),
    ],
)
def test_a_page_of_another_site_needs_a_token(run, origin, site, tokens, status):
    told = {"Origin": origin, "Sec-Fetch-Site": site, "Content-Type": "text/plain"}
    headers = {name: value for name, value in told.items() if value is not None}

    async def main():
        async with serving(tokens=tokens) as (client, _):
            sent = headers | (bearer(tokens[0]) if tokens else {})
            return await client.post("/v1/check", content=json.dumps(TRACE), headers=sent)

    assert run(main()).status_code == status


def test_nobody_is_led_to_the_host_that_a_request_names(run):
    async def main():
        async with serving() as (client, _):
            return await client.post("/v1/check/", json=TRACE, headers={"Host": "evil.example"})

    reply = run(main())
    assert reply.status_code == 404
    assert "location" not in reply.headers


def test_other_paths_and_methods(run):
    async def main():
        async with serving() as (client, _):
            return [
                (reply.status_code, reply.json()["error"]["code"])
                for reply in (await client.get("/nothing"), await client.get("/v1/check"))
            ]

    assert run(main()) == [(404, "not_found"), (405, "method_not_allowed")]


def test_who_asks_for_a_route_of_models_is_told_which_there_are(run):
    paths = ("/v1/embeddings", "/chat/completions", "/v1/chat/completions")

    async def main():
        async with serving() as (client, _):
            return [await client.post(path, json={}) for path in paths]

    for reply in run(main()):
        assert "/v1/chat/completions" in reply.json()["error"]["message"]


def test_a_failure_inside_is_500_without_text_in_reply_or_log(run, caplog):
    class Broken(FakeGuard):
        def check_many(self, traces, *, batch_size=8):
            raise RuntimeError("Ann did.")

        unverified = check_many

    async def main():
        async with serving(Broken()) as (client, _):
            reply = await client.post("/v1/check", json=TRACE)
            return reply, (await client.get("/metrics")).text

    reply, metrics = run(main())
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal")
    assert "Ann" not in reply.text + caplog.text
    assert 'franq_errors_total{code="internal"} 1.0' in metrics


def test_a_client_that_leaves_before_its_body_has_arrived_is_no_failure(run, caplog):
    async def main():
        async with serving() as (client, app):
            scope = {"type": "http", "method": "POST", "path": "/v1/check", "headers": []}
            scope |= {"query_string": b"", "http_version": "1.1", "scheme": "http", "server": None}
            came = [{"type": "http.request", "body": b"{", "more_body": True}]
            came += [{"type": "http.disconnect"}] * 2
            said = []

            async def receive():
                return came.pop(0)

            async def send(message):
                said.append(message)

            await app(scope, receive, send)
            return said, (await client.get("/metrics")).text

    said, metrics = run(main())
    assert not said
    assert "franq_errors_total{" not in metrics
    assert "failed" not in caplog.text


def test_nothing_of_a_request_is_logged(run, caplog):
    async def main():
        async with serving(tokens=TOKENS) as (client, _):
            await asyncio.gather(
                client.post("/v1/check", json=TRACE, headers=bearer("first-token")),
                client.post("/v1/check", content=b'{"question": "Ann did."', headers=bearer("x")),
            )

    with caplog.at_level(logging.INFO, logger="franq_guard"):
        run(main())
    ours = [record for record in caplog.records if record.name.startswith("franq_guard")]
    assert not any("Ann" in record.getMessage() for record in ours)
    assert "token" not in caplog.text
