"""Streams: nothing leaves before its verdict, whatever the upstream, the models or clients do."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from franq_guard import Policy
from franq_guard.capture import server_logprobs
from franq_guard.serve.proxy import streaming as streaming_module
from franq_guard.streaming import stream as stream_of_claims
from franq_guard.testing import FakeFaithfulness

MODES = ["claims", "buffer"]


ALONE = [{"role": "user", "content": "<context>Ann built it.</context>\n\nWho built the mill?"}]
"""A question to which a lone "Yes." states nothing."""


def streaming(kit, pieces):
    return lambda body: (200, kit.STREAM, pieces)


def without_report(events):
    return [
        {k: v for k, v in e.items() if k != "franq"} if isinstance(e, dict) else e for e in events
    ]


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_from_its_role_to_its_report(proxied, kit, mode):
    proxy = proxied(stream=mode)
    proxy.upstream.reply = streaming(kit, [*kit.chunks(f"{kit.GOOD} {kit.BAD}"), kit.DONE])
    reply = proxy.ask(stream=True)
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = kit.events_of(reply.content)
    assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert kit.text_of(events) == kit.GOOD
    if mode == "buffer":
        assert [e["choices"][0]["delta"].get("content") for e in events[1:-2]] == [kit.GOOD]
    last, end = events[-2:]
    assert end == "[DONE]"
    assert last["choices"][0]["finish_reason"] == "stop"
    labels = [v["label"] for v in last["franq"]["choices"][0]["answer"]["verdicts"]]
    assert labels == ["supported", "false"]
    id = reply.headers["x-franq-report-id"]
    assert last["franq"]["id"] == id
    assert last["franq"]["choices"][0]["answer"]["id"] == "chatcmpl-1"  # the upstream's
    assert proxy.http.get(f"/v1/reports/{id}").json() == last["franq"]


@pytest.mark.parametrize("mode", MODES)
def test_a_silent_stream_says_that_it_lives(proxied, kit, mode, monkeypatch):
    monkeypatch.setattr(streaming_module, "_SILENCE", 0.0)
    proxy = proxied(stream=mode)
    proxy.upstream.reply = streaming(kit, [*kit.chunks(kit.GOOD), kit.DONE])
    parts = proxy.ask(stream=True).content.split(b"\n\n")
    comments = [part for part in parts if part.startswith(b":")]
    assert comments
    assert not any(b"Ann" in comment for comment in comments)
    events = b"\n\n".join(part for part in parts if not part.startswith(b":"))
    assert kit.text_of(kit.events_of(events)) == kit.GOOD


@pytest.mark.parametrize("mode", MODES)
def test_it_also_says_so_while_the_last_check_takes_its_time(proxied, kit, mode, monkeypatch):
    monkeypatch.setattr(streaming_module, "_SILENCE", 0.0)
    go = threading.Event()
    proxy = proxied(kit.guard_of(fail=lambda: go.wait(60)), stream=mode)
    proxy.upstream.reply = streaming(kit, [*kit.chunks(kit.GOOD), kit.DONE])
    body = {"model": "m", "stream": True, "messages": kit.MESSAGES}
    comments, raw = 0, b""
    with proxy.http.stream("POST", "/v1/chat/completions", json=body) as response:
        for piece in response.iter_bytes():
            raw += piece
            comments = raw.count(b": the answer")
            if comments > 20:  # more than while the upstream wrote
                go.set()
    assert comments > 20
    events = b"\n\n".join(part for part in raw.split(b"\n\n") if not part.startswith(b":"))
    assert kit.text_of(kit.events_of(events)) == kit.GOOD


@pytest.mark.parametrize("asked", [False, True])
def test_usage_is_told_as_the_upstream_told_it(proxied, kit, asked):
    usage = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    proxy = proxied()
    tail = b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\n"
    proxy.upstream.reply = streaming(kit, [*kit.chunks(kit.BAD), tail, kit.DONE])
    options = {"stream_options": {"include_usage": True}} if asked else {}
    events = kit.events_of(proxy.ask(stream=True, **options).content)
    assert events[-2]["usage"] == usage
    assert (events[-2]["choices"] == []) == asked
    assert proxy.upstream.bodies[0].get("stream_options") == options.get("stream_options")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_no_byte_tells_of_a_claim_that_must_go(proxied, kit, mode, size):
    """The upstream's bytes come in pieces of any size; the text hides in every field."""
    proxy = proxied(stream=mode)
    text = f"{kit.GOOD} {kit.BAD} {kit.GOOD}"
    logprobs = {"content": [{"token": kit.BAD, "logprob": -0.1, "bytes": None}]}
    hidden = {"logprobs": logprobs, "token_ids": [kit.BAD], "text": kit.BAD}
    raw = b"".join(
        kit.chunk({"content": c, "reasoning_content": kit.BAD, "x": kit.BAD}, i, **hidden)
        for c in (text[at : at + 6] for at in range(0, len(text), 6))
        for i in (0, 1)
    )
    raw += kit.chunk({"refusal": kit.BAD}, 0, top={"prompt_logprobs": kit.BAD})
    raw += kit.chunk({}, 0, "stop") + kit.chunk({}, 1, "length") + kit.DONE
    raw = b": a comment\r\nevent: message\r\n" + raw.replace(b"\n\n", b"\r\n\r\n")
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    proxy.upstream.reply = streaming(kit, pieces)
    events = kit.events_of(proxy.ask(stream=True, n=2, logprobs=True).content)
    shown = json.dumps(without_report(events))
    for word in ("Zebras", "tunes", "midnight"):
        assert word not in shown
    for i in (0, 1):
        seen = kit.text_of(events, i)
        assert seen == f"{kit.GOOD} {kit.GOOD}"
        assert "Zebras" not in seen
    assert "Zebras" not in kit.text_of(events, 0, "refusal")
    assert [e["choices"][0].get("finish_reason") for e in events[-3:-1]] == ["stop", "length"]
    assert "franq" in events[-2]
    assert not any("franq" in e for e in events[:-2])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("unread", ['{"built": "Zebras built the mill."}', "Yes."])
