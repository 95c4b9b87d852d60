"""An answer that cites the wrong node says so: in the text, in a stream, in report and feedback."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.query_engine import CitationQueryEngine

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness
from llama_index_franq import FranqEvaluator, guard_query_engine

from .fakes import RunRetriever, ScriptedLLM, question
from .test_statuses import _read

# Of the ten words five stand in the second node, too: .5 is not more than half.
ANSWER = "The archive says that the tower of run 7 is tall [{}]."
MARK = " [passage 2 does not say this]"


def engine(cited, **options):
    inner = CitationQueryEngine(RunRetriever(), llm=ScriptedLLM(script=[ANSWER.format(cited)]))
    inner._response_synthesizer._streaming = "stream" in options
    return guard_query_engine(inner, Guard(faithfulness=FakeFaithfulness()), **options)


async def streamed(guarded):
    response = await guarded.aquery(question(7))
    return response, await _read(response)


@pytest.mark.parametrize(("cited", "mark"), [(1, ""), (2, MARK), (3, " [there is no passage 3]")])
def test_a_citation_of_the_wrong_node_is_marked(cited, mark):
    response = engine(cited).query(question(7))
    assert response.response == f"{ANSWER.format(cited)[:-1]}{mark}."
    ((found,),) = [verdict["citations"] for verdict in response.metadata["franq"]["verdicts"]]
    assert (found["finding"] == "right") == (not mark)
    cut = [node.node.node_id for node in response.source_nodes]  # the engine's own pieces
    assert found.get("node_id") == [*cut, None][cited - 1]


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        ("claims", f"{ANSWER.format(2)[:-1]}{MARK}."),
        ("tail", f"{ANSWER.format(2)}\n{MARK.strip()} {ANSWER[:-6]}."),
    ],
)
def test_a_stream_says_it_too(stream, text):
    _, said = asyncio.run(streamed(engine(2, stream=stream)))
    assert said == text


def test_the_evaluator_says_it_in_its_feedback():
    evaluator = FranqEvaluator(Guard(faithfulness=FakeFaithfulness()))
    contexts = [found.node.get_content() for found in RunRetriever().retrieve(question(7))]
    result = evaluator.evaluate(question(7), ANSWER.format(2), contexts)
    assert result.feedback.endswith(
        "; cites passage 2, which does not say this; another passage does"
    )
