"""Replies that come as a whole: what passes, what is replaced, what is left out."""

import json

import pytest

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness

PLAIN = [{"role": "user", "content": "Who built the mill in Norwich?"}]


@pytest.fixture
def replying(proxied, kit):
    """A proxy whose upstream always says the same."""

    def start(*messages, guard=None, more=None, **settings):
        proxy = proxied(guard, **settings)
        proxy.upstream.reply = lambda body: kit.completion(*messages, **(more or {}))
        return proxy

    return start


def said(reply, index=0):
    return reply.json()["choices"][index]["message"]


def test_the_text_is_replaced_and_reported(replying, kit):
    proxy = replying(f"{kit.GOOD} {kit.BAD}")
    reply = proxy.ask()
    body = reply.json()
    assert said(reply) == {"role": "assistant", "content": kit.GOOD}
    assert body["usage"] == {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    (choice,) = body["franq"]["choices"]
    assert choice["answer"]["schema"] == "franq.answer/1"
    assert choice["answer"]["id"] == body["id"] == "chatcmpl-1"
    assert [v["label"] for v in choice["answer"]["verdicts"]] == ["supported", "false"]
    assert reply.headers["x-franq-status"] == "ok"
    assert reply.headers["x-franq-warnings"] == "false"
    id = reply.headers["x-franq-report-id"]
    assert proxy.http.get(f"/v1/reports/{id}").json() == body["franq"]
    assert proxy.http.get("/v1/reports/other").status_code == 404


def test_reports_are_kept_within_a_size(replying, kit):
    proxy = replying(kit.GOOD, reports_bytes=1500)
    ids = [proxy.ask().headers["x-franq-report-id"] for _ in range(3)]
    found = [proxy.http.get(f"/v1/reports/{id}") for id in ids]
    assert [reply.status_code for reply in found] == [404, 404, 200]
    assert 750 < len(found[-1].content) < 1500  # so two do not fit


def test_every_choice_is_checked(replying, kit):
    reply = replying(kit.GOOD, kit.BAD, {"refusal": kit.BAD, "content": None}).ask(n=3)
    messages = [said(reply, i) for i in range(3)]
    assert messages[0]["content"] == kit.GOOD
    assert messages[2]["content"] is None
    assert "Zebras" not in json.dumps(messages)
    places = [(choice["index"], choice["field"]) for choice in reply.json()["franq"]["choices"]]
    assert places == [(0, "content"), (1, "content"), (2, "refusal")]


def test_what_nobody_checked_does_not_pass(replying, kit):
    hidden = {
        "content": [{"type": "text", "text": kit.GOOD}, {"type": "text", "text": f" {kit.BAD}"}],
        "reasoning_content": kit.BAD,
        "reasoning": kit.BAD,
        "audio": {"transcript": kit.BAD},
        "annotations": [{"title": kit.BAD}],
    }
    more = {"prompt_logprobs": [kit.BAD], "anything": kit.BAD}
    reply = replying(hidden, more=more).ask()
    body = {name: value for name, value in reply.json().items() if name != "franq"}
    assert "Zebras" not in json.dumps(body)
    assert said(reply)["content"] == kit.GOOD


@pytest.mark.parametrize("empty", [None, "", "\n"])
def test_tool_calls_are_untouched_and_an_empty_text_stays_empty(replying, empty):
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "Zebra"}'}}
    reply = replying({"content": empty, "tool_calls": [call]}).ask()
    assert said(reply) == {"role": "assistant", "content": empty, "tool_calls": [call]}
    assert reply.json()["franq"]["choices"] == []
    assert reply.headers["x-franq-status"] == "none"


def test_a_blocked_answer_tells_its_usage(replying, kit):
    guard = kit.guard_of("block", replacement="No.")
    reply = replying(kit.BAD, guard=guard, stream="buffer").ask()
    assert said(reply)["content"] == "No."
    assert reply.json()["usage"]["completion_tokens"] == 7


