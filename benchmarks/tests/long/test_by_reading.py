"""The comparison on claims that were labelled by reading."""

import json

import numpy as np
import pytest

from franq_bench.long.by_reading import (
    PAPER,
    SIGNALS,
    Label,
    agreement,
    compared,
    digest_of,
    labels,
    main,
    table,
)
from franq_bench.tables.scores import Score, Scores
from franq_guard.metrics.measures import auroc


def test_agreement_by_hand():
    # Truth: 3 of 4 equal; by chance T 2/4 * 1/4 + F 2/4 * 2/4 = 3/8; (3/4 - 3/8) / (5/8) = .6
    pairs = ["TT", "TU", "FF", "FF"]
    read = {str(i): Label("", (p[0], p[1]), ("S", "S")) for i, p in enumerate(pairs)}
    read["3"] = Label("", ("F", "F"), ("N", "N"))
    found = agreement(read)
    assert found["truth_equal"] == 0.75
    assert found["truth_kappa"] == pytest.approx(0.6)
    assert found["faith_kappa"] == 1.0
    assert [label.settled for label in read.values()] == [True, False, True, True]


@pytest.fixture
def rows():
    """300 claims of 100 answers; entropy tells true from false, the rest is noise."""
    rng = np.random.default_rng(5)
    found = []
    for i in range(300):
        truth = int(rng.random() < 0.5)
        scores = {name: float(rng.uniform(0.1, 0.9)) for name in (*SIGNALS, "pmi", "p-true")}
        scores |= {name: -float(rng.uniform(1, 9)) for name in PAPER[1:]}
        scores |= {"faithfulness": float(rng.random()), "max-token-entropy": 0.2 + 0.6 * truth}
        found.append(Score(f"squad-{i // 3}/{i % 3}", "squad", "test", truth, scores,
                           group=f"squad-{i // 3}"))  # fmt: skip
    return found


def test_what_tells_true_from_false_is_found_and_no_answer_is_fitted_on_itself(rows):
    values = {name: found for name, found, _ in compared(rows)}
    truth = np.array([row.is_true for row in rows])
    assert auroc(truth, values["FRANQ, learned"]) > 0.95
    assert np.isfinite(values["FRANQ, condition-calibrated"]).all()
    assert "| max-token-entropy | 1.000 ±0.000 |" in table(rows)


def test_the_report_needs_scores_and_labels_alone(rows, tmp_path, capsys):
    Scores(tuple(rows)).write(tmp_path)
    read = [
        {"id": row.id, "digest": digest_of("x"), "truth": ["FT"[row.is_true]] * 2,
         "faith": ["NS"[row.is_true]] * 2}
        for row in rows
    ]  # fmt: skip
    text = "\n".join(map(json.dumps, read))
    (tmp_path / "labels.jsonl").write_text(text, encoding="utf-8")
    assert main(["--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "300 claims of 100 answers" in said
    assert "kappa 1.00" in said
    assert (tmp_path / "REPORT.md").read_text(encoding="utf-8") == said
    assert len(labels(tmp_path / "labels.jsonl")) == 300
