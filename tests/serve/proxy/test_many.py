"""Many streams at once, each with a secret of its own: none mixed, none early, none too many."""

import asyncio
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import httpx
import pytest

from franq_guard.serve.proxy import judge as judge_module
from franq_guard.streaming.stream import ClaimStream
from franq_guard.testing import FakeFaithfulness

STREAMS = 60
SECRET = re.compile(r"S\d{4}X")


def fact_of(i):
    return f"The code of the vault is S{i:04}X."


class Recording(FakeFaithfulness):
    """Keeps which secrets were scored, and under whose passages."""

    def __init__(self):
        super().__init__()
        self.scored, self.mixed, self.lock = set(), [], threading.Lock()

    def score(self, contexts, claims):
        found = super().score(contexts, claims)
        with self.lock:
            for context, claim in zip(contexts, claims, strict=True):
                told, own = SECRET.findall(claim), SECRET.findall(context)
                self.scored |= set(told)
                self.mixed += [] if set(told) <= set(own) else [(context, claim)]
        return found


@pytest.mark.parametrize("mode", ["claims", "buffer"])
def test_none_is_mixed_and_none_is_early(proxied, kit, mode):
    recording = Recording()
    proxy = proxied(kit.guard_of(faithfulness=recording), stream=mode, streams=STREAMS)

    def reply(body):
        own = SECRET.search(body["messages"][0]["content"]).group()
        fact = fact_of(int(own[1:5]))
        return 200, kit.STREAM, [*kit.chunks(f"{fact} {kit.BAD} {kit.GOOD}", 9), kit.DONE]

    proxy.upstream.reply = reply

    async def one(client, i):
        content = f"<context>{fact_of(i)} {kit.GOOD}</context> What is the code?"
        body = {"model": "m", "messages": [{"role": "user", "content": content}], "stream": True}
        seen, early = b"", []
        async with client.stream("POST", "/v1/chat/completions", json=body) as response:
            assert response.status_code == 200
            async for piece in response.aiter_bytes():
                seen += piece
                shown = set(SECRET.findall(seen.decode(errors="replace")))
                early += shown - recording.scored
        return seen.decode(), early

    async def all_of_them():
        limits = httpx.Limits(max_connections=STREAMS)
        async with httpx.AsyncClient(
            base_url=proxy.url, limits=limits, timeout=120, trust_env=False
        ) as client:
            return await asyncio.gather(*(one(client, i) for i in range(STREAMS)))

    for i, (seen, early) in enumerate(asyncio.run(all_of_them())):
        assert early == []
        assert set(SECRET.findall(seen)) == {f"S{i:04}X"}
        assert kit.text_of(kit.events_of(seen.encode())) == f"{fact_of(i)} {kit.GOOD}"
    assert recording.mixed == []


def streamed_at_last(proxy):
    """The reply once the proxy has closed the stream before, which is after its last byte."""
    for _ in range(600):
        if (reply := proxy.ask(stream=True)).status_code != 503:
            break
        threading.Event().wait(0.05)
    return reply


def test_one_stream_more_than_may_be_checked_is_503_with_retry_after(proxied, kit):
    proxy, go = proxied(stream="claims", streams=1), threading.Event()

    async def wait():
        assert await asyncio.to_thread(go.wait, 60)

    def reply(body):
        if not body.get("stream"):
            return kit.completion(kit.GOOD)
        return 200, kit.STREAM, [kit.chunk({"role": "assistant"}), wait, kit.DONE]

    proxy.upstream.reply = reply
    body = {"model": "m", "messages": kit.MESSAGES, "stream": True}
    with proxy.http.stream("POST", "/v1/chat/completions", json=body) as first:
        assert first.status_code == 200
        refused, whole = proxy.ask(stream=True), proxy.ask()
        go.set()
        first.read()
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "queue_full")
    assert int(refused.headers["retry-after"]) >= 1
    assert whole.status_code == 200  # checked in the rounds, without threads of its own
    assert len(proxy.upstream.bodies) == 2  # the model is not asked in vain
    assert streamed_at_last(proxy).status_code == 200


