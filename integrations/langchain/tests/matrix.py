"""Every guarded surface, every way its output can be looked at: what does a reader see?

A cell runs the application and looks for three secrets: the answer's text, the model's reasoning,
and the tokens of its log-probabilities. ``checked``: the text is there with the guard's mark only;
``hidden``: it is not there; ``refused``: an exception says what to use; ``raw`` must not be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import ModelFallbackMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import BaseModel

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness, FakeGuard
from langchain_franq import FranqMiddleware, guard_chain, guard_node

ANSWER, REASONING, TOKEN = "The tower has ninety steps.", "I reason secretly", "token-of-ninety"
WORDS = "has ninety steps"
MARKS = ("[checked:", "[unverified]")

Shown = list[Any]
"""What a reader was shown, in order."""


class Secretive(BaseChatModel):
    """Answers with all three secrets; ``fails`` breaks instead."""

    fails: bool = False

    @property
    def _llm_type(self) -> str:
        return "secretive"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        if self.fails:
            raise ConnectionError("busy")
        message = AIMessage(
            [{"type": "reasoning", "reasoning": REASONING}, {"type": "text", "text": ANSWER}],
            response_metadata={"logprobs": {"content": [{"token": TOKEN, "logprob": -1.0}]}},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        if self.fails:
            raise ConnectionError("busy")
        yield self._chunk(run_manager, {"type": "reasoning", "reasoning": REASONING, "index": 0})
        for i in range(0, len(ANSWER), 9):
            piece = ANSWER[i : i + 9]
            yield self._chunk(run_manager, {"type": "text", "text": piece, "index": 1})

    def _chunk(self, run_manager, block) -> ChatGenerationChunk:
        logprobs = {"logprobs": {"content": [{"token": TOKEN, "logprob": -1.0}]}}
        message = AIMessageChunk([block], response_metadata=logprobs)
        chunk = ChatGenerationChunk(message=message)
        if run_manager:
            run_manager.on_llm_new_token("", chunk=chunk)
        return chunk


class State(TypedDict, total=False):
    question: str
    context: str
    answer: Any
    messages: Annotated[list, add_messages]
    franq: dict[str, Any]


def _graph(name: str, node: Any) -> Any:
    built = StateGraph(State)
    built.add_node(name, node)
    built.add_edge(START, name)
    built.add_edge(name, END)
    return built.compile()


def _write(state: State) -> State:
    said = Secretive().invoke(state["question"])
    return {"answer": said.text, "messages": [said]}


ASKED = RunnableLambda(lambda given: given["question"] if isinstance(given, dict) else given)


def _string(guard: Any, **options: Any) -> Any:
    """Named, because LangChain joins the handlers of such a chain with those of the run outside."""
    made = (ASKED | Secretive() | StrOutputParser()).with_config(run_name="rag")
    return guard_chain(made, guard, **options)


def _message(guard: Any, **options: Any) -> Any:
    return guard_chain(ASKED | Secretive(), guard, **options)


def _dict(guard: Any, **options: Any) -> Any:
    made = (
        ASKED
        | Secretive()
        | (lambda m: {"answer": str(m.text), "messages": [m], "draft": str(m.text)})
    )
    return guard_chain(made, guard, **options)


def _agent_in_chain(guard: Any, **options: Any) -> Any:
    return guard_chain(create_agent(Secretive()), guard, **options)


def _in_node(guard: Any) -> Callable[[State], State]:
    def write(state: State) -> State:
        streamed = [*_string(guard).stream(state["question"])]
        return {"answer": [*streamed, _message(guard).invoke(state["question"])]}

    return write


def _middleware(guard: Any, *inside: Any, model: Any = None) -> Any:
    return create_agent(model or Secretive(), middleware=[FranqMiddleware(guard), *inside])


def _fallback(guard: Any) -> Any:
    return _middleware(guard, ModelFallbackMiddleware(Secretive()), model=Secretive(fails=True))


def _chain_in_tool(guard: Any) -> Any:
    inner = _string(guard)

    @tool
    def ask(query: str) -> str:
        """Ask the archive."""
        return inner.invoke(query)

    return _asking(ask)


class Asking(Secretive):
    """Calls the tool ``ask``, then says that it is done."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        if isinstance(messages[-1], HumanMessage):
            call = {"name": "ask", "args": {"query": "How?"}, "id": "1"}
            message = AIMessage("", tool_calls=[call])
        else:
            message = AIMessage("Done.")
        return ChatResult(generations=[ChatGeneration(message=message)])

    _stream = BaseChatModel._stream


