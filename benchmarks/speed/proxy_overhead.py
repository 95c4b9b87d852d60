"""Measures the proxy's delay of an answer's first text and of its end (`make bench-service`).

A scripted upstream writes one token every 30 ms, over real connections. The same request is sent to
it directly and through the proxy, in turn, in both modes of streaming and without a stream. Figures
are medians over some repeats, as ratios to the upstream alone.

`fakes`: checks take no time, so this is the proxy's own cost. `small`: the small faithfulness model
checks every claim.

The first text cannot be sent before it is checked: with `claims` it is sent when its sentence is
written and checked, with `buffer` when the whole answer is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import statistics
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from served import served

from franq_guard import Guard

PASSAGE = (
    "The Aldwen rises at Corrie Loch and runs for 94 miles to the bay. Barges carried slate down "
    "it until the railway came in 1911. The lock at Pennant is still worked by hand."
)
ANSWER = (
    "The Aldwen runs for 94 miles to the bay. Barges carried slate down it until 1911. "
    "The lock at Pennant is still worked by hand. Herons nest along its banks every spring."
)
BODY = {
    "model": "scripted",
    "messages": [{"role": "user", "content": "What is known of the river Aldwen?"}],
    "documents": [{"title": "Aldwen", "text": PASSAGE}],
}
MODES = ("claims", "buffer")
GUARDS = ("fakes", "small")


@dataclass(frozen=True)
class Times:
    """Medians in seconds. ``first``: until the first text; None without a stream."""

    first: float | None
    total: float


@dataclass(frozen=True)
class Row:
    """Figures of the proxy relative to the upstream alone.

    ``first_of_whole``: time until the first text over the upstream's time for the whole answer.
    """

    guard: str
    stream: str
    first_ratio: float | None
    first_of_whole: float | None
    total_ratio: float
    first: float | None
    total: float


# -- the children ----------------------------------------------------------------------------------


def upstream(options: argparse.Namespace) -> None:
    """Child: an OpenAI-compatible server that writes :data:`ANSWER` word by word with pauses."""
    app = FastAPI()
    words = ANSWER.split(" ")
    tokens = [word + " " for word in words[:-1]] + words[-1:]
    usage = {
        "prompt_tokens": 60,
        "completion_tokens": len(tokens),
        "total_tokens": 60 + len(tokens),
    }
    common = {"id": "scripted-1", "created": 1, "model": "scripted"}

    @app.get("/readyz")
    def ready() -> dict[str, str]:
        return {}

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> Response:
        if (await request.json()).get("stream"):
            return StreamingResponse(events(), media_type="text/event-stream")
        await asyncio.sleep(options.pause * len(tokens))
        message = {"role": "assistant", "content": ANSWER}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        whole = {"object": "chat.completion", "choices": [choice], "usage": usage}
        return JSONResponse(common | whole)

    async def events() -> AsyncIterator[str]:
        for i, token in enumerate(tokens):
            await asyncio.sleep(options.pause)
            yield event({"content": token} if i else {"role": "assistant", "content": token}, None)
        yield event({}, "stop") + "data: [DONE]\n\n"

    def event(delta: dict[str, str], finish: str | None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = common | {"object": "chat.completion.chunk", "choices": [choice]}
        return f"data: {json.dumps(chunk)}\n\n"

    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning", access_log=False)


def proxy(options: argparse.Namespace) -> None:
    """Child: the service in front of ``--upstream``; no request finds what another has read."""
    from franq_bench.overhead import forget
    from franq_guard.faithfulness import SmallFaithfulness
    from franq_guard.serve.app import create_app
    from franq_guard.serve.settings import ServeSettings
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    if options.guard == "small":
        small = SmallFaithfulness.bundled()
        guard = Guard(faithfulness=small, uq_faith="max-nli", uq_unfaith="faithfulness")
    else:
        guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    app = create_app(guard, ServeSettings(upstream=options.upstream, stream=options.stream))

    async def fresh(scope: Any, receive: Any, send: Any) -> None:
        forget(guard)
        await app(scope, receive, send)

    uvicorn.run(fresh, host="127.0.0.1", port=options.port, log_level="warning", access_log=False)


ROLES: dict[str, Callable[[argparse.Namespace], None]] = {"upstream": upstream, "proxy": proxy}


@contextmanager
def child(role: str, *words: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    with served([sys.executable, __file__, "--role", role, *words]) as (url, _):
        yield url


# -- the client ------------------------------------------------------------------------------------


def once(http: httpx.Client, url: str, streamed: bool) -> Times:
    """One request: seconds until the first text and until the end."""
    began, first = perf_counter(), None
    body = BODY | {"stream": streamed}
    with http.stream("POST", f"{url}/v1/chat/completions", json=body) as reply:
        reply.raise_for_status()
        for line in reply.iter_lines():
            if streamed and first is None and _has_text(line):
                first = perf_counter() - began
    return Times(first, perf_counter() - began)


def _has_text(line: str) -> bool:
    if not line.startswith("data: {"):
        return False
    choices = json.loads(line[6:]).get("choices") or [{}]
    return bool((choices[0].get("delta") or {}).get("content"))


def in_turn(urls: list[str], streamed: bool, repeats: int) -> list[Times]:
    """The median times of each address; they take turns, so that load affects all alike."""
    with httpx.Client(timeout=120) as http:
        for url in urls:
            once(http, url, streamed)  # the warm-up
        rounds = [[once(http, url, streamed) for url in urls] for _ in range(repeats)]
    found = []
    for column in zip(*rounds, strict=True):
        firsts = [times.first for times in column if times.first is not None]
        first = statistics.median(firsts) if firsts else None
        found.append(Times(first, statistics.median(times.total for times in column)))
    return found


def measure(guard: str, repeats: int, pause: float) -> tuple[list[Times], list[Row]]:
    """Measure both modes of streaming and no stream, each beside the upstream alone."""
    with child("upstream", "--pause", str(pause)) as bare:
        words = ("--upstream", f"{bare}/v1", "--guard", guard)
        with (
            child("proxy", *words, "--stream", "claims") as claims,
            child("proxy", *words, "--stream", "buffer") as buffer,
        ):
            alone, *streams = in_turn([bare, claims, buffer], True, repeats)
            unstreamed, whole = in_turn([bare, claims], False, repeats)
    rows = [row(guard, mode, alone, found) for mode, found in zip(MODES, streams, strict=True)]
    return [alone, unstreamed], [*rows, row(guard, "no stream", unstreamed, whole)]


def row(guard: str, stream: str, bare: Times, found: Times) -> Row:
    first = found.first / bare.first if found.first and bare.first else None
    share = found.first / bare.total if found.first else None
    return Row(guard, stream, first, share, found.total / bare.total, found.first, found.total)


def line(one: Row) -> str:
    first = "" if one.first_ratio is None else f"{one.first_ratio:.1f} ({one.first_of_whole:.2f})"
    return f"{one.guard:<8}{one.stream:<12}{first:>32}{one.total_ratio:>15.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pause", type=float, default=0.03, help="seconds a token of the upstream")
    parser.add_argument("--guard", choices=GUARDS, help="only this one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--role", choices=tuple(ROLES), help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--upstream", help=argparse.SUPPRESS)
    parser.add_argument("--stream", choices=MODES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if options.role:
        logging.getLogger("franq_guard").setLevel(logging.ERROR)  # known: uncalibrated
        ROLES[options.role](options)
        return
    found = {}
    for guard in (options.guard,) if options.guard else GUARDS:
        (alone, _), found[guard] = measure(guard, options.repeats, options.pause)
        if not options.json:
            print(f"bare upstream: first text {alone.first:.2f} s, all of it {alone.total:.2f} s")
            print("guard   stream      first text (of the whole answer)   whole answer   as ratios")
            for one in found[guard]:
                print(line(one), flush=True)
    if options.json:
        print(json.dumps([asdict(one) for rows in found.values() for one in rows]))


if __name__ == "__main__":
    main()
