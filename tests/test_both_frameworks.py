"""Both integrations in one environment: imported together, one guard behind both at once."""

import asyncio
import subprocess
import sys
from importlib.metadata import requires, version

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.runnables import RunnableLambda
from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_franq
import llama_index_franq

TEXT = "The bridge is made of oak."


class Engine(CustomQueryEngine):
    def custom_query(self, query_str):
        return Response(TEXT, source_nodes=[NodeWithScore(node=TextNode(text=TEXT, id_="1"))])


def chain():
    model = FakeListLLM(responses=[TEXT])
    return RunnableLambda(lambda q: {"context": [Document(TEXT)], "answer": model.invoke(q)})


def test_one_guard_serves_both_at_once(fake_guard):
    guarded = langchain_franq.guard_chain(chain(), fake_guard)
    engine = llama_index_franq.guard_query_engine(Engine(), fake_guard)

    async def both():
        tasks = [
            task
            for _ in range(20)
            for task in (guarded.ainvoke("What is it made of?"), engine.aquery("Of what?"))
        ]
        return await asyncio.gather(*tasks)

    outputs = asyncio.run(both())
    reports = [
        output["franq"] if isinstance(output, dict) else output.metadata["franq"]
        for output in outputs
    ]
    assert {report["original"] for report in reports} == {TEXT}
    assert {report["status"] for report in reports} == {"ok"}
    assert {verdict["p_faithful"] for report in reports for verdict in report["verdicts"]} == {1.0}


def test_one_error_is_caught_for_both():
    assert langchain_franq.FactualityError is llama_index_franq.FactualityError


@pytest.mark.parametrize(
    "order", ["langchain_franq, llama_index_franq", "llama_index_franq, langchain_franq"]
)
def test_they_import_in_either_order_and_neither_needs_the_other(order):
    first, other = order.split(", ")
    hidden = f"import sys; sys.modules[{other!r}] = None; import {first}"
    found = f"del sys.modules[{other!r}]; import {other}"
    subprocess.run([sys.executable, "-c", f"{hidden}; {found}"], check=True)


def test_neither_asks_for_versions_that_the_other_cannot_have():
    """Both are installed here and ask for this very core; pip has found versions for both."""
    for name in ("langchain-franq", "llama-index-franq"):
        core = [need for need in requires(name) or () if need.startswith("franq-guard")]
        assert core[0].replace(" ", "").startswith("franq-guard<0.2,>=0.1")
        assert version(name) == version("franq-guard")
