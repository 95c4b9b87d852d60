"""Numbers in words, months beside days and rounded numbers, as the shipped model reads them.

Every passage and claim of the file is invented.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from franq_guard.faithfulness.small.model import SmallFaithfulness

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "fixtures" / "amounts.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def passed(model: SmallFaithfulness, kind: str, label: str) -> float:
    """The share of the claims that the model finds faithful."""
    pairs = [(row["passage"], c) for row in ROWS if row["kind"] == kind for c in row[label]]
    scores = model.score([passage for passage, _ in pairs], [claim for _, claim in pairs])
    return sum(p > 0.5 for p in scores) / len(scores)


def test_there_are_enough_claims() -> None:
    for label in ("true", "wrong"):
        assert sum(len(row[label]) for row in ROWS) >= 40


@pytest.mark.parametrize("kind", ["words", "months", "rounded"])
def test_true_claims_pass_and_wrong_ones_do_not(model: SmallFaithfulness, kind: str) -> None:
    assert passed(model, kind, "true") >= 0.95
    assert passed(model, kind, "wrong") <= 0.1
