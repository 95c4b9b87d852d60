"""A web page on which the claims of an answer appear as they are checked, each in its colour.

pip install -c constraints.txt ".[offline]" "integrations/langchain[local,web]"
python examples/langchain_web/app.py          # then open http://127.0.0.1:8000
python examples/langchain_web/app.py --docs notes   # over a folder of your .txt and .md files
"""

import argparse
import logging
import re
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI
from fastapi.sse import EventSourceResponse, ServerSentEvent
from fastapi.staticfiles import StaticFiles
from langchain_core.runnables import Runnable
from pydantic import BaseModel, StringConstraints
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from franq_guard import Guard, Passage, Verdict
from franq_guard.datasets.demo import corpus
from franq_guard.datasets.documents import read_folder
from franq_guard.policy import ANY_MARK, Policy
from franq_guard.records import Label
from franq_guard.report.stretches import Stretch, stretch_against, stretch_for
from franq_guard.report.words import LABEL_WORDS, NUMBER_WORDS, REASON_WORDS, difference_words
from franq_guard.streaming.release import Released
from langchain_franq import guard_chain
from langchain_franq.local import local_rag_chain

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
MARK = re.compile(f"( (?:{ANY_MARK.pattern}))")
# If several claims share a part of the text, the first of these labels decides its colour.
WORST: tuple[Label, ...] = (
    *Policy().marked, "unclear", "unsupported-true", "supported", "not-a-claim",
)  # fmt: skip
EXAMPLES = (
    "Who first climbed Mount Everest, and how high is the mountain?",
    "What are the two moons of Mars called, and why does Mars look red?",
    "What is the chemical symbol of gold, and what is that of silver?",
)
Rag = Runnable[str, dict[str, Any]]
Event = tuple[str, dict[str, Any]]

log = logging.getLogger("uvicorn.error")


class Asked(BaseModel):
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


def make_app(rag: Rag, guard: Guard, *, examples: Sequence[str] = ()) -> FastAPI:
    """Build the page and its endpoint; ``examples`` are questions that it offers.

    ``rag`` is a chain like :func:`local_rag_chain`: it takes a question and yields dicts with the
    Documents under ``context`` (the model must be shown all of them) and the text under ``answer``.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.post("/ask", response_class=EventSourceResponse)
    async def ask(asked: Asked) -> AsyncIterator[ServerSentEvent]:
        async with aclosing(events(rag, guard, asked.question)) as told:
            async for event, data in told:
                yield ServerSentEvent(event=event, data=data)

    @app.get("/words")
    async def words() -> dict[str, Any]:
        return {**words_for(guard.policy), "examples": list(examples)}

    app.mount("/", StaticFiles(directory=Path(__file__).parent / "static", html=True))
    app.add_middleware(Headers)
    return app


def words_for(policy: Policy) -> dict[str, Any]:
    """The page's words for labels and reasons; claims with ``weak`` labels count as flagged."""
    labels = {label: words._asdict() for label, words in LABEL_WORDS.items()}
    return {
        "labels": labels,
        "reasons": dict(REASON_WORDS),
        "numbers": dict(NUMBER_WORDS),
        "worst": WORST,
        "weak": list(policy.weak),
    }


async def events(rag: Rag, guard: Guard, question: str) -> AsyncGenerator[Event, None]:
    """Yield ``passages``, a ``claim`` for each piece of checked text, then ``done``; or ``error``.

    Each question gets its own guarded chain, so that ``on_claim`` receives only its claims; making
    one takes milliseconds. Closing the generator (when the browser disconnects) stops the model.
    """
    released: deque[Released] = deque()
    passages: list[Passage] = []
    chain = guard_chain(rag, guard, stream="claims", on_claim=released.append)
    try:
        async with aclosing(chain.astream(question)) as chunks:
            async for chunk in chunks:
                if "context" in chunk:
                    found = chunk["context"]
                    passages = [Passage(d.page_content, d.metadata["title"]) for d in found]
                    shown = [{"title": p.title, "text": p.text} for p in passages]
                    yield "passages", {"passages": shown}
                while released:
                    yield "claim", claim_event(released.popleft(), passages)
                if "franq" in chunk:
                    report = chunk["franq"]
                    seconds = sum(report["timings"].values())
                    yield "done", {"status": report["status"], "seconds": seconds}
    except Exception:  # the response has begun, so the error must be sent as an event
        log.exception("an answer was not finished")
        yield "error", {"message": "The answer could not be finished: see the server's log."}


def claim_event(released: Released, passages: list[Passage]) -> dict[str, Any]:
    """The event for a released piece: its text in parts, and the claims stated there."""
    parts = [{"text": text, "claims": claims} for text, claims in parts_of(released)]
    return {"parts": parts, "claims": [_claim(v, passages) for v in released.verdicts]}


def parts_of(released: Released) -> list[tuple[str, list[int]]]:
    """Split the text where claims begin and end; each part has the indices of its verdicts.

    A mark that the policy inserted belongs to the part before it. If the policy changed the text in
    another way, the whole text is one part.
    """
    everyone = tuple(range(len(released.verdicts)))
    owners: list[tuple[int, ...]] = []
    at = released.start
    for i, piece in enumerate(MARK.split(released.text)):
        if i % 2:  # a mark
            owners += [owners[-1] if owners else everyone] * len(piece)
        else:
            owners += [_stated_at(c, released.verdicts) for c in range(at, at + len(piece))]
            at += len(piece)
    if at != released.end:
        owners = [everyone] * len(released.text)
    runs = groupby(zip(released.text, owners, strict=True), key=lambda pair: pair[1])
    return [("".join(char for char, _ in run), list(of)) for of, run in runs]


def _stated_at(character: int, verdicts: tuple[Verdict, ...]) -> tuple[int, ...]:
    return tuple(
        i
        for i, verdict in enumerate(verdicts)
        if any(start <= character < end for start, end in verdict.claim.spans)
    )


def _claim(verdict: Verdict, passages: list[Passage]) -> dict[str, Any]:
    return {
        "text": verdict.claim.text,
        "label": verdict.label,
        "reason": verdict.reason,
        "p_true": verdict.p_true,
        "p_faithful": verdict.p_faithful,
        "evidence": _shown(stretch_for(verdict, passages)),
        "against": _shown(stretch_against(verdict, passages)),
        "differs": [difference_words(*pair) for pair in verdict.differs],
    }


def _shown(stretch: Stretch | None) -> dict[str, str] | None:
    return stretch and {"lead": stretch.lead, "text": stretch.text}


class Headers:
    """Adds ``HEADERS`` to every response; plain ASGI, so that streams are not buffered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, with_headers)


def main(guard: Guard, *, port: int, docs: Path | None = None) -> None:
    try:
        passages = corpus() if docs is None else read_folder(docs)
    except (ValueError, OSError) as error:
        raise SystemExit(str(error)) from None
    rag = local_rag_chain(passages, guard.language_model, max_new_tokens=160)
    guard.faithfulness  # noqa: B018  (load it now, not at the first question)
    app = make_app(rag, guard, examples=EXAMPLES if docs is None else ())
    uvicorn.run(app, host="127.0.0.1", port=port, limit_concurrency=32)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--docs", type=Path, help="folder of .txt and .md files to ask about")
    options = parser.parse_args()
    main(Guard.offline(), port=options.port, docs=options.docs)
