"""The web example under test: its module, and a browser's side of one request, played by hand.

Not httpx: its transport hands a response over when it is complete, and never leaves early.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
from pathlib import Path

from langchain_core.outputs import GenerationChunk
from langchain_core.runnables import Runnable, RunnableParallel, RunnablePassthrough
from pydantic import PrivateAttr

from .fakes import RunRetriever, ScriptedLLM, format_docs

EXAMPLE = Path(__file__).parents[3] / "examples" / "langchain_web"


def load_example():
    """The example's ``app.py`` as a module."""
    spec = importlib.util.spec_from_file_location("langchain_web", EXAMPLE / "app.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Writer(ScriptedLLM):
    """Writes what ``script(prompt)`` yields; ``closed`` counts its streams that are over."""

    _script = PrivateAttr()
    _closed = PrivateAttr(default=0)

    def __init__(self, script):
        super().__init__()
        self._script = script

    @property
    def closed(self):
        return self._closed

    def _stream(self, prompt, stop=None, run_manager=None, **kwargs):
        try:
            for piece in self._script(prompt):
                for word in re.findall(r"\s*\S+|\s+$", piece):
                    chunk = GenerationChunk(text=word)
                    if run_manager:
                        run_manager.on_llm_new_token(word, chunk=chunk)
                    yield chunk
        finally:
            self._closed += 1


def rag(writer, retriever=None) -> Runnable:
    """A chain like the local one: a question in, ``question``, ``context`` and ``answer`` out."""

    def prompt(found):
        return f"{format_docs(found['context'])}\n\n{found['question']}"

    found = RunnableParallel(question=RunnablePassthrough(), context=retriever or RunRetriever())
    return found | RunnablePassthrough.assign(answer=prompt | writer)


class Visit:
    """One request of a browser to an ASGI app; leave the ``async with`` and it has gone."""

    def __init__(self, app, question=None, *, path="/ask", body=None):
        self._app, self._sent, self._gone = app, asyncio.Queue(), asyncio.Event()
        given = json.dumps({"question": question}) if body is None else body
        self._body = given.encode()
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},  # as uvicorn says
            "http_version": "1.1",
            "method": "POST" if path == "/ask" else "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
        }

    async def __aenter__(self):
        self._asked = False
        self.task = asyncio.create_task(self._app(self._scope, self._receive, self._sent.put))
        start = await self._next()
        self.status = start["status"]
        self.headers = {k.decode().lower(): v.decode() for k, v in start["headers"]}
        return self

    async def __aexit__(self, *_):
        self._gone.set()
        await asyncio.wait_for(self.task, 60)

    async def _receive(self):
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _next(self):
        return await asyncio.wait_for(self._sent.get(), 120)

    async def chunks(self):
        """The body as it comes."""
        more = True
        while more:
            message = await self._next()
            more = message.get("more_body", False)
            yield message.get("body", b"")

    async def body(self):
        return b"".join([chunk async for chunk in self.chunks()])

    async def events(self):
        """The server-sent events as they come, read as the standard says: (event, data)."""
        held = b""
        async for chunk in self.chunks():
            *blocks, held = (held + chunk).split(b"\n\n")
            for block in blocks:
                lines = [line.partition(": ") for line in block.decode().split("\n")]
                fields = {name: value for name, _, value in lines if name}
                if fields:
                    yield fields["event"], json.loads(fields["data"])

    async def all_events(self):
        return [event async for event in self.events()]

    def waiting(self):
        """How many messages have come unread."""
        return self._sent.qsize()


def texts(events):
    """The answer as the page shows it."""
    parts = [part for name, data in events if name == "claim" for part in data["parts"]]
    return "".join(part["text"] for part in parts)
