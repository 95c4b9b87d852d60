"""What a calibrator from documents alone is worth: the statements, and the table."""

import gzip
import json

import numpy as np

from franq_bench.calibrator.from_documents import compared, made_rows, real_rows
from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel


def test_every_sentence_is_stated_once_and_changed_once(tmp_path):
    texts = [f"The Arden bridge {i} was opened in {1900 + i}." for i in range(8)]
    rows = [
        {"passages": [{"text": t, "is_gold": True}, {"text": "x", "is_gold": False}]} for t in texts
    ]
    with gzip.open(tmp_path / "rag_qa_squad.jsonl.gz", "wt") as file:
        file.write("\n".join(map(json.dumps, rows)))
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    made = made_rows(guard, tmp_path, limit=5)
    assert {row["source"] for row in made} == {"edit"}
    assert len({row["group"] for row in made}) == 10
    assert {row["is_true"] for row in made} == {True, False}


def test_the_table_names_every_way_and_measures_on_real_answers():
    rng = np.random.default_rng(0)

    def rows(count, source):
        for i in range(count):
            p, u, v = rng.uniform(size=3)
            signals = {"p_faithful": p, "uq_faith": np.log(u), "uq_unfaith": np.log(v)}
            true = bool(rng.uniform() < p * u + (1 - p) * v)
            yield {**signals, "is_true": true, "group": str(i), "source": source}

    table = dict(compared(list(rows(200, "edit")), list(rows(150, "gold"))))
    assert list(table) == [
        "documents alone, condition",
        "documents alone, learned",
        "learned, level from 30 real answers",
        "real answers, condition",
        "real answers, learned",
    ]
    for found in table.values():
        assert found["auroc"] > 0.6  # made and real claims follow the same formula here
        assert 0 <= found["true flagged"] <= 1


def test_the_real_answers_are_those_of_the_long_form_benchmark():
    rows = list(real_rows())
    assert len(rows) == 222
    assert {row["source"] for _, row in rows} == {"gold"}
