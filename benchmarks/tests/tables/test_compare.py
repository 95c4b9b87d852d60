import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from franq_bench.tables.compare import (
    Difference,
    compare,
    difference_text,
    pair,
    training_rows,
)
from franq_bench.tables.results import Dataset, Results, Scores
from franq_guard.cli.app import app
from franq_guard.metrics import measures as metrics

run = CliRunner().invoke


def rows(dataset, labels, confidences, *, split="test", ids=None):
    ids = ids or [f"{dataset}{i}" for i in range(len(labels))]
    return [
        {"id": key, "dataset": dataset, "split": split, "is_true": int(t),
         "scores": {m: float(v[i]) for m, v in confidences.items()}}
        for i, (key, t) in enumerate(zip(ids, labels, strict=True))
    ]  # fmt: skip


def random_pair(n=40):
    rng = np.random.default_rng(5)
    a, b = [], []
    for name in ("nq", "popqa"):
        a += rows(name, rng.integers(0, 2, n), {"m": rng.random(n), "old": rng.random(n)})
        b += rows(name, rng.integers(0, 2, n), {"new": rng.random(n), "m": rng.random(n)})
    return a, b


def by_name(found):
    return {(row.dataset, row.method, row.metric): row for row in found}


def test_by_hand():
    labels = [1, 0, 1, 0]
    # AUROC of the first 3/4 (worked out in test_metrics.py), of the second 1: +.25
    a = Scores.of(rows("nq", labels, {"m": [0.9, 0.8, 0.4, 0.3]}))
    b = Scores.of(rows("nq", labels, {"m": [0.9, 0.2, 0.8, 0.1]}))
    found = by_name(compare(a, b, resamples=200))
    row = found["nq", "m", "auroc"]
    assert (row.a, row.b, row.difference, row.n) == (0.75, 1.0, 0.25, 4)
    assert row.low == 0.0  # a resample without the wrongly ordered pair
    assert not row.clear
    assert found["mean", "m", "auroc"].difference == 0.25


def test_intervals_are_those_of_an_independent_loop():
    a, b = random_pair()
    found = by_name(compare(Scores.of(a), Scores.of(b), resamples=100, seed=9))
    columns = {
        (at, name): (
            np.array([r["is_true"] for r in half if r["dataset"] == name], float),
            np.array([r["scores"]["m"] for r in half if r["dataset"] == name]),
        )
        for at, half in enumerate((a, b))
        for name in ("nq", "popqa")
    }
    by_dataset = []
    for at, name in enumerate(("nq", "popqa")):
        rng = np.random.default_rng((9, at))
        differences = []
        for _ in range(100):
            drawn = rng.integers(40, size=40)
            one, other = (
                metrics.prr(truth[drawn], score[drawn])
                for truth, score in (columns[0, name], columns[1, name])
            )
            differences.append(other - one)
        row = found[name, "m", "prr"]
        np.testing.assert_allclose((row.low, row.high), np.percentile(differences, (2.5, 97.5)))
        by_dataset.append(differences)
    row = found["mean", "m", "prr"]
    spread = np.percentile(np.mean(by_dataset, axis=0), (2.5, 97.5))
    np.testing.assert_allclose((row.low, row.high), spread)
    assert row.n == 80
    assert row.difference == pytest.approx(
        np.mean([found[name, "m", "prr"].difference for name in ("nq", "popqa")])
    )
    assert {method for _, method, _ in found} == {"m"}  # what both hold


def test_the_order_of_the_rows_does_not_matter():
    a, b = random_pair()
    one = compare(Scores.of(a), Scores.of(b), resamples=20)
    assert compare(Scores.of(a), Scores.of(b[::-1]), resamples=20) == one


def test_with_itself_nothing_differs():
    a, _ = random_pair()
    for row in compare(Scores.of(a), Scores.of(a), resamples=20):
        assert (row.difference, row.low, row.high, row.clear) == (0.0, 0.0, 0.0, False)


def test_a_real_gain_is_clear():
    truth = np.tile([0, 1], 100)
    rng = np.random.default_rng(0)
    a = Scores.of(rows("nq", truth, {"m": rng.random(200)}))
    b = Scores.of(rows("nq", truth, {"m": 0.4 * rng.random(200) + 0.6 * truth}))
    row = by_name(compare(a, b, resamples=200))["nq", "m", "auroc"]
    assert row.clear
    assert re.fullmatch(r"\+\.\d\d\s\[\.\d\d,\s\.\d\d\]\s\*", difference_text(row))


def test_one_class_has_no_difference():
    a = Scores.of(rows("nq", [1, 1], {"m": [0.1, 0.2]}) + rows("b", [1, 0], {"m": [0.9, 0.2]}))
    found = by_name(compare(a, a, resamples=10))
    assert found["nq", "m", "auroc"] == Difference("nq", "m", "auroc", 2)
    assert found["mean", "m", "auroc"].a == 1.0
    assert difference_text(found["nq", "m", "auroc"]) == "-"


