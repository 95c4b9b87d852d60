"""``check_batch``: one row in, one row out, with a fixed schema."""

import json

import pytest

pa = pytest.importorskip("pyarrow")

from franq_guard import Guard  # noqa: E402
from franq_guard.batch import RESULTS, check_batch  # noqa: E402
from franq_guard.batch.schema import results_table  # noqa: E402
from franq_guard.batch.tables import checked_rows, rows_of  # noqa: E402
from franq_guard.records import (  # noqa: E402
    Claim,
    ClaimLabel,
    Generation,
    GuardedAnswer,
    Passage,
    Token,
    Trace,
    Verdict,
)
from franq_guard.rows import trace_from_dict, trace_to_dict  # noqa: E402
from franq_guard.rows.lines import RowError, trace_of_line  # noqa: E402
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel  # noqa: E402

ROME = {
    "id": "a",
    "question": "Where is Rome?",
    "passages": ["Rome is in Italy."],
    "answer": "Rome is in Italy.",
}


def table(*rows):
    return pa.Table.from_pylist(list(rows))


def test_the_rows_are_what_the_guard_itself_says(fake_guard):
    second = ROME | {"id": None, "answer": "Rome is in France. It has a river."}
    found = check_batch(table(ROME, second), guard=fake_guard, batch_size=1)
    assert found.schema.equals(RESULTS)
    for ours, row in zip(found.to_pylist(), (ROME, second), strict=True):
        own = fake_guard.check(row["question"], row["passages"], row["answer"])
        assert (ours["id"], ours["error"]) == (row["id"], None)
        assert (ours["text"], ours["original"]) == (own.text, row["answer"])
        assert (ours["status"], ours["score"]) == (own.status, own.score)
        assert ours["flagged"] == own.to_dict()["flagged"] == len(own.flagged)
        assert dict(ours["timings"]).keys() == own.timings.keys()
        for verdict, its in zip(ours["verdicts"], own.verdicts, strict=True):
            assert verdict["claim"] == its.claim.text
            assert [(s["start"], s["end"]) for s in verdict["spans"]] == list(its.claim.spans)
            assert (verdict["label"], verdict["p_true"]) == (its.label, its.p_true)
            assert verdict["flagged"] == (its in own.flagged)
            assert dict(verdict["raw"]) == dict(its.raw)
            assert verdict["evidence"] == its.to_dict()["evidence"]


def test_differences_are_a_list_in_every_row():
    claim = Claim("It is old.", ((0, 10),))
    differs = (("old", "new"), ("", "not"))
    found = (
        Verdict(claim, 0.1, 0.1, 0.1, 0.1, {}, "false", differs=differs),
        Verdict(claim, 0.9, 0.9, 0.9, 0.9, {}, "supported"),
    )
    (row,) = results_table([GuardedAnswer("It is old.", "It is old.", found, "ok")]).to_pylist()
    assert [verdict["differs"] for verdict in row["verdicts"]] == [
        [{"claim": "old", "passage": "new"}, {"claim": "", "passage": "not"}],
        [],
    ]


def test_a_bad_row_is_an_error_in_its_place(fake_guard):
    rows = [ROME, ROME | {"id": "b", "question": None}, ROME | {"passages": None}, ROME]
    found = check_batch(table(*rows), guard=fake_guard).to_pylist()
    assert [row["error"] is None for row in found] == [True, False, False, True]
    assert "'question' is missing" in found[1]["error"]
    assert "'passages' is missing" in found[2]["error"]
    assert found[1] == {name: None for name in RESULTS.names} | {
        "id": "b",
        "error": found[1]["error"],
    }


def test_half_a_character_costs_no_other_row(fake_guard):
    half = '["Rome \\ud83d is in Italy."]'  # a list stored as text, cut between two halves
    found = check_batch(table(ROME | {"passages": half}), guard=fake_guard).to_pylist()
    assert found[0]["verdicts"][0]["evidence"]["text"] == "Rome \ufffd is in Italy."
    line = json.dumps(ROME | {"id": "\ud83d", "answer": "Rome \ud83d is in Italy."})
    traces = [trace_of_line(1, line), trace_of_line(2, json.dumps(ROME))]
    found = results_table(checked_rows(fake_guard, traces)).to_pylist()
    assert [row["original"] for row in found] == ["Rome \ufffd is in Italy.", ROME["answer"]]
    bad = results_table([RowError(1, "not \ud83d", None)]).to_pylist()
    assert bad[0]["error"] == "not \ufffd"


def test_what_is_no_table_is_refused_with_the_way_to_make_one():
    with pytest.raises(TypeError, match="from_pylist"):
        check_batch([ROME])


