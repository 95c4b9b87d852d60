"""Async streaming: text is shown only after it is checked, and checks do not block the event loop.

python examples/llama_index_streaming.py
"""

import asyncio
from typing import Any

from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

from franq_guard import Guard
from franq_guard.datasets.demo import corpus
from llama_index_franq import guard_query_engine
from llama_index_franq.local import BM25NodeRetriever, llm_of

QUESTION = "Who discovered the moons of Mars?"


async def ask(guard: Guard) -> dict[str, Any]:
    nodes = [TextNode(text=p.text, id_=p.id, metadata={"title": p.title}) for p in corpus()]
    llm = llm_of(guard.language_model, max_new_tokens=32)
    engine = RetrieverQueryEngine.from_args(BM25NodeRetriever(nodes, k=1), llm=llm, streaming=True)
    response = await guard_query_engine(engine, guard).aquery(QUESTION)
    report = response.metadata["franq"]
    print("report so far:", report)  # empty: it is filled when the stream ends
    async for text in response.async_response_gen():
        print(text)
    print([verdict["label"] for verdict in report["verdicts"]])
    return report


def main(guard: Guard) -> dict[str, Any]:
    return asyncio.run(ask(guard))


if __name__ == "__main__":
    main(Guard.offline())
