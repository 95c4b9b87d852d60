"""The bench on the gold set, and its measures by hand."""

import pytest

from franq_bench.quality import splitters as claims_bench
from franq_bench.quality.answers import answers_of
from franq_guard.claims import RuleSplitter
from franq_guard.datasets.jsonl import json_rows

GOLD = claims_bench.gold_file()


@pytest.fixture(scope="module")
def rows():
    return claims_bench.run(GOLD, {"rules": RuleSplitter()})


def test_the_gold_set_is_large_and_sound():
    gold = list(json_rows(GOLD))
    assert len(gold) >= 150
    assert sum(not c.get("not_a_claim") for row in gold for c in row["claims"]) >= 600
    for row in gold:
        seen = set()
        for claim in row["claims"]:
            for start, end in claim["spans"]:
                assert row["answer"][start:end].strip() == row["answer"][start:end] != ""
                assert seen.isdisjoint(range(start, end))
                seen.update(range(start, end))


def test_the_rules_reach_the_promised_quality(rows):
    assert [row.split for row in rows] == ["dev", "test"]
    # Four tenths of the test part are sentences that must stay whole or are hard to cut, and the
    # rules were written on the other part. Both shares are lower than they could be on purpose: a
    # claim of the gold set that is not surely true by itself is not cut off.
    for row, matched in zip(rows, (0.92, 0.79), strict=True):
        assert row.sentence_f1 >= 0.98
        assert row.matched >= matched
        assert row.not_claim_precision >= 0.95


def test_matching_by_hand():
    # F1 of 10 against 8 characters inside it: 2 * 8 / 18 = 0.89; of 4 against 10: 8 / 14 = 0.57.
    gold = [[(0, 10)], [(20, 24), (30, 36)]]
    assert claims_bench.match(gold, [[(0, 8)], [(20, 24)]]) == [(0, 0)]
    # Each is used once: the better of two wins.
    assert claims_bench.match([[(0, 10)]], [[(0, 9)], [(0, 10)]]) == [(0, 1)]


def test_answers_are_read_whatever_they_are_called(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"question": "Where?", "response": "In Ulm."}\n{"hypothesis": "It rained."}\n'
        '{"answers": ["Rome.", "Roma."], "answer": "Paris."}\n{"answer": " "}\n{"text": "No."}\n',
        encoding="utf-8",
    )
    assert list(answers_of(path)) == [("Where?", "In Ulm."), ("", "It rained."), ("", "Rome.")]


def test_alignment_of_a_file(tmp_path):
    path = tmp_path / "claims.jsonl"
    path.write_text(
        '{"claim": "Rome is old", "response": "Rome is old."}\n'
        '{"claim": "Quokkas sleep", "response": "Rome is old."}\n',
        encoding="utf-8",
    )
    row = claims_bench.alignment(path)
    assert (row.claims, row.aligned, row.mean_score) == (2, 0.5, 0.5)
    assert row.worst[0][1] == "Quokkas sleep"
