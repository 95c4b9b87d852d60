"""The clients that applications use already, told another ``base_url`` and no more."""

import asyncio

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI


@pytest.fixture
def proxy(proxied, kit):
    made = proxied(tokens=("ours",))
    text = f"{kit.GOOD} {kit.BAD}"

    def reply(body):
        if body is None:
            return 200, {"content-type": "application/json"}, [b'{"object": "list", "data": []}']
        if body.get("stream"):
            return 200, kit.STREAM, [*kit.chunks(text), kit.DONE]
        return kit.completion(text)

    made.upstream.reply = reply
    return made


def options(proxy, client):
    return {
        "base_url": f"{proxy.url}/v1",
        "api_key": "theirs",
        "default_headers": {"x-franq-token": "ours"},
        "max_retries": 0,
        "http_client": client,
    }


def test_openai(proxy, kit):
    with openai.OpenAI(**options(proxy, httpx.Client(trust_env=False))) as client:
        ask = {"model": "m", "messages": kit.MESSAGES}
        raw = client.chat.completions.with_raw_response.create(**ask)
        reply = raw.parse()
        assert reply.choices[0].message.content == kit.GOOD
        assert reply.franq["status"] == "ok"
        assert raw.headers["x-franq-warnings"] == "false"
        chunks = list(client.chat.completions.create(**ask, stream=True))
        said = [chunk.choices[0].delta.content or "" for chunk in chunks]
        assert "".join(said) == kit.GOOD
        assert chunks[-1].franq["warnings"] == ["false"]
        assert client.models.list().data == []
        own = {"franq": {"passages": [kit.BAD]}}
        checked = client.chat.completions.create(**ask, extra_body=own)
        assert checked.choices[0].message.content == kit.BAD
    assert proxy.upstream.requests[0][1]["authorization"] == "Bearer theirs"


def test_openai_without_waiting(proxy, kit):
    async def ask():
        async with openai.AsyncOpenAI(
            **options(proxy, httpx.AsyncClient(trust_env=False))
        ) as client:
            body = {"model": "m", "messages": kit.MESSAGES}
            reply = await client.chat.completions.create(**body)
            stream = await client.chat.completions.create(**body, stream=True)
            said = [chunk.choices[0].delta.content or "" async for chunk in stream]
            return reply.choices[0].message.content, "".join(said)

    assert asyncio.run(ask()) == (kit.GOOD, kit.GOOD)


def test_openai_is_told_of_errors(proxy, kit):
    with openai.OpenAI(**options(proxy, httpx.Client(trust_env=False))) as client:
        body = {"model": "m", "messages": kit.MESSAGES}
        proxy.upstream.reply = lambda _: (401, {}, [b'{"error": {"message": "no such key"}}'])
        with pytest.raises(openai.AuthenticationError, match="no such key"):
            client.chat.completions.create(**body)
        broken = [*kit.chunks(f"{kit.GOOD} {kit.BAD} And then Zeb")[:-1], RuntimeError()]
        proxy.upstream.reply = lambda _: (200, kit.STREAM, broken)
        seen, stream = [], client.chat.completions.create(**body, stream=True)
        with pytest.raises(openai.APIError, match="broke off"):
            seen.extend(chunk.choices[0].delta.content or "" for chunk in stream)
        assert "".join(seen) == kit.GOOD


def test_langchain(proxy, kit):
    with httpx.Client(trust_env=False) as client:
        given = options(proxy, client)
        model = ChatOpenAI(model="m", **given)
        asked = kit.MESSAGES[0]["content"]
        assert model.invoke(asked).content == kit.GOOD
        assert "".join(chunk.text for chunk in model.stream(asked)) == kit.GOOD


def test_langchain_without_waiting(proxy, kit):
    async def ask():
        async with httpx.AsyncClient(trust_env=False) as client:
            given = {k: v for k, v in options(proxy, None).items() if k != "http_client"}
            model = ChatOpenAI(model="m", http_async_client=client, **given)
            asked = kit.MESSAGES[0]["content"]
            reply = await model.ainvoke(asked)
            said = [chunk.text async for chunk in model.astream(asked)]
            return reply.content, "".join(said)

    assert asyncio.run(ask()) == (kit.GOOD, kit.GOOD)