def test_an_answer_that_nobody_read_is_replaced_where_errors_are_closed(proxied, kit, mode, unread):
    guard = kit.guard_of(on_error="closed", replacement="Nothing sure.")
    proxy = proxied(guard, stream=mode)
    proxy.upstream.reply = streaming(kit, [*kit.chunks(unread), kit.DONE])
    events = kit.events_of(proxy.ask(stream=True, messages=ALONE).content)
    assert kit.text_of(events) == "Nothing sure."
    assert unread not in json.dumps(without_report(events))
    assert events[-2]["franq"]["choices"][0]["answer"]["reason"] == "no_claims"


@pytest.mark.parametrize("mode", MODES)
def test_nothing_leaves_while_its_verdict_is_open(proxied, kit, mode):
    go, asked = threading.Event(), threading.Event()

    def wait():
        asked.set()
        assert go.wait(60)

    proxy = proxied(kit.guard_of(fail=wait), stream=mode)
    proxy.upstream.reply = streaming(kit, [*kit.chunks(f"{kit.GOOD} {kit.GOOD}"), kit.DONE])
    seen = b""
    body = {"model": "m", "messages": kit.MESSAGES, "stream": True}
    with proxy.http.stream("POST", "/v1/chat/completions", json=body) as reply:
        for byte in reply.iter_bytes(1):
            seen += byte
            if seen.endswith(b"\n\n") and not go.is_set():
                assert asked.wait(60)  # the check has begun, and only the role was sent
                assert kit.text_of(kit.events_of(seen)) == ""
                go.set()
    assert kit.text_of(kit.events_of(seen)) == f"{kit.GOOD} {kit.GOOD}"