def test_each_choice_of_a_stream_takes_a_place(proxied, kit):
    proxy, go = proxied(stream="claims", streams=3), threading.Event()

    async def wait():
        assert await asyncio.to_thread(go.wait, 60)

    def reply(body):
        choices = [kit.chunks(kit.GOOD, index=i) for i in range(body["n"])]
        return 200, kit.STREAM, [wait, *chain(*choices), kit.DONE]

    proxy.upstream.reply = reply
    body = {"model": "m", "messages": kit.MESSAGES, "stream": True, "n": 2}
    with proxy.http.stream("POST", "/v1/chat/completions", json=body) as first:
        assert first.status_code == 200
        refused = proxy.ask(stream=True, n=2)  # one place is left
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "queue_full")
        with ThreadPoolExecutor() as pool:
            last = pool.submit(proxy.ask, stream=True, n=1)
            while len(proxy.upstream.bodies) < 2:
                threading.Event().wait(0.001)
            go.set()
            assert kit.text_of(kit.events_of(last.result(60).content)) == kit.GOOD
        events = kit.events_of(first.read())
    assert [kit.text_of(events, i) for i in (0, 1)] == [kit.GOOD] * 2


def test_a_refusal_beside_the_content_needs_no_second_stream_of_claims(proxied, kit, monkeypatch):
    proxy, streams = proxied(stream="claims"), []

    class Counted(ClaimStream):
        def __init__(self, *args, **more):
            streams.append(self)
            super().__init__(*args, **more)

    monkeypatch.setattr(judge_module, "ClaimStream", Counted)
    texts = {"content": f"{kit.GOOD} {kit.BAD}", "refusal": f"{kit.BAD} {kit.GOOD}"}
    pieces = [kit.chunk({name: text}) for name, text in texts.items()]
    end = [kit.chunk({}, 0, "stop"), kit.DONE]
    proxy.upstream.reply = lambda body: (200, kit.STREAM, [*pieces, *end])
    events = kit.events_of(proxy.ask(stream=True).content)
    assert [kit.text_of(events, 0, name) for name in texts] == [kit.GOOD, kit.GOOD]
    assert [choice["field"] for choice in events[-2]["franq"]["choices"]] == [*texts]
    assert len(streams) == 1  # a choice takes one place, so it may have the threads of one stream


@pytest.mark.parametrize(
    ("n", "code"), [(4, "too_many_choices"), (0, "bad_request"), ("2", "bad_request")]
)
def test_a_stream_of_more_choices_than_there_are_places_is_422(proxied, kit, n, code):
    proxy = proxied(stream="claims", streams=3)
    refused = proxy.ask(stream=True, n=n)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, code)
    assert proxy.upstream.bodies == []


@pytest.mark.parametrize("n", [None, 1])
def test_choices_that_nobody_asked_for_end_the_stream(proxied, kit, n):
    proxy = proxied(stream="claims")
    pieces = [*kit.chunks(kit.GOOD), *kit.chunks(kit.BAD, index=1), kit.DONE]
    proxy.upstream.reply = lambda body: (200, kit.STREAM, pieces)
    events = kit.events_of(proxy.ask(stream=True, n=n).content)
    assert events[-1]["error"]["code"] == "upstream_malformed"
    assert kit.text_of(events, 1) == ""


def test_streams_that_fail_or_whose_client_leaves_give_their_place_back(proxied, kit):
    proxy, go = proxied(stream="claims", streams=1), threading.Event()

    async def wait():
        assert await asyncio.to_thread(go.wait, 60)

    replies = [
        (500, {"content-type": "application/json"}, [b"{}"]),
        kit.completion(kit.GOOD),  # no stream, which was asked for
        (200, kit.STREAM, [kit.chunk({"role": "assistant"}), wait]),
        (200, kit.STREAM, [*kit.chunks(kit.GOOD), kit.DONE]),
    ]
    proxy.upstream.reply = lambda body: replies.pop(0)
    assert [proxy.ask(stream=True).status_code for _ in "12"] == [500, 502]
    body = {"model": "m", "messages": kit.MESSAGES, "stream": True}
    with proxy.http.stream("POST", "/v1/chat/completions", json=body) as left:
        assert left.status_code == 200
    assert proxy.upstream.left.wait(60)
    last = streamed_at_last(proxy)
    go.set()
    assert last.status_code == 200


def test_buffered_streams_are_not_limited_so(proxied, kit):
    proxy, both = proxied(stream="buffer", streams=1), threading.Barrier(2)

    async def meet():
        await asyncio.to_thread(both.wait, 60)

    proxy.upstream.reply = lambda body: (200, kit.STREAM, [meet, *kit.chunks(kit.GOOD), kit.DONE])
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(proxy.ask, stream=True) for _ in "12"]
        assert [reply.result(60).status_code for reply in asked] == [200, 200]
