"""Passages are found in whatever an application carries them in."""

import datetime
import logging
import uuid
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
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
from franq_guard.claims.rules.citations import passages_named

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


@pytest.mark.parametrize(
    "value",
    [None, 3, True, "", "None", "null", "[]", "{}", b"bytes", object(), {}, [], dict, Document],
)
def test_anything_else_has_none(value):
    assert passages_of(value) == []


PUMP = {"name": "Blue pump", "price": 39, "since": datetime.date(2024, 5, 1), "note": None}
ROW = "name: Blue pump\nprice: 39\nsince: 2024-05-01"
ROWS = {
    "a row": (PUMP, [ROW]),
    "rows": ([PUMP, {"name": "Red pump", "cost": "49 EUR"}], [ROW, "name: Red pump\ncost: 49 EUR"]),
    "rows in an answer of a service": ({"count": 1, "products": [PUMP]}, [ROW]),
    "beside a question": ({**PUMP, "query": "How much?"}, [ROW]),
    "with a sentence": (
        {"name": "Blue pump", "price": np.int64(39), "about": "It is quiet."},
        ["name: Blue pump\nprice: 39\nabout: It is quiet."],
    ),
    "nested": (
        {"city": "Oslo", "now": {"degrees": 14, "wind": None}, "seen": ["fog", "rain"]},
        ["city: Oslo\nnow: degrees 14\nseen: fog, rain"],
    ),
    "with rows in it": (
        {"order": "A-4711", "items": [PUMP, {"name": "Hose"}], "sum": 123.0, "to": {"city": "Ulm"}},
        ["order: A-4711\nsum: 123.0\nto: city Ulm", ROW, "Hose"],
    ),
    "with a long text": (
        {"name": "Blue pump", "price": 39, "about": f"{BRIDGE} " * 9},
        ["name: Blue pump\nprice: 39", f"{BRIDGE} " * 9],
    ),
    "of a database": (
        [("Blue pump", 39), ("Red pump", None, 49.5)],
        ["Blue pump, 39", "Red pump, 49.5"],
    ),
    "documents by their names": ({"a": BRIDGE, "b": TOWER}, [BRIDGE, TOWER]),
    "a long text": ({"body": f"{BRIDGE} " * 9, "score": 0.5}, [f"{BRIDGE} " * 9]),
    "a document and its score": ([(BRIDGE, 0.5), (TOWER, 0.4)], [BRIDGE, TOWER]),
    "a document in it": ({"name": "Blue pump", "in": {"text": BRIDGE}}, ["Blue pump", BRIDGE]),
    "an array in it": ({"name": "Blue pump", "at": np.array([1, 2])}, ["Blue pump"]),
}


@pytest.mark.parametrize(("value", "found"), ROWS.values(), ids=ROWS)
def test_a_row_of_a_table_keeps_its_numbers_and_dates(value, found):
    assert texts(passages_of(value)) == found


def test_what_a_document_says_of_itself_is_kept():
    document = Document(BRIDGE, metadata={"title": "Bridges", "source": "b.txt"})
    assert passages_of(document) == [Passage(BRIDGE, "Bridges", "b.txt", document.metadata)]
    (node,) = passages_of(TextNode(text=BRIDGE, id_="7", metadata={"file_name": "b.pdf"}))
    assert (node.id, node.title) == ("7", "b.pdf")
    (row,) = passages_of([{"text": BRIDGE, "id": 3, "title": "Bridges"}])
    assert (row.id, row.title) == ("3", "Bridges")


class Nameless:
    def __str__(self):
        raise RuntimeError("no text")

    __bool__ = __str__


STORED = {
    "int": (7, "7"),
    "zero": (0, "0"),
    "numpy number": (np.int64(7), "7"),
    "uuid": (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    "date": (datetime.date(2020, 1, 2), "2020-01-02"),
    "bytes": (b"b\xff.txt", "b\N{REPLACEMENT CHARACTER}.txt"),
    "nothing": (None, None),
    "not a number": (float("nan"), None),
    "numpy not a number": (np.float32("nan"), None),
    "no date": (np.datetime64("NaT"), None),
    "array": (np.array([1, 2]), "[1 2]"),
    "empty array": (np.array([]), "[]"),
    "nested": ({"a": [np.int64(1)]}, "{'a': [np.int64(1)]}"),
    "without text": (Nameless(), None),
}
"""What vector stores and data frames return, and what it names."""


@pytest.mark.parametrize(("value", "name"), STORED.values(), ids=STORED)
def test_whatever_a_store_returns_beside_a_text_the_text_is_evidence(value, name):
    about = {"id": value, "title": value, "file_name": value, "deep": {"of": [value]}}
    found = [
        *passages_of(Document(BRIDGE, metadata=about)),
        *passages_of(NodeWithScore(node=TextNode(text=TOWER, metadata=about), score=0.5)),
        *passages_of({"text": BRIDGE, "id": value, "title": value}),
        *passages_of({"text": TOWER, "metadata": about}),
        *passages_of(SimpleNamespace(text=BRIDGE, id=value, metadata={"title": value})),
        *passages_of(Passage(BRIDGE, title=value, id=value)),
    ]
    assert texts(found) == [BRIDGE, TOWER, BRIDGE, TOWER, BRIDGE, BRIDGE]
    assert {passage.title for passage in found} == {name or ""}
    assert {passage.id for passage in found if passage is not found[1]} == {name}  # a node has one
    for passage in found:
        assert passages_named(name or "?", [passage]) == (0 if name else None)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r'{"by": "J\u00fcrgen", "m": 1.50}', '{"by": "Jürgen", "m": 1.50}'),
        (r'["it can\u0027t", "\ud83d\ude00"]', '["it can\'t", "😀"]'),
        (r'["\ud83d", "a\u000ab", "\\u00fc"]', r'["\ud83d", "a\u000ab", "\\u00fc"]'),
        (r"In code, \u00fc is a letter.", r"In code, \u00fc is a letter."),
    ],
)
def test_the_letters_of_json_are_read(text, read):
    assert texts(passages_of({"context": text})) == [read]


@pytest.mark.parametrize("key", PASSAGE_KEYS)
def test_the_usual_keys_are_looked_at(key):
    @dataclass
    class State:
        question: str = "When?"

    state = State()
    setattr(state, key, [BRIDGE])
    for place in ({"question": "When?", key: BRIDGE}, state):
        assert texts(usual_passages("When?", [1, 2], place)) == [BRIDGE]


@pytest.mark.parametrize("name", ["bridges.pdf", {"title": "Bridges 2021", "page": 3}])
def test_sources_that_are_names_alone_are_no_passages(name):
    assert usual_passages({"sources": [name]}) == []
    assert texts(usual_passages({"sources": [name]}, {"sources": [BRIDGE]})) == [BRIDGE]
    assert texts(usual_passages({"sources": ["bridges.pdf", BRIDGE]})) == ["bridges.pdf", BRIDGE]


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


async def found_later(state):
    """Nobody would await it."""


@pytest.mark.parametrize(
    ("evidence", "error"),
    [(3, TypeError), ("", ValueError), (["a"], TypeError), (found_later, TypeError)],
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
