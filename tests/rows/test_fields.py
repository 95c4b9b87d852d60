"""Rows in other tools' field names, JSON arrays, and tables of answers."""

import json

import pytest

from franq_guard.records import Trace
from franq_guard.rows import RowError, read_traces
from franq_guard.rows.fields import Fields, with_row_label

RAGAS = {"user_input": "Q?", "retrieved_contexts": ["P"], "response": "A."}
RAGAS_01 = {"question": "Q?", "contexts": ["P"], "answer": "A.", "ground_truth": "B."}
LANGSMITH = {
    "id": "run-1",
    "inputs": {"question": "Q?"},
    "outputs": {"answer": "A.", "documents": [{"page_content": "P", "metadata": {"title": "T"}}]},
}
LETTUCE_DETECT = {"context": ["P"], "question": "Q?", "answer": "A.", "labels": []}
DEEPEVAL = {"input": "Q?", "retrieval_context": ["P"], "actual_output": "A."}
DEEPEVAL_CASE = {**DEEPEVAL, "context": None, "expected_output": None}
DOCUMENT = {"lc": 1, "type": "constructor", "kwargs": {"page_content": "P", "metadata": {}}}
RETRIEVAL_QA = {"query": "Q?", "result": "A.", "source_documents": [DOCUMENT]}
LLAMA_INDEX = {
    "query": "Q?",
    "response": "A.",
    "source_nodes": [{"node": {"id_": "1", "text": "P"}, "score": 0.5}],
}
CHROMA = {"question": "Q?", "documents": [["P"]], "answer": "A."}
PHOENIX = {"input": "Q?", "documents": [{"document.content": "P"}], "output": "A."}
SHEET = {"Question": "Q?", " Retrieved Contexts": "['P']", "Answer ": "A."}


def read(*rows, **names):
    return list(read_traces(map(json.dumps, rows), prepare=Fields(names)))


@pytest.mark.parametrize(
    "row",
    [
        *(RAGAS, RAGAS_01, LANGSMITH, LETTUCE_DETECT, DEEPEVAL, DEEPEVAL_CASE, RETRIEVAL_QA),
        *(LLAMA_INDEX, CHROMA, PHOENIX, SHEET),
    ],
)
def test_rows_of_other_tools_are_read(row):
    (trace,) = read(row)
    assert isinstance(trace, Trace), trace
    assert (trace.question, trace.generation.text) == ("Q?", "A.")
    assert [passage.text for passage in trace.passages] == ["P"]
    assert trace.id == row.get("id")


def test_one_context_as_a_text_is_one_passage_and_a_title_is_kept():
    (trace,) = read({**LETTUCE_DETECT, "context": "P"})
    assert [passage.text for passage in trace.passages] == ["P"]
    assert read(LANGSMITH)[0].passages[0].title == "T"


@pytest.mark.parametrize(
    ("text", "passages"),
    [
        ('["It\'s red.", "B"]', ["It's red.", "B"]),
        (str(["It's red.\nIt's old.", "B"]), ["It's red.\nIt's old.", "B"]),  # as pandas writes it
        ("['It\\'s red.'\n \"It's old.\"]", ["It's red.", "It's old."]),  # an array of NumPy
        (str([{"text": "A"}, {"text": "B"}]).replace("}, {", "}\n {"), ["A", "B"]),
        ('[{"page_content": "A", "metadata": {}}]', ["A"]),
        (" []\n", []),
        ("", []),
        ("[1] Red.", ["[1] Red."]),
        ("[1]", ["[1]"]),
        ('[{"colour": "red"}]', ['[{"colour": "red"}]']),  # a passage of records
        ("[red, 'old']", ["[red, 'old']"]),
        ("[{[]: 1}]", ["[{[]: 1}]"]),
        ("[" * 9000 + "]", ["[" * 9000 + "]"]),
    ],
)
def test_a_list_that_a_table_stored_as_text_is_a_list(text, passages):
    (trace,) = read({**LETTUCE_DETECT, "context": text})
    assert [passage.text for passage in trace.passages] == passages


