"""An agent with a guarded tool: both the tool's reply and the agent's answer are checked.

    python examples/llama_index_agent.py

The agent's model is scripted here, because the bundled 135M model cannot call tools; put any
function-calling model in its place. The tool's own answers come from the bundled model.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, AgentStream, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms import MockLLM
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode
from llama_index.core.tools import QueryEngineTool, ToolSelection

from franq_guard import Guard
from franq_guard.datasets.demo import corpus
from llama_index_franq import guard_agent, guard_query_engine
from llama_index_franq.local import BM25NodeRetriever, llm_of

QUESTION = "When did the Golden Gate Bridge open?"
ANSWER = "The Golden Gate Bridge opened on 27 May 1937. It was painted green by Gustave Eiffel."


class ScriptedModel(MockLLM, FunctionCallingLLM):
    """Calls the tool once, then answers with one right and one wrong sentence."""

    @property
    def metadata(self) -> Any:
        known = {"is_chat_model": True, "is_function_calling_model": True}
        return super().metadata.model_copy(update=known)

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return {"messages": chat_history}

    def get_tool_calls_from_response(self, response: Any, **kwargs: Any) -> list[ToolSelection]:
        if response.message.content:
            return []
        call = {"tool_id": "call-1", "tool_name": "facts", "tool_kwargs": {"input": QUESTION}}
        return [ToolSelection(**call)]

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        answer = ANSWER if messages[-1].role.value == "tool" else ""

        async def words() -> Any:
            said = ""
            for word in answer.split(" ") if answer else [""]:
                said = f"{said} {word}".strip()
                yield ChatResponse(
                    message=ChatMessage(role="assistant", content=said), delta=f"{word} "
                )

        return words()


async def ask(guard: Guard) -> AgentOutput:
    nodes = [TextNode(text=p.text, id_=p.id, metadata={"title": p.title}) for p in corpus()]
    llm = llm_of(guard.language_model, max_new_tokens=32)
    facts = RetrieverQueryEngine.from_args(BM25NodeRetriever(nodes, k=1), llm=llm)
    tool = QueryEngineTool.from_defaults(
        guard_query_engine(facts, guard), name="facts", description="Looks up facts."
    )
    agent = guard_agent(FunctionAgent(tools=[tool], llm=ScriptedModel()), guard)
    handler = agent.run(user_msg=QUESTION)
    async for event in handler.stream_events():
        if isinstance(event, AgentStream) and event.delta.strip():
            print("streamed:", event.delta)  # the checked answer, in one piece
    result: AgentOutput = await handler
    report = result.response.additional_kwargs["franq"]
    print([verdict["label"] for verdict in report["verdicts"]])
    return result


def main(guard: Guard) -> AgentOutput:
    return asyncio.run(ask(guard))


if __name__ == "__main__":
    main(Guard.offline())
