"""What users write, under mypy --strict: `make check` type-checks this file, it is never run.

So does `make check-types-strict`, by pyright. What is ignored for pyright are the frameworks' own
types: partially unknown, or without stubs.
"""

from __future__ import annotations

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable
from langgraph.graph import StateGraph  # pyright: ignore[reportMissingTypeStubs]
from typing_extensions import TypedDict

from franq_guard import Guard, GuardedAnswer
from franq_guard.capture.outlet import StreamMode
from langchain_franq import (
    FranqCallback,
    FranqMiddleware,
    GuardedChain,
    capture,
    guard_chain,
    guard_node,
)


class State(TypedDict):
    question: str
    answer: str


def lengths(report: GuardedAnswer) -> None:
    print(len(report.verdicts))


def string_chain(
    model: BaseChatModel, guard: Guard, mode: StreamMode
) -> GuardedChain[dict[str, str], str]:
    prompt = ChatPromptTemplate.from_template("{question}")
    inner: Runnable[dict[str, str], str] = prompt | model | StrOutputParser()
    chain = guard_chain(inner, guard, stream=mode, on_report=lengths, evidence="context")
    text: str = chain.invoke({"question": "Why?"})
    print(text.upper(), [chunk.upper() for chunk in chain.stream({"question": "Why?"})])
    return chain


async def both(chain: GuardedChain[dict[str, str], str]) -> list[str]:
    first: str = await chain.ainvoke({"question": "Why?"}, {"tags": ["x"]})
    return [first, *await chain.abatch([{"question": "How?"}])]


def literals(chain: Runnable[str, str], guard: Guard) -> None:
    guard_chain(chain, guard, stream="claims", raise_on=("false", "doubtful"))
    guard_chain(chain, guard, stream="fast")  # type: ignore[arg-type]
    guard_chain(chain, guard, raise_on=("wrong",))  # type: ignore[arg-type]
    guard_chain(chain, guard.policy)  # type: ignore[arg-type]
    FranqMiddleware(guard.policy)  # type: ignore[arg-type]
    guard_node(guard, evidence=3)  # type: ignore[arg-type]
    guard_chain(chain, guard, evidence=lambda asked, answer: [asked, answer])
    guard_chain(chain, guard, evidence=lambda asked: asked)  # type: ignore[arg-type, misc]
    guard_node(guard, evidence=lambda state: state["documents"])


def found(messages: list[BaseMessage]) -> list[str]:
    return [str(message.text) for message in messages]


def agents(model: BaseChatModel, guard: Guard) -> None:
    create_agent(model, middleware=[FranqMiddleware(guard, evidence=found, fields=("summary",))])
    graph = StateGraph(State)
    made = guard_node(guard, write, evidence="documents.found")
    graph.add_node("write", made)  # pyright: ignore[reportUnknownMemberType]


def write(state: State) -> State:
    return {"question": state["question"], "answer": "Because."}


def watching(guard: Guard, chain: Runnable[str, str]) -> int:
    watch = FranqCallback(guard, on_report=lengths, sample=0.1, models=[chain])
    print(chain.invoke("Why?", {"callbacks": [watch]}))
    watch.flush(10)
    return watch.checked + watch.dropped


def plain(guard: Guard, model: BaseChatModel) -> float | None:
    with capture(model) as run:
        answer = str(model.invoke("Why?").text)
    checked = run.check(guard, "Why?", answer, evidence=["Because."])
    return checked.verdicts[0].p_true
