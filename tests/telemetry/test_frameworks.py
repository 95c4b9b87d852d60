"""LangChain and LlamaIndex: the results stand below the span that the application has open."""

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.runnables import RunnableLambda
from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from langchain_franq import guard_chain
from llama_index_franq import guard_query_engine

from .examples import guard, place

TEXT = "The bridge is made of oak."
QUESTION = "What is the bridge made of?"


class Engine(CustomQueryEngine):
    def custom_query(self, query_str):
        return Response(TEXT, source_nodes=[NodeWithScore(node=TextNode(text=TEXT, id_="1"))])


def chain(**more):
    model = FakeListLLM(responses=[TEXT])
    made = RunnableLambda(lambda q: {"context": [Document(TEXT)], "answer": model.invoke(q)})
    return guard_chain(made, guard(), **more)


def engine():
    return guard_query_engine(Engine(), guard())


WAYS = {
    "invoke": lambda: chain().invoke(QUESTION),
    "ainvoke": lambda: asyncio.run(chain().ainvoke(QUESTION)),
    "batch": lambda: chain().batch([QUESTION]),
    "abatch": lambda: asyncio.run(chain().abatch([QUESTION])),
    "stream": lambda: list(chain().stream(QUESTION)),
    "claims": lambda: list(chain(stream="claims").stream(QUESTION)),
    "query": lambda: engine().query(QUESTION),
    "aquery": lambda: asyncio.run(engine().aquery(QUESTION)),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_ask_tells_one_result(seen, way):
    with seen.span("chat") as model:
        WAYS[way]()
    (check,) = seen.named("franq.check")
    assert check.attributes["franq.status"] == "ok"
    assert check.parent.span_id == model.context.span_id
    (result,) = seen.answers
    assert result.parent == place(model)
    assert "gen_ai.evaluation.score.value" in result.attributes
    assert not any(
        "bridge" in str(value) for event in seen.events for value in event.attributes.values()
    )
