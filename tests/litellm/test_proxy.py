"""LiteLLM's own proxy with our guardrail: what passes, what does not, what a dead service means."""

import json

import httpx
import pytest

from .conftest import PASSAGE, SUPPORTED

pytestmark = pytest.mark.litellm


def ask(url, question, **more):
    message = {"role": "user", "content": f"{PASSAGE} {question}"}
    body = {"model": "writer", "messages": [message], **more}
    return httpx.post(f"{url}/v1/chat/completions", json=body, timeout=120)


def streamed(url, question):
    lines = ask(url, question, stream=True).text.splitlines()
    events = [json.loads(x[6:]) for x in lines if x.startswith("data: {")]
    choices = [choice for event in events for choice in event.get("choices", [])]
    return "".join(choice["delta"].get("content") or "" for choice in choices), events


def test_a_supported_answer_passes(guarded):
    reply = ask(guarded, "When did the bridge open?")
    assert reply.status_code == 200, reply.text
    assert reply.json()["choices"][0]["message"]["content"] == SUPPORTED


def test_a_false_claim_is_removed(guarded):
    reply = ask(guarded, "Who was its architect?")
    assert reply.status_code == 200, reply.text
    assert reply.json()["choices"][0]["message"]["content"] == SUPPORTED


def test_a_stream_holds_back_what_is_not_settled(guarded):
    assert streamed(guarded, "When did the bridge open?")[0] == SUPPORTED
    text, events = streamed(guarded, "Who was its architect?")
    assert text == SUPPORTED
    assert "Eiffel" not in str(events)


def test_documents_do_not_reach_the_guard_so_nothing_counts_as_checked(guarded):
    body = {"model": "writer", "documents": [{"title": "", "text": "It opened in 1937."}]}
    body["messages"] = [{"role": "user", "content": "When did the bridge open?"}]
    reply = httpx.post(f"{guarded}/v1/chat/completions", json=body, timeout=120)
    assert "[unverified]" in reply.json()["choices"][0]["message"]["content"]


def test_the_policy_block_is_an_error_for_the_client(blocking):
    assert ask(blocking, "When did the bridge open?").status_code == 200
    reply = ask(blocking, "Who was its architect?")
    assert 400 <= reply.status_code < 500, reply.text
    assert SUPPORTED not in reply.text
    assert "Eiffel" not in reply.text
    text, events = streamed(blocking, "Who was its architect?")
    assert text == ""
    assert "Eiffel" not in str(events)


def test_nothing_passes_while_the_service_is_down_unless_told_so(down):
    url, fallback = down
    reply = ask(url, "When did the bridge open?")
    if fallback == "fail_open":
        assert reply.json()["choices"][0]["message"]["content"] == SUPPORTED
        assert not any(name.startswith("x-franq") for name in reply.headers)
    else:  # the default
        assert reply.status_code >= 400, reply.text
        assert SUPPORTED not in reply.text
