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
from franq_guard.serve.settings import ServeSettings
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


SILENT = "http://127.0.0.1:9"  # nobody listens there
TAKE_A_BODY = ["/v1/check", "/v1/check/batch", "/beta/litellm_basic_guardrail_api"]
POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
CASES = [
    *((path, mode) for path in TAKE_A_BODY for mode in (POSITIVE, NEGATIVE)),
    *((path, POSITIVE) for path in ("/healthz", "/metrics")),
]
OF_THE_PROXY = {
    ("/v1/chat/completions", POSITIVE): {502},
    ("/v1/chat/completions", NEGATIVE): {422, 502},
    ("/v1/models", POSITIVE): {502},
    ("/v1/reports/{id}", POSITIVE): {404},
}


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@pytest.fixture(scope="module")
def api():
    return described()


@pytest.fixture(scope="module")
def proxy():
    return described(upstream=SILENT)


def described(**settings):
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    app = create_app(guard, ServeSettings(**settings))
    # It would start and end with each request.
    app.router.lifespan_context = lambda app: nullcontext()
    return schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.parametrize(("path", "mode"), CASES)
def test_any_request_has_a_stated_reply(api, path, mode):
    seen = statuses(api, path, mode)
    # A check of nothing but refusals would see little.
    assert 200 in seen if mode is POSITIVE else seen


@pytest.mark.parametrize(("path", "mode"), OF_THE_PROXY)
def test_so_has_any_request_to_a_proxy_without_its_upstream(proxy, path, mode):
    (described,) = proxy.raw_schema["paths"][path].values()
    seen = statuses(proxy, path, mode, checks=CHECKS[1:])
    assert seen <= OF_THE_PROXY[path, mode]
    assert {str(status) for status in seen} <= {*described["responses"]}


def statuses(api, path, mode, checks=CHECKS):
    """The statuses of the replies to requests of all kinds, each reply as it is described."""
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
        seen.add(case.call_and_validate(checks=checks).status_code)

    seen = set()
    each()
    return seen