def _asking(ask: Any, middleware: Any = ()) -> Any:
    return create_agent(Asking(), [ask], middleware=middleware)


def _direct(guard: Any) -> Any:
    """An agent that hands on what a tool of its own said, with a model of its own."""

    @tool(return_direct=True)
    def ask(query: str) -> str:
        """Ask the archive."""
        return str(Secretive().invoke(query).text)

    return _asking(ask, [FranqMiddleware(guard)])


def _model_in_tool(guard: Any) -> Any:
    return _asking(_asks_a_model, [FranqMiddleware(guard)])


@tool("ask")
def _asks_a_model(query: str) -> str:
    """Ask the archive, by a model of its own that nobody guards."""
    return str(Secretive().invoke(query).text)


def _agent_with_model_in_tool(guard: Any, **options: Any) -> Any:
    return guard_chain(_asking(_asks_a_model), guard, **options)


CHAINS: dict[str, Callable[..., Any]] = {
    "`guard_chain`, a string": _string,
    "`guard_chain`, a message": _message,
    "`guard_chain`, a dict with more texts": _dict,
    "`guard_chain(agent)`": _agent_in_chain,
    "`guard_chain(agent)`, a model in a tool": _agent_with_model_in_tool,
}
GRAPHS: dict[str, Callable[[Any], Any]] = {
    "`FranqMiddleware`": _middleware,
    "`FranqMiddleware`, then `ModelFallbackMiddleware`": _fallback,
    "`FranqMiddleware`, a tool that answers directly": _direct,
    "`FranqMiddleware`, a model in a tool": _model_in_tool,
    "`guard_node(function)`": lambda guard: _graph("write", guard_node(guard, _write)),
    "`guard_node(compiled graph)`": lambda guard: _graph(
        "write", guard_node(guard, _graph("write", _write))
    ),
    "`guard_node(agent)`": lambda guard: _graph(
        "model", guard_node(guard, create_agent(Secretive()))
    ),
    "`guard_node(agent)`, a model in a tool": lambda guard: _graph(
        "model", guard_node(guard, _asking(_asks_a_model))
    ),
    "`guard_chain` in a node": lambda guard: _graph("write", _in_node(guard)),
    "`guard_chain(agent)` in a node": lambda guard: _graph(
        "model", lambda state: {"messages": _agent_in_chain(guard).invoke(state)["messages"]}
    ),
    "`guard_chain` in an agent's tool": _chain_in_tool,
}

INPUT = {"question": "How many steps?", "messages": [HumanMessage("How many steps?")]}


def _one(runnable: Any) -> Iterator[Shown]:
    """Called for a whole output."""
    yield [runnable.invoke(INPUT)]
    yield [asyncio.run(runnable.ainvoke(INPUT))]
    yield runnable.batch([INPUT])
    yield asyncio.run(runnable.abatch([INPUT]))


def _streamed(runnable: Any, **options: Any) -> Iterator[Shown]:
    yield list(runnable.stream(INPUT, **options))
    yield _gathered(runnable.astream(INPUT, **options))


def _events(runnable: Any) -> Iterator[Shown]:
    yield _gathered(runnable.astream_events(INPUT, version="v2"))


def _gathered(stream: Any) -> Shown:
    async def gathered() -> Shown:
        return [chunk async for chunk in stream]

    return asyncio.run(gathered())


def _mode(*modes: str) -> Callable[[Any], Iterator[Shown]]:
    def shown(runnable: Any) -> Iterator[Shown]:
        for mode in modes:
            for subgraphs in (False, True):
                yield from _streamed(runnable, stream_mode=mode, subgraphs=subgraphs)

    return shown


