"""Probes, metrics, and the description of the API."""

import asyncio
import json
import threading

from franq_guard.rows.traces import trace_from_dict
from franq_guard.serve import app as app_module
from franq_guard.serve.documents import ANSWER_EXAMPLE, TRACE_EXAMPLE
from franq_guard.testing import FakeGuard

from .conftest import TRACE, FailingGuard, serving


def test_ready_only_when_the_models_are_loaded(run, monkeypatch):
    monkeypatch.setattr(app_module, "_RETRY_SECONDS", 0.001)
    go, tries = threading.Event(), []

    class Slow(FakeGuard):
        @property
        def faithfulness(self):
            tries.append(1)
            if len(tries) == 1:
                raise OSError("not mounted yet")
            assert go.wait(60)

    async def main():
        async with serving(Slow()) as (client, _):
            assert (await client.get("/healthz")).json() == {"status": "ok"}
            early = await client.get("/readyz")
            go.set()
            while (late := await client.get("/readyz")).status_code != 200:
                await asyncio.sleep(0.001)
            return early, late

    early, late = run(main())
    assert (early.status_code, early.json()) == (503, {"status": "loading"})
    assert late.json() == {"status": "ready"}
    assert len(tries) == 2


def test_metrics_count_what_happened(run, fake_guard):
    async def main():
        async with serving(fake_guard, tokens=("t",)) as (client, app):
            client.headers["Authorization"] = "Bearer t"
            for _ in range(3):
                await client.post("/v1/check", json=TRACE)
            await client.post("/v1/check", content=b"{")
            await client.post("/v1/check", content=b"{}", headers={"Authorization": "Bearer x"})
            app.state.checker.generated(1.0, 4.0)
            app.state.checker.generated(1.0, 0.0)
            return await client.get("/metrics")

    reply = run(main())
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    text = reply.text
    for line in (
        'franq_checks_total{status="ok"} 3.0',
        'franq_checks_total{status="unverified"} 0.0',
        'franq_claims_total{label="supported"} 3.0',
        'franq_claims_total{label="false"} 0.0',
        'franq_unverified_claims_total{reason="timeout"} 0.0',
        'franq_errors_total{code="not_json"} 1.0',
        'franq_errors_total{code="wrong_token"} 1.0',
        "franq_check_seconds_count 3.0",
        'franq_stage_seconds_count{stage="franq"} 3.0',
        "franq_guard_to_generation_ratio_sum 0.25",
        "franq_guard_to_generation_ratio_count 1.0",
        "franq_queue_length 0.0",
        "franq_ready 1.0",
    ):
        assert line in text.splitlines(), line
    assert "Ann" not in text


def test_unverified_answers_are_counted_by_route_and_by_what_became_of_them(run):
    """``closed_routes`` holds where it says, a request may be stricter, and none less strict."""
    poison = {**TRACE, "answer": "poison"}
    gateway = {"input_type": "response", "texts": ["poison"]}

    async def main():
        async with serving(FailingGuard(), closed_routes=("batch", "litellm")) as (client, _):
            await client.post("/v1/check", json=TRACE)  # counts nowhere
            left = await client.post("/v1/check", json=poison)
            strict = await client.post("/v1/check", json={**poison, "on_error": "closed"})
            await client.post("/v1/check/batch", content=json.dumps(poison))
            await client.post("/beta/litellm_basic_guardrail_api", json=gateway)
            lax = {"x-franq-on-error": "open"}
            refused = await client.post("/v1/check/batch", content=b"", headers=lax)
            return left, strict, refused, (await client.get("/metrics")).text.splitlines()

    left, strict, refused, metrics = run(main())
    assert left.headers["x-franq-on-error"] == "open"
    assert strict.headers["x-franq-on-error"] == "closed"
    assert refused.status_code == 422
    counted = {("check", "open"), ("check", "closed"), ("batch", "closed"), ("litellm", "closed")}
    for route in ("check", "batch", "litellm", "chat"):
        for policy in ("open", "closed"):
            n = float((route, policy) in counted)
            line = f'franq_unverified_answers_total{{on_error="{policy}",route="{route}"}} {n}'
            assert line in metrics


def test_remarks_on_a_claim_are_counted_apart_from_failures(run):
    async def main():
        async with serving(FakeGuard(label="unsupported", reason="prior")) as (client, _):
            await client.post("/v1/check", json=TRACE)
            return (await client.get("/metrics")).text.splitlines()

    found = run(main())
    assert 'franq_claims_total{label="unsupported"} 1.0' in found
    assert 'franq_remarked_claims_total{reason="prior"} 1.0' in found
    assert 'franq_remarked_claims_total{reason="conflict"} 0.0' in found
    assert 'franq_unverified_claims_total{reason="prior"} 0.0' in found


def test_two_services_count_for_themselves(run):
    async def main():
        async with serving(FailingGuard()) as (one, _), serving() as (other, _):
            await one.post("/v1/check", json=TRACE)
            return (await other.get("/metrics")).text

    assert 'franq_checks_total{status="ok"} 0.0' in run(main())


def test_the_api_is_described_with_examples_that_are_valid(run, fake_guard):
    async def main():
        async with serving(fake_guard) as (client, _):
            described = (await client.get("/openapi.json")).json()
            replies = {}
            for path, item in described["paths"].items():
                for kind, body in (
                    item.get("post", {}).get("requestBody", {"content": {}})["content"].items()
                ):
                    example = body["example"]
                    text = example if isinstance(example, str) else json.dumps(example)
                    sent = {"content": text, "headers": {"Content-Type": kind}}
                    replies[path] = (await client.post(path, **sent)).status_code
            return described, replies

    described, replies = run(main())
    assert replies == {
        "/v1/check": 200,
        "/v1/check/batch": 200,
        "/beta/litellm_basic_guardrail_api": 200,
    }
    assert set(described["paths"]) == {*replies, "/healthz", "/readyz", "/metrics"}


def test_the_example_answer_is_of_the_example_trace():
    assert trace_from_dict(TRACE_EXAMPLE).generation.text == ANSWER_EXAMPLE["original"]
    for verdict in ANSWER_EXAMPLE["verdicts"]:
        ((start, end),) = verdict["claim"]["spans"]
        assert ANSWER_EXAMPLE["original"][start:end] == verdict["claim"]["text"]
        for found in filter(None, (verdict["evidence"], verdict["against"])):
            passage = TRACE_EXAMPLE["passages"][found["passage"]]["text"]
            assert passage[found["start"] : found["end"]].endswith(".")
            assert passage[: found["start"]].endswith(". ") or not found["start"]
    assert any(verdict["against"] for verdict in ANSWER_EXAMPLE["verdicts"])
