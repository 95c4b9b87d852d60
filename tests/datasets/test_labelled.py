"""Labelled traces to the rows of the fit."""

import logging

import pytest

from franq_guard import Guard
from franq_guard.calibration.fit import labelled
from franq_guard.datasets.labelled import labelled_rows, uniform
from franq_guard.rows import trace_from_dict
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

ANSWER = "Rome is in Italy. Bern is big."
SPANS = ([[0, 17]], [[18, 30]])


def trace(*labels, **more):
    claims = [
        {"text": ANSWER[slice(*s[0])], "spans": s, **of}
        for s, of in zip(SPANS, labels, strict=False)
    ]
    row = {"question": "Where?", "passages": ["Rome is in Italy."], "answer": ANSWER}
    return trace_from_dict(row | ({"claims": claims} if claims else {}) | more)


def test_each_labelled_claim_is_a_row(fake_guard):
    given = trace({"is_true": True, "is_faithful": 1}, {"is_true": None}, id="a")
    ((row,),) = labelled_rows(fake_guard, [given])
    assert row["is_true"] is True
    assert row["is_faithful"] is True
    assert {"p_faithful", "uq_faith", "uq_unfaith", "group"} <= set(row)


def test_unlabelled_traces_reach_no_model():
    scored = []
    model = FakeFaithfulness(fail=lambda: scored.append(1))
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=model)
    assert list(labelled_rows(guard, [trace(), trace({}, {})])) == []
    assert scored == []
    found = list(labelled_rows(guard, [trace(), trace({"is_true": 1}, {"is_true": 0})]))
    assert [len(rows) for rows in found] == [2]
    assert scored


def test_groups_never_meet(fake_guard):
    label = {"is_true": True}
    traces = [trace(label), trace(label, id="0"), trace(label, id="#0"), trace(label)]
    groups = [row["group"] for (row,) in labelled_rows(fake_guard, traces)]
    assert len(set(groups)) == 4


def test_an_answer_checked_as_one_claim_is_left_out_with_a_warning(caplog):
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness(), form="short")
    with caplog.at_level(logging.WARNING):
        found = list(labelled_rows(guard, [trace({"is_true": 1}, {"is_true": 0}, id="a")]))
    assert found == [[]]
    assert "id:a left out: 2 labels, 1 claims" in caplog.text


def test_uniform_makes_rows_usable():
    rows = [{"is_true": 1, "is_faithful": 1}, {"is_true": 0}]
    with pytest.raises(ValueError, match="in some rows only"):
        labelled(rows)
    assert uniform(rows) == [{"is_true": 1}, {"is_true": 0}]
    assert labelled(uniform(rows)).faithful is None
    assert rows[0]["is_faithful"] == 1  # the given rows stay as they were
    whole = [row | {"is_faithful": 0} for row in rows]
    assert uniform(whole) == whole
