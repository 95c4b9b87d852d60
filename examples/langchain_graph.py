"""A LangGraph graph: guard_node wraps the node that writes; no stream mode shows unchecked text.

python examples/langchain_graph.py
"""

from typing import Any, TypedDict

from langchain_core.documents import Document
from langgraph.graph import END, START, StateGraph

from franq_guard import Guard
from franq_guard.datasets.demo import corpus
from franq_guard.language_model.base import Prompt
from langchain_franq import guard_node
from langchain_franq.local import BM25PassageRetriever, pipeline_of

QUESTION = "How long is the Great Wall of China?"


class State(TypedDict, total=False):
    question: str
    context: list[Document]
    answer: str
    franq: dict[str, Any]  # the report


def main(guard: Guard) -> dict:
    local = guard.language_model
    retriever = BM25PassageRetriever(passages=corpus(), k=2)
    model = pipeline_of(local, max_new_tokens=40)

    def retrieve(state: State) -> State:
        return {"context": retriever.invoke(state["question"])}

    def write(state: State) -> State:
        context = "\n\n".join(document.page_content for document in state["context"])
        user = f"{context}\n\nQuestion: {state['question']}"
        return {"answer": model.invoke(local.render(Prompt("Answer in one sentence.", user)))}

    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("write", guard_node(guard, write))
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "write")
    graph.add_edge("write", END)

    state: dict = {}
    for update in graph.compile().stream({"question": QUESTION}, stream_mode="updates"):
        for node, changed in update.items():
            print(f"{node}: {', '.join(changed)}")
            state |= changed
    print(state["answer"])
    return state


if __name__ == "__main__":
    main(Guard.offline())