def test_a_guard_that_cannot_let_claims_go_is_refused_at_once(proxied, kit):
    with pytest.raises(ValueError, match="buffer"):
        proxied(kit.guard_of("block"))


def test_without_passages_nothing_is_verified(replying, kit):
    reply = replying(kit.GOOD, guard=kit.guard_of("annotate")).ask(messages=PLAIN)
    assert reply.headers["x-franq-status"] == "unverified"
    assert reply.headers["x-franq-unverified"] == "no_evidence"


def test_without_a_question_nothing_is_verified(replying, kit):
    messages = [{"role": "system", "content": "<context>Ann Baker built the mill.</context>"}]
    reply = replying(kit.GOOD, guard=kit.guard_of("annotate")).ask(messages=messages)
    assert reply.headers["x-franq-status"] == "unverified"
    assert reply.headers["x-franq-unverified"] == "no_prompt"
    assert said(reply)["content"] == "Ann Baker built the mill in Norwich [unverified]."


def test_what_cannot_be_verified_may_have_to_go(replying, kit):
    guard = kit.guard_of(replacement="No.")
    proxy = replying(kit.GOOD, guard=guard)
    for asked in ({"franq": {"on_error": "closed"}}, {"headers": {"x-franq-on-error": "closed"}}):
        assert said(proxy.ask(messages=PLAIN, **asked))["content"] == "No."
    closed = replying(kit.GOOD, guard=guard, on_error="closed")
    assert said(closed.ask(messages=PLAIN))["content"] == "No."


def test_our_object_stays_here_and_documents_go_on(replying, kit):
    proxy = replying(f"{kit.GOOD} {kit.BAD}")
    for given in ({"franq": {"passages": [kit.GOOD]}}, {"documents": [{"text": kit.GOOD}]}):
        assert said(proxy.ask(messages=PLAIN, **given))["content"] == kit.GOOD
    first, second = proxy.upstream.bodies
    assert "franq" not in first
    assert second["documents"] == [{"text": kit.GOOD}]


def test_a_failing_model_makes_it_unverified(replying, kit):
    def fail():
        raise RuntimeError("broken")

    reply = replying(kit.GOOD, guard=kit.guard_of("annotate", fail=fail)).ask()
    assert reply.status_code == 200
    assert reply.headers["x-franq-unverified"] == "error"
    assert "[unverified]" in said(reply)["content"]


def test_no_language_model_is_loaded_where_the_passages_alone_decide(replying, kit):
    def never():
        raise AssertionError("loaded")

    guard = Guard(language_model=never, faithfulness=FakeFaithfulness())
    reply = replying(kit.GOOD, guard=guard).ask()
    assert reply.headers["x-franq-status"] == "ok"


@pytest.mark.parametrize("stream", [False, True])
def test_what_could_not_be_checked_is_counted_by_what_became_of_it(replying, kit, stream):
    proxy = replying(kit.GOOD, closed_routes=("check",))
    proxy.upstream.reply = lambda body: (
        (200, kit.STREAM, [*kit.chunks(kit.GOOD), kit.DONE])
        if body.get("stream")
        else kit.completion(kit.GOOD)
    )
    asked = {"messages": PLAIN, "stream": stream}
    replies = [proxy.ask(**asked), proxy.ask(**asked, franq={"on_error": "closed"})]
    proxy.ask(stream=stream)  # this one can be checked
    if not stream:  # the headers of a stream leave before its text is known
        assert [r.headers["x-franq-on-error"] for r in replies] == ["open", "closed"]
        assert "x-franq-on-error" not in proxy.ask().headers
    metrics = proxy.http.get("/metrics").text
    for policy in ("open", "closed"):
        line = f'franq_unverified_answers_total{{on_error="{policy}",route="chat"}} 1.0'
        assert line in metrics


def test_a_text_that_is_too_long_is_refused(replying, kit):
    reply = replying(kit.GOOD, max_answer_chars=20).ask()
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "answer_too_long")
