"""What is done to each text beside an answer, and how the report says it."""

from __future__ import annotations

from collections import Counter, namedtuple
from copy import deepcopy

import numpy as np
import pytest
from llama_index.core.base.llms.types import ChatMessage, CitationBlock, TextBlock
from llama_index.core.base.response.schema import Response

from llama_index_franq import guard_query_engine
from llama_index_franq._beside import Beside
from llama_index_franq._call import WITHHELD, watch_on
from llama_index_franq._events import observed
from llama_index_franq._messages import with_text

from .fakes import RunRetriever, ScriptedGuard, ScriptedLLM, node, question, rag, said
from .leak_surfaces import multi_step, sub_question
from .secret_parts import guard, made_up, told


def beside(*, raise_on=(), answer="", checked=""):
    """After one retrieval and one model call of run 7."""
    watch = watch_on(None, ScriptedGuard(), stream="buffer", on_report=None, raise_on=raise_on)
    call = watch.call(question(7))
    with observed(call.capture):
        nodes = RunRetriever().retrieve(question(7))
        ScriptedLLM().complete("\n".join(n.node.get_content() for n in nodes) + question(7))
    return Beside(call, nodes, answer, checked), nodes


Span = namedtuple("Span", "start end")
CHECKED = f"{said('run 7')} [checked: Tower 7,Tower 7]"


def test_each_kind_of_text():
    settled, nodes = beside()
    metadata = settled.metadata(
        {
            "7-tall": nodes[0].node.metadata,
            "draft": f"He said: {said('run 7')}",
            "part": "The tower of run 7 is",
            "logprobs": [0.1],
            "count": 3,
            "query": question(7),
            "title": "Tower 7",
            "nodes": nodes,
            "nothing": None,
        }
    )
    assert metadata == {
        "7-tall": nodes[0].node.metadata,
        "draft": f"He said: {CHECKED}",
        "part": WITHHELD,
        "logprobs": None,
        "count": 3,
        "query": question(7),
        "title": "Tower 7",
        "nodes": nodes,
        "nothing": None,
    }
    assert settled.notes == [
        {"where": "metadata['draft']", "how": "checked"},
        {"where": "metadata['part']", "how": "withheld"},
        {"where": "metadata['logprobs']", "how": "withheld"},
    ]
    assert settled.report({"status": "ok"}) == {"status": "ok", "beside": settled.notes}


def test_a_query_that_a_database_ran_stays_as_it_was():
    """Applications show it or run it again; it states nothing."""
    settled, _ = beside()
    queries = {"sql_query": said("run 7"), "n1": {"graph_store_query": said("run 7")}}
    assert settled.metadata(queries) == queries
    assert settled.notes == []


class Unreadable:
    def __str__(self):
        raise RuntimeError("not open")


def test_what_cannot_be_read_is_withheld_and_breaks_nothing():
    settled, _ = beside()
    around = {"inside": []}
    around["inside"].append(around)
    metadata = settled.metadata({"around": around, "handle": Unreadable(), "count": 3})
    assert metadata == {"around": {"inside": [None]}, "handle": None, "count": 3}
    assert settled.notes == [
        {"where": "metadata['around']['inside'][0]", "how": "withheld"},
        {"where": "metadata['handle']", "how": "withheld"},
    ]


def test_metadata_of_nodes_may_hold_arrays():
    settled, nodes = beside()
    nodes[0].node.metadata["vector"] = np.arange(3)
    metadata = settled.metadata({"7-tall": deepcopy(nodes[0].node.metadata)})
    assert metadata["7-tall"]["vector"].tolist() == [0, 1, 2]


def test_what_holds_no_text_of_a_model_keeps_its_type():
    settled, _ = beside()
    given = {"counts": Counter(steps=2), "span": Span(0, 4), "draft": Span(0, said("run 7"))}
    metadata = settled.metadata(given)
    assert metadata["counts"] is given["counts"]
    assert metadata["span"] is given["span"]
    assert metadata["draft"] == (0, CHECKED)


def test_documents_stay_and_sub_answers_in_nodes_are_checked():
    settled, nodes = beside()
    written = node(7, "wide")
    written.node.set_content(f"Sub question: How tall?\nResponse: {said('run 7')}")
    quoted = node(7, "wide")  # not retrieved here, and no model's text
    first, second, third = settled.nodes([nodes[0], written, quoted])
    assert (first, third) == (nodes[0], quoted)
    assert second.node.get_content() == f"Sub question: How tall?\nResponse: {CHECKED}"
    assert written.node.get_content().endswith(said("run 7"))  # the engine's own is left alone


def test_the_answer_itself_is_checked_once():
    settled, _ = beside(answer=said("run 7"), checked="the checked text")
    assert settled.metadata({"draft": said("run 7")}) == {"draft": "the checked text"}
    assert settled._call.watch.guard.traces == []


def test_an_answer_of_a_guard_inside_is_left_alone():
    settled, nodes = beside()
    inner = Response(CHECKED, source_nodes=nodes, metadata={"franq": {"text": CHECKED}})
    assert settled.value(("How tall?", inner), "sub_qa") == ("How tall?", inner)
    settled._call.capture.on_released(CHECKED)
    assert settled.value(f"Answer: {CHECKED}", "text") == f"Answer: {CHECKED}"


def test_a_sub_answer_with_a_label_that_stops_is_withheld_and_stops_nothing():
    settled, _ = beside(raise_on=("supported",))
    assert settled.value(said("run 7"), "text") == WITHHELD


@pytest.mark.parametrize("make", [multi_step, sub_question])
def test_sub_answers_are_checked_against_their_own_nodes(make):
    report = []
    engine = guard_query_engine(make(False), guard(), on_report=report.append)
    response = engine.query(question(7))
    assert len(report) == 1  # of the answer alone
    how = {note["how"] for note in response.metadata["franq"]["beside"]}
    assert how == {"checked"}
    for written in response.source_nodes:
        text = written.node.get_content()
        assert made_up(7) not in text
        assert told("run 7") not in text


def test_a_message_keeps_its_citations_with_another_text():
    message = with_text(
        _message([TextBlock(text="raw"), _citation()]), "checked", franq={"status": "ok"}
    )
    assert message.blocks == [TextBlock(text="checked"), _citation()]
    assert message.additional_kwargs == {"franq": {"status": "ok"}, "id": 1}


def _citation():
    return CitationBlock(
        cited_content=TextBlock(text="the archive"),
        source="a",
        title="A",
        additional_location_info={},
    )


def _message(blocks):
    kwargs = {"id": 1, "reasoning_content": "raw"}
    return ChatMessage(role="assistant", blocks=blocks, additional_kwargs=kwargs)


def test_engines_without_anything_beside_report_nothing_of_it():
    response = guard_query_engine(rag(ScriptedLLM()), ScriptedGuard()).query(question(7))
    assert "beside" not in response.metadata["franq"]