def test_our_own_names_go_before_others_and_the_users_before_all():
    (trace,) = read({**RAGAS, "question": "Ours?"})
    assert trace.question == "Ours?"
    fields = Fields({"question": "text.q", "id": "key"})
    row = {**RAGAS, "question": "Ours?", "text": {"q": "Mine?"}, "key": 7}
    (trace,) = read_traces([json.dumps(row)], prepare=fields)
    assert (trace.question, trace.id) == ("Mine?", "7")
    assert fields.notes() == [
        "fields read: question from text.q, id from key, passages from retrieved_contexts, "
        "answer from response"
    ]
    assert Fields().notes() == []


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ({"the_question": "Q?"}, "did you mean 'the_question'? --map question=the_question"),
        ({"questoin": "Q?"}, "did you mean 'questoin'?"),
        # what is read as something else is not meant
        (
            {"response": "A."},
            "'question' is missing; the row has 'response' (--map question=FIELD)",
        ),
    ],
)
def test_a_missing_field_is_told_with_the_nearest_one(row, hint):
    (error,) = read(row)
    assert hint in error.error


def test_a_field_that_is_mapped_but_not_there_is_the_rows_error():
    (error,) = read(RAGAS, question="inputs.q")
    assert "no field 'inputs.q' in it; it has 'user_input'" in error.error
    with pytest.raises(ValueError, match="map question, passages, answer or id"):
        Fields({"titel": "x"})


def test_an_array_is_read_as_rows_and_errors_count_them():
    text = json.dumps([RAGAS, 7, RAGAS_01], indent=2)
    found = list(read_traces(text.splitlines(keepends=True), prepare=Fields()))
    assert [type(row) for row in found] == [Trace, RowError, Trace]
    assert found[1].line == 2


def test_one_object_over_several_lines_is_one_row():
    lines = ["\n", *json.dumps(RAGAS_01, indent=2).splitlines(keepends=True)]
    assert [row.question for row in read_traces(lines, prepare=Fields())] == ["Q?"]


def test_an_array_without_its_end_is_one_error():
    (error,) = read_traces(["\ufeff[\n", '{"question": "Q?"},\n'])
    assert isinstance(error, RowError)


def test_lines_are_still_read_one_by_one():
    def lines():
        yield json.dumps(RAGAS_01)
        raise AssertionError("read ahead")

    assert next(read_traces(lines(), prepare=Fields())).question == "Q?"


def test_a_label_of_the_row_is_that_of_its_answer():
    row = {**RAGAS_01, "answer": " A.\n", "is_true": 1, "is_faithful": False}
    (trace,) = read_traces([json.dumps(with_row_label(row))], prepare=Fields())
    (claim,) = trace.claims
    assert (claim.text, claim.spans) == ("A.", ((1, 3),))
    assert (trace.labels[0].is_true, trace.labels[0].is_faithful) == (True, False)
    assert with_row_label(RAGAS_01) is RAGAS_01
    assert with_row_label(row | {"claims": []})["claims"] == []


def test_a_label_of_the_row_beside_claims_without_labels_is_an_error_not_lost():
    row = {**RAGAS_01, "answer": "A.", "is_true": 1}
    for claims in (["A."], [{"text": "A."}]):
        with pytest.raises(ValueError, match="the row has claims: label these"):
            with_row_label(row | {"claims": claims})
    of_claims = row | {"claims": [{"text": "A.", "is_true": None}]}
    assert with_row_label(of_claims) is of_claims


@pytest.mark.parametrize("broken", [{"answer": None}, {"passages": 7}, {"answer": ...}])
def test_an_error_names_the_row_by_the_id_that_was_mapped(broken):
    row = {**RAGAS_01, "id": "not this", "log": {"key": 7}, "answer": "A.", **broken}
    row = {key: value for key, value in row.items() if value is not ...}
    row.pop("response", None)
    (error,) = read_traces([json.dumps(row)], prepare=Fields({"id": "log.key"}))
    assert (type(error), error.id) == (RowError, "7")
    assert str(error).startswith("line 1 (id 7): ")


def test_an_id_may_be_written_in_capitals_and_ours_goes_before():
    names = Fields()
    row = {"ID": 7, "question": "q", "passages": [], "answer": "a"}
    assert (names(row)["id"], names.id_of(row)) == (7, "7")
    both = row | {"id": "8"}
    assert (names(both)["id"], names.id_of(both)) == ("8", "8")
    mapped = Fields({"id": "answer"})
    assert (mapped(row)["id"], mapped.id_of(row)) == ("a", "a")
