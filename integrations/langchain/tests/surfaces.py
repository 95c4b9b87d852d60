"""Every guarded surface behind one face, so that a test says its rule once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypedDict

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph

from franq_guard.streaming.release import Release
from langchain_franq import FranqMiddleware, capture, guard_chain, guard_node

from .fakes import (
    TEMPLATE,
    RunRetriever,
    ScriptedAgent,
    ScriptedChat,
    ScriptedLLM,
    format_docs,
    lcel,
)


@dataclass(frozen=True)
class Surface:
    """A guarded ``runnable``: what it is given for a question, and its checked text.

    ``read`` takes an output, ``shown`` the chunks of a stream.
    """

    runnable: Runnable[Any, Any]
    ask: Callable[[str], Any] = lambda question: question
    read: Callable[[Any], str] = str
    shown: Callable[[list[Any]], str] = "".join
    options: dict[str, Any] | None = None

    def invoke(self, question: str) -> str:
        return self.read(self.runnable.invoke(self.ask(question)))

    async def ainvoke(self, question: str) -> str:
        return self.read(await self.runnable.ainvoke(self.ask(question)))

    def stream(self, question: str) -> str:
        return self.shown(list(self.runnable.stream(self.ask(question), **(self.options or {}))))

    async def astream(self, question: str) -> str:
        chunks = self.runnable.astream(self.ask(question), **(self.options or {}))
        return self.shown([chunk async for chunk in chunks])

    def batch(self, questions: list[str]) -> list[str]:
        outputs = self.runnable.batch([*map(self.ask, questions)], {"max_concurrency": 8})
        return [*map(self.read, outputs)]

    async def abatch(self, questions: list[str]) -> list[str]:
        return [*map(self.read, await self.runnable.abatch([*map(self.ask, questions)]))]


WAYS = ("threads", "batch", "abatch", "gather", "stream", "astream")


def run_all(surface: Surface, way: str, questions: list[str]) -> list[str]:
    """The checked texts of all ``questions``, asked at once in one of the ``WAYS``."""

    async def gathered(one):
        return await asyncio.gather(*map(one, questions))

    def threads(one):
        with ThreadPoolExecutor(16) as pool:
            return list(pool.map(one, questions))

    return {
        "threads": lambda: threads(surface.invoke),
        "batch": lambda: surface.batch(questions),
        "abatch": lambda: asyncio.run(surface.abatch(questions)),
        "gather": lambda: asyncio.run(gathered(surface.ainvoke)),
        "stream": lambda: threads(surface.stream),
        "astream": lambda: asyncio.run(gathered(surface.astream)),
    }[way]()


def run_once(surface: Surface, way: str, question: str) -> str:
    """The checked text of one question, asked in one of the ``WAYS``."""
    return run_all(surface, way, [question])[0]


def chain(guard: Any, *, model: Any = None, retriever: Any = None, **options: Any) -> Surface:
    return Surface(guard_chain(lcel(model or ScriptedLLM(), retriever), guard, **options))


def chat_chain(guard: Any, *, model: Any = None, retriever: Any = None, **options: Any) -> Surface:
    """A chain whose output is a message."""
    inner = lcel(model or ScriptedChat(), retriever, parse=False)
    return Surface(guard_chain(inner, guard, **options), read=_text, shown=_last_text)


def agent(guard: Any, *, model: Any = None, retriever: Any = None, **options: Any) -> Surface:
    found = retriever or RunRetriever()

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search the archive."""
        documents = found.invoke(query)
        return format_docs(documents), documents

    built = create_agent(
        model or ScriptedAgent(), [search], middleware=[FranqMiddleware(guard, **options)]
    )
    return Surface(
        built,
        ask=lambda question: {"messages": [HumanMessage(question)]},
        read=lambda state: _text(state["messages"][-1]),
        shown=lambda chunks: _text(chunks[-1][0]),
        options={"stream_mode": "messages"},
    )


class State(TypedDict, total=False):
    question: str
    context: list[Document]
    answer: Any
    franq: dict[str, Any]


def graph(guard: Any, *, model: Any = None, retriever: Any = None, **options: Any) -> Surface:
    found, writer = retriever or RunRetriever(), model or ScriptedChat()

    def retrieve(state: State) -> State:
        return {"context": found.invoke(state["question"])}

    def write(state: State) -> State:
        return {"answer": writer.invoke(_prompt(state["question"], state["context"]))}

    async def awrite(state: State) -> State:
        return {"answer": await writer.ainvoke(_prompt(state["question"], state["context"]))}

    built = StateGraph(State)
    built.add_node("retrieve", retrieve)
    built.add_node("write", guard_node(guard, RunnableLambda(write, awrite), **options))
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "write")
    built.add_edge("write", END)
    return Surface(
        built.compile(),
        ask=lambda question: {"question": question},
        read=lambda state: _text(state["answer"]),
        shown=lambda chunks: _text(chunks[-1]["write"]["answer"]),
        options={"stream_mode": "updates"},
    )


def function(guard: Any, *, model: Any = None, retriever: Any = None, **options: Any) -> Surface:
    """A plain function that retrieves and asks, within ``capture``."""
    found, writer = retriever or RunRetriever(), model or ScriptedLLM()
    release = Release(**options)

    def answer(question: str) -> str:
        with capture(writer) as run:
            prompt = _prompt(question, found.invoke(question))
            said = "".join(map(_text, writer.stream(prompt)))
        return release(run.check(guard, question, said)).text

    async def aanswer(question: str) -> str:
        with capture(writer) as run:
            prompt = _prompt(question, await found.ainvoke(question))
            said = _text(await writer.ainvoke(prompt))
        return release(await run.acheck(guard, question, said)).text

    return Surface(RunnableLambda(answer, aanswer))


SURFACES = {made.__name__: made for made in (chain, chat_chain, agent, graph, function)}


def _prompt(question: str, documents: list[Document]) -> str:
    return TEMPLATE.format(context=format_docs(documents), question=question)


def _text(said: Any) -> str:
    return said if isinstance(said, str) else str(said.text)


def _last_text(chunks: list[Any]) -> str:
    return _text(chunks[-1])
