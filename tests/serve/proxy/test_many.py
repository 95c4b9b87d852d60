"""Sixty streams at once, each with a secret of its own: none mixed, none early."""

import asyncio
import re
import threading

import httpx
import pytest

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
    proxy = proxied(kit.guard_of(faithfulness=recording), stream=mode)

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