def test_checked_claims_leave_while_the_upstream_is_silent(proxied, kit):
    shown = threading.Event()

    async def pause():
        assert await asyncio.to_thread(shown.wait, 60)

    proxy = proxied()
    text = f"{kit.GOOD} {kit.GOOD} It was"
    proxy.upstream.reply = streaming(
        kit, [*kit.chunks(text)[:-1], pause, kit.chunk({}, 0, "stop"), kit.DONE]
    )
    seen = b""
    body = {"model": "m", "messages": kit.MESSAGES, "stream": True}
    with proxy.http.stream("POST", "/v1/chat/completions", json=body) as reply:
        for piece in reply.iter_bytes():
            seen += piece
            if b"Norwich." in seen:
                shown.set()
    assert kit.events_of(seen)[-1] == "[DONE]"


@pytest.mark.parametrize("none", [None, []])
def test_tool_calls_that_are_none_make_no_chunks(proxied, kit, none):
    """Some servers send such a field with each piece of text."""
    proxy = proxied()
    said = [{"content": piece, "tool_calls": none} for piece in ("Ann Baker built ", "the mill.")]
    end = kit.chunk({"function_call": none}, 0, "stop")
    proxy.upstream.reply = streaming(kit, [*map(kit.chunk, said), end, kit.DONE])
    events = kit.events_of(proxy.ask(stream=True).content)[:-1]
    deltas = [event["choices"][0]["delta"] for event in events]
    first, last = {"role": "assistant", "content": ""}, {}
    assert deltas == [first, {"content": "Ann Baker built the mill."}, last]


def test_tool_calls_pass_at_once(proxied, kit):
    calls = [{"index": 0, "id": "1", "function": {"name": "f", "arguments": "{}"}}]
    proxy = proxied()
    pieces = [kit.chunk({"tool_calls": calls}), kit.chunk({}, 0, "tool_calls"), kit.DONE]
    proxy.upstream.reply = streaming(kit, pieces)
    events = kit.events_of(proxy.ask(stream=True).content)
    assert events[1]["choices"][0]["delta"] == {"tool_calls": calls}
    assert events[2]["choices"][0]["finish_reason"] == "tool_calls"
    assert events[2]["franq"]["status"] == "none"


@pytest.mark.parametrize("mode", MODES)
def test_a_blank_text_comes_as_it_is(proxied, kit, mode):
    """As it does without a stream: some models write line breaks before they call a tool."""
    proxy = proxied(stream=mode)
    proxy.upstream.reply = streaming(kit, [*kit.chunks("\n\n"), kit.DONE])
    events = kit.events_of(proxy.ask(stream=True).content)
    assert (kit.text_of(events), events[-2]["franq"]["status"]) == ("\n\n", "none")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "user", "content": "Who built the mill?"}, "no_evidence"),
        ({"role": "system", "content": "<context>Ann built it.</context>"}, "no_prompt"),
    ],
)
def test_without_passages_or_a_question_every_claim_is_unverified(
    proxied, kit, mode, message, reason
):
    proxy = proxied(kit.guard_of("annotate"), stream=mode)
    proxy.upstream.reply = streaming(kit, [*kit.chunks(kit.GOOD), kit.DONE])
    events = kit.events_of(proxy.ask(stream=True, messages=[message]).content)
    assert kit.text_of(events) == "Ann Baker built the mill in Norwich [unverified]."
    verdicts = events[-2]["franq"]["choices"][0]["answer"]["verdicts"]
    assert [v["reason"] for v in verdicts] == [reason]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_a_check_that_fails_leaves_the_policy_to_decide(proxied, kit, mode, on_error):
    def fail():
        raise RuntimeError("broken")

    guard = kit.guard_of(fail=fail, on_error=on_error, replacement="No.")
    proxy = proxied(guard, stream=mode)
    proxy.upstream.reply = streaming(kit, [*kit.chunks(kit.GOOD), kit.DONE])
    events = kit.events_of(proxy.ask(stream=True).content)
    marked = "Ann Baker built the mill in Norwich [unverified]."
    assert kit.text_of(events) == ("No." if on_error == "closed" else marked)
    assert events[-2]["franq"]["status"] == "unverified"


