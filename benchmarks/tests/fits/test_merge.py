"""Runs of single data sets put together against one run of all."""

import pytest
from typer.testing import CliRunner

from franq_bench.fits.merge import merged
from franq_bench.fits.refit import refitted
from franq_bench.tables.results import Dataset, Results
from franq_bench.tables.scores import Scores
from franq_guard.cli.app import app

from .ablation_data import random_scores

SIGNALS = ["faithfulness", "semantic-entropy", "eigenvalues-entail"]


def run_of(name, scores, **settings):
    own = Scores(tuple(row for row in scores.rows if row.dataset == name))
    given = {
        "signals": SIGNALS,
        "seed": 0,
        "train": 24,
        "data": [f"{name}.jsonl"],
        "gold_lost_by_cutting": 2,
        "test_questions_the_small_model_was_trained_on": {name: 3},
    }
    dataset = Dataset(name, n_train=24, n_test=30, accuracy=1 / 3)
    return Results(given | settings, {"torch": "2"}, (dataset,), ()), own


@pytest.fixture(scope="module")
def scores():
    return random_scores(("a", "b"), train=24)


@pytest.fixture(scope="module")
def fitted(scores):
    """Both runs as they are stored."""
    return {name: refitted(*run_of(name, scores)) for name in ("a", "b")}


def test_two_runs_are_one(scores, fitted):
    both, matrix = merged([fitted["b"], fitted["a"]])
    in_order = sorted(scores.rows, key=lambda row: (row.split != "train", row.dataset))
    whole = Results(both.settings, both.versions, both.datasets, ())
    expected, expected_matrix = refitted(whole, Scores(tuple(in_order)))
    assert both.rows == expected.rows
    assert both.tables == expected.tables
    assert matrix == expected_matrix
    assert [dataset.name for dataset in both.datasets] == ["a", "b"]
    assert both.settings["data"] == ["b.jsonl", "a.jsonl"]
    assert both.settings["gold_lost_by_cutting"] == 4
    assert both.settings["test_questions_the_small_model_was_trained_on"] == {"a": 3, "b": 3}
    assert any(row.dataset == "mean" for row in both.rows)


def test_what_depends_on_data_and_day_is_joined(scores, monkeypatch):
    """By hand: the later day, and the sums of the counts."""
    monkeypatch.setattr("franq_bench.fits.merge.refitted", lambda *given: given)
    name = "answers_graded_as_by_alias"
    first = {"date": "2026-03-01", "passages_rewritten": {"changed": 5, "empty": 1}}
    second = {"date": "2026-02-28", "passages_rewritten": {"changed": 2, "unchanged": 3}}
    one = run_of("a", scores, **first, **{name: {"same": 0, "different": 4}})
    two = run_of("b", scores, **second, **{name: {"same": 0, "different": 2}})
    both, _ = merged([one, two])
    assert both.settings["date"] == "2026-03-01"
    assert both.settings["passages_rewritten"] == {"changed": 7, "empty": 1, "unchanged": 3}
    assert both.settings[name] == {"same": 0, "different": 6}
    plain, _ = merged([run_of("a", scores), run_of("b", scores)])
    assert not {"date", "passages_rewritten", name} & set(plain.settings)


def test_what_makes_no_one_table(scores):
    with pytest.raises(ValueError, match="the runs differ in train: they make no one table"):
        merged([run_of("a", scores), run_of("b", scores, train=30)])
    with pytest.raises(ValueError, match="more than one run holds a"):
        merged([run_of("a", scores), run_of("a", scores)])
    with pytest.raises(ValueError, match="no runs"):
        merged([])


def test_the_command(fitted, tmp_path):
    for name, (results, own) in fitted.items():
        results.write(tmp_path / name)
        own.write(tmp_path / name)
    asked = ["bench", "merge", str(tmp_path / "a"), str(tmp_path / "b"), "--out"]
    done = CliRunner().invoke(app, [*asked, str(tmp_path / "both"), "--resamples", "20"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "both" / "REPORT.md").is_file()
    assert Scores.read(tmp_path / "both").datasets == ("a", "b")
    wrong = CliRunner().invoke(app, [*asked[:3], str(tmp_path / "none"), *asked[-1:], "x"])
    assert wrong.exit_code != 0
    assert "no results.json" in wrong.output