CHAIN_WAYS: dict[str, Callable[[Callable[..., Any]], Iterator[Shown]]] = {
    "`invoke`, `batch`": lambda make: _one(make(FakeGuard())),
    '`stream="buffer"`': lambda make: _streamed(make(FakeGuard())),
    '`stream="claims"`': lambda make: _streamed(
        make(Guard(faithfulness=FakeFaithfulness()), stream="claims")
    ),
    "`astream_events`": lambda make: _events(make(FakeGuard())),
}
GRAPH_WAYS: dict[str, Callable[[Callable[..., Any]], Iterator[Shown]]] = {
    "`invoke`, `batch`": lambda make: _one(make(FakeGuard())),
    "`values`, `updates`": lambda make: _mode("values", "updates")(make(FakeGuard())),
    "`messages`": lambda make: _mode("messages")(make(FakeGuard())),
    "`custom`": lambda make: _mode("custom")(make(FakeGuard())),
    "`tasks`, `checkpoints`, `debug`": lambda make: _mode("tasks", "checkpoints", "debug")(
        make(FakeGuard())
    ),
    "`astream_events`": lambda make: _events(make(FakeGuard())),
}
_PIECE = 6
LOOKED_AT = {"answer": WORDS, "reasoning": REASONING, "log-probabilities": TOKEN}


@cache
def cell(surface: str, way: str) -> dict[str, str]:
    """What a reader sees of each secret."""
    chain = surface in CHAINS
    make = CHAINS[surface] if chain else GRAPHS[surface]
    ways = CHAIN_WAYS if chain else GRAPH_WAYS
    try:
        seen = [_spelled(shown) for shown in ways[way](make)]
    except TypeError as error:
        if "FranqMiddleware or guard_node" not in str(error):
            raise
        return dict.fromkeys(LOOKED_AT, "refused")
    return {name: _worst([_state(t, secret) for t in seen]) for name, secret in LOOKED_AT.items()}


def table(surfaces: Mapping[str, Any], ways: Mapping[str, Any]) -> str:
    """The cells as Markdown: the answer, then (where another thing) reasoning and log-probs."""
    head = ["what is guarded", *ways]
    rows = [[surface, *(_words(cell(surface, way)) for way in ways)] for surface in surfaces]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables() -> str:
    """Both tables of the README."""
    return f"{table(CHAINS, CHAIN_WAYS)}\n\n{table(GRAPHS, GRAPH_WAYS)}"


def _words(found: dict[str, str]) -> str:
    others = {state for name, state in found.items() if name != "answer"}
    assert len(others) == 1
    (beside,) = others
    return found["answer"] if beside == found["answer"] else f"{found['answer']}; {beside}"


def _worst(states: list[str]) -> str:
    return next(state for state in ("raw", "checked", "hidden") if state in states)


def _state(texts: list[str], secret: str) -> str:
    if secret == WORDS and any(len(text.strip()) >= _PIECE and text in ANSWER for text in texts):
        return "raw"  # tokens that leave one by one
    whole = "".join(texts)
    if secret not in whole:
        return "hidden"
    after = whole.split(secret)[1:]
    return "checked" if all(rest[:20].strip(" .").startswith(MARKS) for rest in after) else "raw"


def _spelled(shown: Any) -> list[str]:
    """Every string in what was shown, but for the guard's reports (they quote the original)."""
    if isinstance(shown, str):
        return [str(shown)]
    if isinstance(shown, (BaseMessage, BaseModel)):
        return _spelled(shown.model_dump())
    if isinstance(shown, Mapping):
        return [t for key, value in shown.items() if key != "franq" for t in _spelled(value)]
    if isinstance(shown, (list, tuple)):
        return [text for item in shown for text in _spelled(item)]
    held = getattr(shown, "__dict__", None)
    return _spelled(held) if held and not callable(shown) else []


if __name__ == "__main__":
    print(tables())  # for integrations/langchain/README.md