def test_a_deadline_makes_claims_unverified(proxied, kit):
    class Slow(FakeFaithfulness):
        def score(self, contexts, claims):
            time.sleep(0.2)
            return super().score(contexts, claims)

    proxy = proxied(kit.guard_of("annotate", faithfulness=Slow()))
    proxy.upstream.reply = streaming(kit, [*kit.chunks(kit.GOOD), kit.DONE])
    events = kit.events_of(proxy.ask(stream=True, franq={"deadline": 0.05}).content)
    verdicts = events[-2]["franq"]["choices"][0]["answer"]["verdicts"]
    assert [v["reason"] for v in verdicts] == ["timeout"]


def test_log_probabilities_of_a_stream_come_at_its_end_where_the_text_is_unchanged(proxied, kit):
    told = {"content": [{"token": kit.GOOD, "bytes": None, "logprob": -0.01}]}
    proxy = proxied()
    pieces = [kit.chunk({"content": kit.GOOD}, logprobs=told), kit.chunk({}, 0, "stop"), kit.DONE]
    proxy.upstream.reply = streaming(kit, pieces)
    events = kit.events_of(proxy.ask(stream=True, logprobs=True).content)
    assert events[-2]["choices"][0]["logprobs"] == told
    answer = events[-2]["franq"]["choices"][0]["answer"]
    assert answer["verdicts"][0]["raw"]["uq_faith"] == pytest.approx(-0.01)
    events = kit.events_of(proxy.ask(stream=True).content)
    assert "logprobs" not in events[-2]["choices"][0]


def test_each_log_probability_of_a_stream_is_read_once(proxied, kit, monkeypatch):
    read = []
    add = server_logprobs._Pieces.add

    def noted(pieces, token, **final):
        read.append(token)
        return add(pieces, token, **final)

    monkeypatch.setattr(server_logprobs._Pieces, "add", noted)
    proxy = proxied()
    told = {"content": [{"token": f"{kit.GOOD} ", "bytes": None, "logprob": -0.01}]}
    pieces = [kit.chunk({"content": f"{kit.GOOD} "}, logprobs=told)] * 20
    proxy.upstream.reply = streaming(kit, [*pieces, kit.chunk({}, 0, "stop"), kit.DONE])
    answer = kit.events_of(proxy.ask(stream=True).content)[-2]["franq"]["choices"][0]["answer"]
    assert [v["raw"]["uq_faith"] for v in answer["verdicts"]] == [pytest.approx(-0.01)] * 20
    assert len(read) == 20


def test_listeners_hear_of_streams(proxied, kit):
    proxy = proxied()
    proxy.upstream.reply = streaming(kit, [*kit.chunks(f"{kit.GOOD} {kit.BAD}"), kit.DONE])
    proxy.ask(stream=True)
    metrics = proxy.http.get("/metrics").text
    assert 'franq_checks_total{status="ok"} 1.0' in metrics
    assert 'franq_claims_total{label="false"} 1.0' in metrics


def test_a_long_text_that_takes_its_time_holds_nobody_up(proxied, kit, monkeypatch):
    monkeypatch.setattr(stream_of_claims, "_LONG", 0)
    asked, go, ended = threading.Event(), threading.Event(), []

    class Slow(Policy):
        def so_far(self, text, verdicts):
            asked.set()
            ended.append(go.wait(20))
            return super().so_far(text, verdicts)

    guard = kit.guard_of()
    guard.policy = Slow(action="filter")
    proxy = proxied(guard)
    proxy.upstream.reply = lambda _: (200, kit.STREAM, [*kit.chunks(kit.GOOD), kit.DONE])
    with ThreadPoolExecutor() as pool:
        stream = pool.submit(proxy.ask, stream=True)
        assert asked.wait(60)
        assert proxy.http.get("/healthz").status_code == 200
        assert not ended
        go.set()
        events = kit.events_of(stream.result().content)
    assert (kit.text_of(events), events[-1]) == (kit.GOOD, "[DONE]")
