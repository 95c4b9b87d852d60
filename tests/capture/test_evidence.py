"""Passages are found in whatever an application carries them in."""

import logging
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

from franq_guard import Passage
from franq_guard.capture.evidence import (
    PASSAGE_KEYS,
    NoPassagesNote,
    check_evidence,
    chosen_passages,
    passages_of,
    usual_passages,
)

BRIDGE = "The bridge opened in 1937."
TOWER = "The tower has 300 steps."


def texts(passages):
    return [passage.text for passage in passages]


@pytest.mark.parametrize(
    "value",
    [
        [Document(BRIDGE), Document(TOWER)],
        [BRIDGE, TOWER],
        (Passage(BRIDGE), Passage(TOWER)),
        [NodeWithScore(node=TextNode(text=BRIDGE)), TextNode(text=TOWER)],
        [SimpleNamespace(text=BRIDGE), SimpleNamespace(text=TOWER)],
        [{"page_content": BRIDGE}, {"text": TOWER, "score": 0.4}],
        {"documents": [BRIDGE, Document(TOWER)], "query": "how long?"},
        {"query": "When?", "web": [BRIDGE], "archive": {"docs": [TOWER]}},
        [BRIDGE, None, 3, "  ", TOWER, BRIDGE],
        [[Document(BRIDGE)], [Document(TOWER)]],
    ],
)
def test_passages_are_found_in_every_usual_form(value):
    assert texts(passages_of(value)) == [BRIDGE, TOWER]


@pytest.mark.parametrize("value", [None, 3, True, "", b"bytes", object(), {}, [], dict, Document])
def test_anything_else_has_none(value):
    assert passages_of(value) == []


def test_what_a_document_says_of_itself_is_kept():
    document = Document(BRIDGE, metadata={"title": "Bridges", "source": "b.txt"})
    assert passages_of(document) == [Passage(BRIDGE, "Bridges", "b.txt", document.metadata)]
    (node,) = passages_of(TextNode(text=BRIDGE, id_="7", metadata={"file_name": "b.pdf"}))
    assert (node.id, node.title) == ("7", "b.pdf")
    (row,) = passages_of([{"text": BRIDGE, "id": 3, "title": "Bridges"}])
    assert (row.id, row.title) == ("3", "Bridges")


@pytest.mark.parametrize("key", PASSAGE_KEYS)
def test_the_usual_keys_are_looked_at(key):
    @dataclass
    class State:
        question: str = "When?"

    state = State()
    setattr(state, key, [BRIDGE])
    for place in ({"question": "When?", key: BRIDGE}, state):
        assert texts(usual_passages("When?", [1, 2], place)) == [BRIDGE]


def test_a_question_alone_has_no_passages():
    assert (
        usual_passages("When did it open?", {"question": "When?"}, None, [{"role": "user"}]) == []
    )


@dataclass
class Retrieval:
    documents: list = field(default_factory=lambda: [Document(BRIDGE)])


@pytest.mark.parametrize(
    "evidence",
    [
        "found",
        "deep.docs",
        "deep.rows.1",
        "dotted.key",
        "own.documents",
        lambda given, made: made["found"],
    ],
)
def test_evidence_is_a_key_a_path_or_a_function(evidence):
    output = {
        "found": [BRIDGE],
        "deep": {"docs": BRIDGE, "rows": ["other", {"text": BRIDGE}]},
        "dotted.key": BRIDGE,
        "own": Retrieval(),
    }
    assert texts(chosen_passages(evidence, {"found": "of the input"}, output)) == [BRIDGE]


def test_evidence_of_the_input_serves_where_the_output_has_none():
    assert texts(chosen_passages("found", {"found": BRIDGE}, "an answer")) == [BRIDGE]
    assert chosen_passages("found", {"found": []}, "an answer") == []


def test_a_key_that_leads_nowhere_is_said_with_what_is_there():
    with pytest.raises(
        KeyError, match=r"'contxt' leads nowhere; there are \['answer', 'context'\]"
    ):
        chosen_passages("contxt", {"context": BRIDGE}, {"answer": "x"})


@pytest.mark.parametrize(
    ("evidence", "error"), [(3, TypeError), ("", ValueError), (["a"], TypeError)]
)
def test_wrong_evidence_is_refused(evidence, error):
    with pytest.raises(error, match="key"):
        check_evidence(evidence)


def test_long_prompts_without_passages_are_told_once(caplog):
    note = NoPassagesNote()
    with caplog.at_level(logging.WARNING):
        note("Hello", [])
        note("x" * 5000, [Passage(BRIDGE)])
        assert caplog.messages == []
        note("x" * 5000, [])
        note("x" * 5000, [])
    (message,) = caplog.messages
    assert "5000 characters" in message
    assert "evidence=" in message
