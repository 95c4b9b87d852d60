"""What users write, under mypy --strict: a wrong mode, option or use of a result shows there.

``make check`` reads it, and ``make check-types-strict`` by pyright; nothing runs it. What is
ignored for pyright are LlamaIndex's own types: partially unknown, or deprecated in an overload.
"""

from __future__ import annotations

from typing import assert_type

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.schema import NodeWithScore

from franq_guard import Guard, GuardedAnswer, Policy
from franq_guard.capture.outlet import StreamMode
from franq_guard.streaming.release import Released
from llama_index_franq import (
    FactualityError,
    FranqEvaluator,
    FranqHandler,
    GuardedChatEngine,
    GuardedQueryEngine,
    capture,
    guard_agent,
    guard_chat_engine,
    guard_query_engine,
)


def report(answer: GuardedAnswer) -> None:
    print(answer.status)


def query(engine: BaseQueryEngine, guard: Guard) -> None:
    mode: StreamMode = "claims"
    guarded = guard_query_engine(
        engine,
        guard,
        stream=mode,
        on_report=report,
        on_claim=lambda released: show(released),
        raise_on=("false", "doubtful"),
        evidence=lambda question, response: response.metadata["hits"],
    )
    assert_type(guarded, GuardedQueryEngine)
    try:
        print(guarded.query("How tall?").metadata)
    except FactualityError as error:
        assert_type(error.answer, GuardedAnswer)
    guard_query_engine(engine, guard, stream="fast")  # type: ignore[arg-type]
    guard_query_engine(engine, guard, raise_on=("wrong",))  # type: ignore[arg-type]
    guard_query_engine(engine, Policy())  # type: ignore[arg-type]


def show(released: Released) -> None:
    print(released.text, released.verdicts)


async def chat(engine: BaseChatEngine, guard: Guard) -> None:
    guarded = guard_chat_engine(engine, guard, evidence="metadata.hits")
    assert_type(guarded, GuardedChatEngine)
    assert_type(guarded.chat("How tall?"), AgentChatResponse)
    response = await guarded.astream_chat("And how old?")
    async for text in response.async_response_gen():
        assert_type(text, str)
    print(response.metadata["franq"])


async def agents(agent: FunctionAgent, team: AgentWorkflow, guard: Guard) -> None:
    assert_type(guard_agent(agent, guard), FunctionAgent)
    assert_type(guard_agent(team, guard, fields=("summary",)), AgentWorkflow)
    guarded = guard_agent(agent, guard)
    answer = await guarded.run(user_msg="How tall?")  # pyright: ignore
    print(f"{answer}")


def plain(guard: Guard, nodes: list[NodeWithScore]) -> str:
    with capture(guard=guard) as run:
        text = "It is tall."
    assert_type(run.check("How tall?", text, evidence=nodes), GuardedAnswer)
    with FranqHandler(guard, on_report=report, sample=0.1).attach() as watch:
        assert_type(watch.flush(1.0), bool)
    result = FranqEvaluator(guard).evaluate("How tall?", text, ["It is tall."])
    assert_type(result, EvaluationResult)
    return text
