"""Retrievers that ask query engines and return their answers as nodes: these are no evidence."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.retrievers import RecursiveRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, TextNode
from llama_index.core.tools import RetrieverTool

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness
from llama_index_franq import FranqHandler, guard_agent, guard_query_engine

from .agent_fakes import ScriptedCaller, function_agent, run_of
from .fakes import RunRetriever, ScriptedGuard, ScriptedLLM, question, rag
from .test_no_evidence import CLAIM, DOCUMENT, LAST, POLICIES

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
CALL = ("towers", {"input": question(4)})
OWN = "The gate of run 7 is wide."


class Found(BaseRetriever):
    """Finds these nodes, and asks those that are engines, as an index does."""

    def __init__(self, *nodes):
        objects = {n.index_id: n.obj for n in nodes if isinstance(n, IndexNode) and n.obj}
        super().__init__(object_map=objects)
        self._nodes = nodes

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=node.model_copy(), score=1) for node in self._nodes]


def objects(inner, *others):
    return Found(IndexNode(text="Towers", index_id="towers", obj=inner), *others)


def recursive(inner, *others):
    found = Found(IndexNode(text="Towers", index_id="towers"), *others)
    return RecursiveRetriever("root", {"root": found}, {"towers": inner})


def answering(guard=None, *, says=f"{DOCUMENT} {CLAIM}"):
    engine = rag(ScriptedLLM(script=[says] * 9))
    return guard_query_engine(engine, guard) if guard else engine


def passages_of(retriever, *, last=LAST):
    """The passages of the answer, the same however the engine is asked or watched."""
    guard = ScriptedGuard()
    engine = rag(ScriptedLLM(script=[last] * 3), retriever)
    guarded = guard_query_engine(engine, guard)
    guarded.query(question(7))
    asyncio.run(guarded.aquery(question(7)))
    with FranqHandler(guard).attach() as watch:
        engine.query(question(7))
        assert watch.flush(30)
    traces = [trace for trace in guard.traces if trace.generation.text == last]
    assert len(traces) == 3
    first, *others = [[passage.text for passage in trace.passages] for trace in traces]
    assert others == [first, first]
    return first


DOCUMENTS = [n.node.text for n in RunRetriever().retrieve(question(7))]


@pytest.mark.parametrize("make", [objects, recursive])
@pytest.mark.parametrize("says", [f"{DOCUMENT} {CLAIM}", CLAIM])
def test_the_documents_behind_the_answer_are_the_evidence(make, says):
    assert passages_of(make(answering(says=says))) == DOCUMENTS
    own = TextNode(text=OWN, id_="own")
    assert passages_of(make(answering(says=says), own)) == [OWN, *DOCUMENTS]


@pytest.mark.parametrize("make", [objects, recursive])
@pytest.mark.parametrize("policy", POLICIES)
def test_what_a_guard_inside_released_is_none_either(make, policy):
    inside = Guard(faithfulness=FakeFaithfulness(), policy=POLICIES[policy])
    guard = ScriptedGuard()
    engine = rag(ScriptedLLM(script=[LAST]), make(answering(inside)))
    guard_query_engine(engine, guard).query(question(7))
    for passage in guard.traces[-1].passages:
        assert CLAIM[:-1] not in passage.text
        assert POLICIES[policy].replacement not in passage.text


@pytest.mark.parametrize("make", [objects, recursive])
def test_the_node_is_checked_before_it_is_shown(make):
    guard = Guard(faithfulness=FakeFaithfulness(), policy=POLICIES["filter"])
    engine = rag(ScriptedLLM(script=[f"{DOCUMENT} {CLAIM}"]), make(answering()))
    response = guard_query_engine(engine, guard).query(question(7))
    assert response.response == DOCUMENT
    (shown,) = [n.node.text for n in response.source_nodes]
    assert shown.endswith(DOCUMENT)
    assert response.metadata["franq"]["beside"] == [{"where": "source_nodes[0]", "how": "checked"}]


@pytest.mark.parametrize("make", [objects, recursive])
def test_the_same_for_an_agents_retriever(make):
    retriever = make(answering(says=CLAIM), TextNode(text=OWN, id_="own"))
    tool = RetrieverTool.from_defaults(retriever, name="towers", description="Towers.")
    guard = ScriptedGuard()
    agent = guard_agent(function_agent(ScriptedCaller(script=[CALL, LAST]), [tool]), guard)
    result, _, _ = asyncio.run(run_of(agent, question(4)))
    trace = guard.traces[-1]
    assert trace.generation.text == LAST
    documents = [n.node.text for n in RunRetriever().retrieve(question(4))]
    assert [passage.text for passage in trace.passages] == [OWN, *documents]
    (call,) = result.tool_calls
    assert f"{CLAIM} [checked" in call.tool_output.content


class Retelling(BaseRetriever):
    """Finds the documents, and returns what a model says of them."""

    def __init__(self, says, form):
        super().__init__()
        self._llm, self._form = ScriptedLLM(script=[says] * 3), form

    def _retrieve(self, query_bundle):
        found = RunRetriever().retrieve(query_bundle)
        context = "\n".join(node.node.get_content() for node in found)
        said = self._llm.complete(f"{context}\nSum up what is said of: {query_bundle}").text
        nodes = [TextNode(text=text) for text in self._form(said)]
        return [NodeWithScore(node=node, score=1) for node in [*nodes, TextNode(text=OWN)]]


FORMS = {
    "whole": lambda said: [said],
    "with a heading": lambda said: [f"Summary of the archive:\n{said}"],
    "line by line": lambda said: said.splitlines(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_a_model_inside_a_retriever_made_up_is_none(form):
    made_up = f"{CLAIM}\nPurple unicorns guard it at night."
    assert passages_of(Retelling(made_up, form)) == [OWN, *DOCUMENTS]


def test_a_document_that_a_model_inside_a_retriever_quotes_stays():
    extract = Retelling(DOCUMENTS[0], FORMS["with a heading"])
    assert passages_of(extract) == [f"Summary of the archive:\n{DOCUMENTS[0]}", OWN]


def test_a_document_that_an_answer_quotes_stays():
    faq = "Query: How tall is the tower of run 7?\nResponse: It is as tall as a house."
    short = "It is as tall as a house."
    for text in (faq, short):
        assert passages_of(Found(TextNode(text=text)), last=short) == [text]
    assert passages_of(objects(answering(says=DOCUMENT))) == DOCUMENTS
