"""An agent with a retrieval tool: FranqMiddleware checks its answer before it is streamed.

    python examples/langchain_agent.py

The agent's model is scripted here, because the bundled 135M model cannot call tools; put any chat
model that can in its place. The guard's own model then scores the answer.
"""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import create_retriever_tool

from franq_guard import Guard
from franq_guard.datasets.demo import corpus
from langchain_franq import FranqMiddleware
from langchain_franq.local import BM25PassageRetriever

QUESTION = "When did the Golden Gate Bridge open?"


class ScriptedModel(GenericFakeChatModel):
    """Calls the tool once, then answers with one right and one wrong sentence."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable:
        return self


def main(guard: Guard) -> AIMessage:
    call = {"name": "search", "args": {"query": "Golden Gate Bridge open"}, "id": "call-1"}
    answer = "The Golden Gate Bridge opened on 27 May 1937. It was painted green by Gustave Eiffel."
    model = ScriptedModel(messages=iter([AIMessage("", tool_calls=[call]), AIMessage(answer)]))
    retriever = BM25PassageRetriever(passages=corpus(), k=2)
    # With artifacts the guard gets each document as a passage; without them, the tool's whole text
    # is one passage.
    kind = "content_and_artifact"
    tool = create_retriever_tool(retriever, "search", "Search facts.", response_format=kind)

    agent = create_agent(model, [tool], middleware=[FranqMiddleware(guard)])  # first in the list
    asked = {"messages": [HumanMessage(QUESTION)]}
    shown = [message for message, _ in agent.stream(asked, stream_mode="messages")]
    last = shown[-1]
    print(last.text)
    print([verdict["label"] for verdict in last.response_metadata["franq"]["verdicts"]])
    return last


if __name__ == "__main__":
    main(Guard.offline())
