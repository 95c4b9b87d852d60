"""What is asked of answers by any writer: the data's rows as answers of a known kind."""

import gzip
import json

import numpy as np
import pytest

from franq_bench.data.folds import Folds
from franq_bench.data.read_claims import digest_of
from franq_bench.verdicts import answers
from franq_bench.verdicts.answers import clapnq, fact_of, refchecker
from franq_bench.verdicts.rows import rows_of
from franq_bench.verdicts.short_answers import short_answers
from franq_guard.datasets.jsonl import json_rows
from franq_guard.guard import Guard


class Everything:
    """A faithfulness model that every passage supports at .75."""

    fingerprint = "everything"

    def score(self, contexts, claims):
        return [0.75] * len(claims)

    def nli(self, premises, hypotheses):
        return np.tile([0.75, 0.25, 0.0], (len(premises), 1))

    def evidence(self, passages, claims):
        return [None] * len(claims)


def passage(title, text, gold=False):
    return {"title": title, "text": text, "is_gold": gold, "src": "annotated", "has_answer": False}


def answer(i):
    return f"The Harrow mill number {i} was built in 18{i:02d} by Elin Marsh."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    rows = [
        {"id": f"clapnq-{i}", "dataset": "clapnq-dev", "question": f"When was mill {i} built?",
         "answers": [answer(i)], "gold_kind": "annotated",
         "passages": [passage(f"Mill {i}", answer(i), gold=True),
                      passage(f"Owl {i}", f"Owl {i} eats voles.")]}
        for i in range(40)
    ]  # fmt: skip
    squad = [{**r, "id": f"squad-{i}", "dataset": "squad1.1 (XQuAD-en)", "answers": ["Elin Marsh"],
              "article": f"Article {i}"} for i, r in enumerate(rows)]  # fmt: skip
    claims = [
        {"id": f"ref-{i}", "dataset": "refchecker-nq", "question": f"Who built mill {i}?",
         "reference": answer(i), "passages": [], "claim": f"Elin Marsh built mill {i}",
         "label": ["entailment", "neutral"][i % 2], "label_kind": "faithfulness"}
        for i in range(40)
    ]  # fmt: skip
    pool = [
        {"id": f"w{i}", "title": f"Mill {i}", "text": f"mill {i} was built of stone"}
        for i in range(40)
    ]
    named = {"rag_qa_long_clapnq": rows, "claims_refchecker_nq": claims, "wiki_passages": pool,
             "rag_qa_squad": squad, "rag_qa_nq": []}  # fmt: skip
    for name, found in named.items():
        with gzip.open(data / f"{name}.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in found)
    return data


def test_answers_are_shown_with_and_without_their_passage(folder):
    asked = clapnq(folder, "test", seed=0)
    assert {a.kind for a in asked} == {"grounded", "changed", "unfounded"}
    for one in asked:
        shown = [p.text for p in one.trace.passages]
        i = int(one.group.rpartition("-")[2])
        gold = f"Mill {i}: {answer(i)}"
        assert (gold in shown) == (one.kind != "unfounded")
        assert len(shown) <= one.passages
        assert shown.count(gold) <= 1
        same_article = [p for p in shown if p.startswith(f"Mill {i}:") and p != gold]
        assert not same_article  # another passage of the article might state the answer
    counts = {one.passages for one in asked}
    assert counts == {1, 3, 10}


def test_a_changed_answer_differs_and_names_its_unchanged_claims(folder):
    asked = [a for a in clapnq(folder, "test", seed=0) if a.kind == "changed"]
    for one in asked:
        i = int(one.group.rpartition("-")[2])
        assert one.trace.generation.text != answer(i)
        assert one.left_out
        assert one.change in ("number", "date", "name", "relation")


def test_claims_that_say_more_than_their_passage_are_not_counted_as_stated(folder, monkeypatch):
    more = {f"clapnq-{i}": frozenset({digest_of(answer(i))}) for i in range(40)}
    monkeypatch.setattr(answers, "beyond_the_passage", lambda: more)
    for one in clapnq(folder, "test", counts=(1,), seed=0):
        told = one.trace.generation.text
        if one.kind == "grounded":
            assert one.left_out == {told}
        elif one.kind == "unfounded":
            assert not one.left_out


def test_only_questions_of_the_fold_are_asked(folder):
    folds = Folds.read(folder)
    rows = list(json_rows(folder / "rag_qa_long_clapnq.jsonl.gz"))
    for fold in ("fitting", "thresholds", "test"):
        expected = {row["id"] for row in rows if folds.of(row) == fold}
        assert {a.group for a in clapnq(folder, fold, counts=(1,), seed=0)} == expected


def test_labelled_claims_are_answers_over_their_reference(folder):
    asked = [a for fold in ("training", "fitting", "thresholds", "test")
             for a in refchecker(folder, fold)]  # fmt: skip
    assert sorted(a.kind for a in asked) == ["entailed"] * 20 + ["not entailed"] * 20
    assert all(len(a.trace.passages) == 1 for a in asked)


def test_short_answers_come_in_pairs_of_right_and_wrong(folder):
    found = [a for fold in ("training", "fitting", "thresholds", "test")
             for a in short_answers(folder, fold, limit=50, seed=0)]  # fmt: skip
    right = {a.group: a.trace.generation.text for a in found if a.kind == "grounded"}
    wrong = {a.group: a.trace.generation.text for a in found if a.kind == "changed"}
    assert set(right.values()) == {"Elin Marsh"}
    assert wrong
    assert all(text.lower() != "elin marsh" for text in wrong.values())


@pytest.mark.parametrize(
    ("claim", "fact"),
    [("It opened in May.", "date"), ("It opened in 1903.", "date"), ("It has 12 sails.", "number"),
     ("It was sold to Tomas Birk.", "name"), ("It was sold.", "relation")],
)  # fmt: skip
def test_the_fact_of_a_claim(claim, fact):
    assert fact_of(claim) == fact


def test_claims_that_the_kind_says_nothing_of_make_no_row(folder):
    asked = [a for a in clapnq(folder, "test", counts=(1,), seed=0) if a.kind == "changed"][:3]
    found = rows_of(Guard(faithfulness=Everything()), asked)
    unchanged = {claim for a in asked for claim in a.left_out}
    assert found
    assert not {row.claim for row in found} & unchanged
    assert {(row.p_faithful, row.contradiction, row.entailment) for row in found} == {
        (0.75, 0.0, 0.75)
    }