def test_ids_that_do_not_match_are_counted():
    a = Scores.of(rows("nq", [1, 0, 1], {"m": [1, 0, 1]}, ids=list("abc")))
    b = Scores.of(
        rows("nq", [1, 0, 1], {"m": [1, 0, 1]}, ids=list("bcd"))
        + rows("x", [1], {"m": [1]})
        + rows("nq", [1], {"m": [1]}, split="train", ids=["a"])
    )
    expected = (
        "nq: 2 shared, 1 only in the first, 1 only in the second; "
        "x: 0 shared, 0 only in the first, 1 only in the second"
    )
    with pytest.raises(ValueError, match=expected) as error:
        compare(a, b)
    assert "--shared" in str(error.value)
    found = by_name(compare(*pair(a, b), resamples=10))
    assert [key[0] for key, row in found.items() if row.n == 2 and key[2] == "auroc"] == [
        "nq", "mean",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="share no test question"):
        pair(a, Scores.of(rows("y", [1], {"m": [1]})))


@pytest.fixture
def folders(tmp_path):
    for name, half in zip("ab", random_pair(), strict=True):
        Scores.of(half).write(tmp_path / name)
        sets = (Dataset("nq", 0, 40), Dataset("popqa", 0, 40))
        Results({"model": f"<b>{name}"}, {"numpy": "2"}, sets, ()).write(tmp_path / name)
    return tmp_path


def test_command(folders):
    page = folders / "made" / "page.html"
    args = ["compare", str(folders / "a"), str(folders / "b"), "--resamples", "20"]
    done = run(app, [*args, "--html", str(page)])
    assert done.exit_code == 0, done.output
    assert "PR-AUC, mean" in done.output
    assert "left out: new, old" in done.output
    text = page.read_text()
    assert "PR-AUC: b minus a" in text
    assert "&lt;b&gt;a" in text
    assert "Settings that differ" in text
    assert "Versions that differ" not in text
    assert "nq" in run(app, [*args, "--dataset", "nq"]).output
    refused = run(app, [*args, "--dataset", "zz"])
    assert refused.exit_code == 2
    assert "there are: nq, popqa, mean" in refused.output


def test_settings_are_chosen_on_training_rows():
    kept = rows("nq", [1, 0], {"m": [1, 0]}, split="train", ids=["a", "b"])
    both = Scores.of(kept + rows("nq", [0, 1], {"m": [1, 0]}, ids=["c", "d"]))
    found = training_rows(both)
    assert [(r.id, r.split, r.is_true) for r in found.rows] == [
        ("a", "test", True), ("b", "test", False),
    ]  # fmt: skip
    assert by_name(compare(found, found, resamples=2))["nq", "m", "auroc"].a == 1


def test_command_on_training_rows(tmp_path):
    train, test = (
        rows("nq", [1, 0], {"m": [1, 0]}, split="train"),
        rows("nq", [1, 0], {"m": [0, 1]}),
    )
    for name, part in (("train", train), ("test", test)):
        Scores.of(part).write(tmp_path / name)
    args = ["compare", str(tmp_path / "train"), str(tmp_path / "train"), "--json"]
    found = [json.loads(line) for line in run(app, [*args, "--train"]).stdout.splitlines()]
    assert {row["a"] for row in found if row["metric"] == "auroc"} == {1.0}
    mixed = run(app, ["compare", str(tmp_path / "train"), str(tmp_path / "test"), "--train"])
    assert mixed.exit_code == 2
    assert "the test questions differ" in mixed.output


def test_command_as_json(folders):
    args = ["compare", str(folders / "a"), str(folders / "b"), "--json", "--resamples", "20"]
    lines = [json.loads(line) for line in run(app, args).stdout.splitlines()]
    assert len(lines) == 3 * 4  # data sets and mean, metrics
    assert {line["method"] for line in lines} == {"m"}
    assert all(line["low"] <= line["difference"] <= line["high"] for line in lines)


def test_command_says_what_is_missing(folders):
    refused = run(app, ["compare", str(folders / "a"), str(folders / "nothing")])
    assert refused.exit_code == 2
    assert "no scores.jsonl in" in refused.output
    (folders / "b" / "results.json").unlink()  # the scores alone are enough
    page = str(folders / "page.html")
    args = ["compare", str(folders / "a"), str(folders / "b"), "--resamples", "20"]
    done = run(app, [*args, "--html", page])
    assert done.exit_code == 0
    assert "settings not compared, fallbacks not known: no results.json" in done.output


def test_report_command(folders):
    args = ["bench", "report", str(folders / "a"), "--resamples", "20"]
    done = run(app, [*args, "--markdown", str(folders / "docs" / "R.md")])
    assert done.exit_code == 0, done.output
    assert (folders / "a" / "report.html").is_file()
    assert (folders / "docs" / "R.md").read_text().startswith("# Benchmark report")
    printed = " ".join(done.output.split())
    assert "First in the mean over the data sets" in printed
    assert "method PR-AUC PRR ROC-AUC ECE m " in printed
    refused = run(app, ["bench", "report", str(folders / "nothing")])
    assert refused.exit_code == 2
    assert "no results.json in" in refused.output