def test_passages_with_titles_and_other_tools_columns_are_read(fake_guard):
    row = {
        "user_input": ROME["question"],
        "retrieved_contexts": [{"text": "Rome is in Italy.", "title": None, "id": 3}],
        "response": ROME["answer"],
        "embedding": [0.5] * 4,
    }
    (found,) = check_batch(table(row), guard=fake_guard).to_pylist()
    assert found["error"] is None
    assert found["verdicts"][0]["evidence"]["text"] == "Rome is in Italy."


def test_text_that_a_program_stored_as_bytes_is_text(fake_guard):
    row = {key: value.encode() for key, value in ROME.items() if isinstance(value, str)}
    row["passages"] = [passage.encode() for passage in ROME["passages"]]
    plain, stored = (check_batch(table(of), guard=fake_guard).to_pylist() for of in (ROME, row))
    assert [found | {"timings": None} for found in stored] == [
        found | {"timings": None} for found in plain
    ]


def test_a_trace_survives_a_table():
    answer = "It is in Italy."
    token = Token(-1, 0, len(answer), -0.5, entropy=0.25)
    trace = Trace(
        "Where is Rome?",
        (Passage("Rome is in Italy.", title="Rome", id="p1"), Passage("Rome.")),
        Generation(answer, (token,), prompt="asked", source="captured", writer="lm"),
        samples=(Generation("Italy."),),
        claims=(
            Claim("It is in Italy.", ((0, 15),), aligned=0.5, full="Rome is in Italy."),
            Claim("Is it?", ((0, 2),), not_a_claim="question"),
        ),
        labels=(ClaimLabel(is_true=True), ClaimLabel()),
        contrast_prompt="asked alone",
        prompt_seen=False,
        id="a",
    )
    (row,) = rows_of(table(trace_to_dict(trace) | {"score": 0.5}), frozenset())
    assert trace_from_dict(row) == trace


def test_a_struct_column_is_read_by_its_path(fake_guard):
    row = {"asked": {"text": "Where is Rome?"}, "passages": ["Rome."], "answer": "Rome."}
    found = check_batch(table(row), guard=fake_guard, fields={"question": "asked.text"})
    assert found["error"].to_pylist() == [None]


def test_two_columns_of_one_name_are_refused_where_they_are_read(fake_guard):
    columns = [*table(ROME).columns, pa.array(["Where?"])]
    twice = pa.Table.from_arrays(columns, names=[*ROME, "question"])
    with pytest.raises(ValueError, match="2 columns are called 'question'"):
        check_batch(twice, guard=fake_guard)
    others = pa.Table.from_arrays([*columns, columns[-1]], names=[*ROME, "score", "score"])
    assert check_batch(others, guard=fake_guard)["error"].to_pylist() == [None]


def test_a_missing_column_is_told_with_the_nearest_one(fake_guard):
    row = {"the_question": "Where?", "passages": ["Rome."], "answer": "Rome."}
    (found,) = check_batch(table(row), guard=fake_guard).to_pylist()
    assert "did you mean 'the_question'?" in found["error"]


def test_an_answer_whose_check_failed_has_its_verdicts_and_an_error():
    def broken():
        raise OSError("out of order")

    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness(fail=broken))
    (found,) = check_batch(table(ROME), guard=guard).to_pylist()
    assert found["verdicts"][0]["reason"] == "error"
    assert (found["status"], found["score"]) == ("unverified", None)
    assert "the check failed" in found["error"]


def test_an_exception_of_the_users_guard_stays_with_its_row(fake_guard):
    class Strict(type(fake_guard)):
        def _check(self, batch):
            if any(trace.id == "b" for trace in batch):
                raise LookupError("no such customer")
            return super()._check(batch)

    guard = Strict(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    rows = [ROME, ROME | {"id": "b"}, ROME | {"id": "c"}]
    found = check_batch(table(*rows), guard=guard).to_pylist()
    assert [row["id"] for row in found] == ["a", "b", "c"]
    assert [row["error"] for row in found] == [None, "LookupError: no such customer", None]


def test_a_table_without_rows_gives_one_without_rows(fake_guard):
    found = check_batch(table(ROME).slice(0, 0), guard=fake_guard)
    assert found.schema.equals(RESULTS)
    assert found.num_rows == 0
    with pytest.raises(ValueError, match="batch_size"):
        check_batch(table(ROME), guard=fake_guard, batch_size=0)


def test_errors_alone_have_the_same_schema():
    from franq_guard.batch.schema import results_table

    assert results_table([RowError(1, "bad")]).schema.equals(RESULTS)
