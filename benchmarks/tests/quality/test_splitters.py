"""The bench on the gold set, and its measures by hand."""

import pytest

from franq_bench.quality import splitters as claims_bench
from franq_bench.quality.own_sentence import measure
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


class Overlap:
    """Every claim is clear but those that speak of Ulm."""

    def score(self, contexts, claims):
        return [0.3 if "Ulm" in claim else 0.9 for claim in claims]


def test_claims_are_scored_by_their_own_sentence(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"response": "He was born in Ulm and died in Rome. It rained."}\n'
        '{"hypothesis": "It rained."}\n{"answers": ["It rained."]}\n',
        encoding="utf-8",
    )
    row, readings = measure(path, Overlap(), drawn=1)
    # 2 different answers, 3 sentences, 4 claims, 2 of them cut, 1 of those unclear.
    assert (row.answers, row.sentences, row.claims, row.cut) == (2, 3, 4, 2)
    assert (row.unclear, row.against) == (1, 1)
    assert [r.why for r in readings] == ["unclear", "drawn"]
    assert readings[0].claim == "He was born in Ulm."


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
