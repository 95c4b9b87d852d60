"""Requests that nobody would write: each gets a stated status and a reply of the stated form."""

from contextlib import nullcontext

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from franq_guard import Guard
from franq_guard.serve.app import create_app
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


TAKE_A_BODY = ["/v1/check", "/v1/check/batch", "/beta/litellm_basic_guardrail_api"]
POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
CASES = [
    *((path, mode) for path in TAKE_A_BODY for mode in (POSITIVE, NEGATIVE)),
    *((path, POSITIVE) for path in ("/healthz", "/metrics")),
]


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def api():
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    app = create_app(guard)
    # It would start and end with each request.
    app.router.lifespan_context = lambda app: nullcontext()
    return schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.parametrize(("path", "mode"), CASES)
def test_any_request_has_a_stated_reply(api, path, mode):
    (operation,) = api[path].values()

    @given(operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def each(case):
        seen.add(case.call_and_validate(checks=CHECKS).status_code)

    seen = set()
    each()
    # A check of nothing but refusals would see little.
    assert 200 in seen if mode is POSITIVE else seen
