import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_bench.tables.resampling import bootstrap, standard_error, value
from franq_bench.tables.results import Dataset, Results, Row, Scores, metric_rows
from franq_bench.tables.significance import drawn_means
from franq_guard.metrics import measures as metrics
from franq_guard.report.tables import Column, Table

LOOPS = {"pr_auc": metrics.pr_auc, "prr": metrics.prr, "auroc": metrics.auroc, "ece": metrics.ece}


def lines(dataset, labels, split="test", groups=None, **methods):
    return [
        {
            "id": f"{dataset}-{split}-{i}",
            "dataset": dataset,
            "split": split,
            "is_true": label,
            "scores": {name: values[i] for name, values in methods.items()},
        }
        | ({} if groups is None else {"group": groups[i]})
        for i, label in enumerate(labels)
    ]


def rows_of(data, **options):
    return {(row.dataset, row.method): row for row in metric_rows(data, **options)}


def test_by_hand():
    # Confidence falling: true .9, false .8, true .4, false .3; worked out in test_metrics.py
    found = rows_of(lines("nq", [1, 0, 1, 0], m=[0.9, 0.8, 0.4, 0.3]))
    row = found["nq", "m"]
    assert row.auroc == 3 / 4
    assert row.pr_auc == pytest.approx(1 / 2 + 1 / 3)
    assert row.prr == pytest.approx(1.0)
    assert row.ece == pytest.approx(1.8 / 4)
    assert list(found) == [("nq", "m"), ("mean", "m")]


def test_mean_over_data_sets():
    data = lines("a", [1, 0, 1, 0], m=[4, 3, 2, 1]) + lines("b", [1, 1, 0, 0], m=[4, 3, 2, 1])
    found = rows_of(data)
    assert found["a", "m"].ece is None  # outside [0, 1]
    assert found["mean", "m"].ece is None
    assert found["mean", "m"].auroc == pytest.approx((3 / 4 + 1) / 2)
    a, b = found["a", "m"].auroc_se, found["b", "m"].auroc_se
    assert found["mean", "m"].auroc_se == pytest.approx(math.sqrt(a**2 + b**2) / 2)


def test_only_the_test_part_counts():
    data = lines("a", [1, 0, 1], m=[1, 0, 1]) + lines("a", [0, 0, 1], split="train", m=[1, 1, 0])
    assert rows_of(data)["a", "m"].auroc == 1.0


def test_one_class_and_empty_data_sets_have_no_figures():
    data = lines("ok", [1, 0, 0, 1], m=[0.9, 0.1, 0.3, 0.4])
    data += lines("true", [1, 1, 1, 1], m=[0.9, 0.1, 0.3, 0.4])
    data += lines("none", [1, 0], split="train", m=[0.5, 0.5])
    found = rows_of(data)
    assert found["true", "m"].auroc is None
    assert found["true", "m"].prr is None
    assert found["true", "m"].pr_auc_se is None
    assert found["true", "m"].ece == pytest.approx((0.1 + 0.9 + 0.7 + 0.6) / 4)
    assert found["none", "m"] == Row("none", "m")
    assert found["mean", "m"].auroc == 1.0  # only "ok" has both classes
    assert metric_rows([]) == []


def test_a_data_set_without_a_true_row_ranks_nothing():
    """Whoever finds the false ones among false ones alone has a PR-AUC of 1, and says nothing."""
    part = lines("ok", [1, 0, 1, 0], m=[0.9, 0.8, 0.4, 0.3])
    data = part + lines("false", [0, 0, 0], m=[0.9, 0.1, 0.3])
    found = rows_of(data)
    assert found["false", "m"].figure("pr_auc") == (None, None)
    assert found["mean", "m"].pr_auc == found["ok", "m"].pr_auc
    assert found["false", "m"].ece == pytest.approx((0.9 + 0.1 + 0.3) / 3)
    drawn = [drawn_means(Scores.of(rows), resamples=20)["pr_auc"]["m"] for rows in (data, part)]
    np.testing.assert_array_equal(*drawn)


def test_partly_measured_methods_are_not_judged():
    data = lines("a", [1, 0, 0, 1], m=[1, 0, 0.2, 1], part=[1, None, 0, 1])
    data += lines("b", [1, 0, 0, 1], m=[1, 0, 0.2, 1], part=[1, 0, 0, 1])
    found = rows_of(data)
    assert found["a", "part"] == Row("a", "part")
    assert found["b", "part"].auroc == 1.0
    assert found["mean", "part"].auroc is None  # a mean over fewer data sets tells nothing
    assert found["mean", "m"].auroc == 1.0


@pytest.mark.parametrize("grouped", [False, True])
def test_resampling_is_the_loop(grouped):
    rng = np.random.default_rng(7)
    n = 60
    true = rng.integers(0, 2, n)
    scores = {
        "fine": rng.random(n),
        "tied": rng.integers(0, 4, n) / 4,
        "constant": np.full(n, 0.3),
        "infinite": np.where(rng.random(n) < 0.2, -np.inf, rng.normal(size=n)),
    }
    groups = rng.integers(0, 20, n) if grouped else None
    drawn = bootstrap(true, scores, groups=groups, resamples=200, seed=3)
    for metric, loop in LOOPS.items():
        for name, score in scores.items():
            if metric == "ece" and name == "infinite":
                assert np.isnan(drawn[metric][name]).all()
                continue
            expected = metrics.bootstrap_se(loop, true, score, groups=groups, resamples=200, seed=3)
            assert standard_error(drawn[metric][name]) == pytest.approx(expected, abs=1e-10)


def test_rows_of_one_answer_have_no_error():
    drawn = bootstrap([0, 1, 1], {"m": [0.2, 0.9, 0.4]}, groups=[7, 7, 7], resamples=20)
    assert all(np.isnan(standard_error(of["m"])) for of in drawn.values())


def test_rows_are_the_metrics_with_their_bootstrap_errors():
    rng = np.random.default_rng(2)
    truth, score = rng.integers(0, 2, 30), rng.random(30)
    row = rows_of(lines("a", truth.tolist(), m=score.tolist()), resamples=50, seed=4)["a", "m"]
    for metric, loop in LOOPS.items():
        found, error = row.figure(metric)
        assert found == pytest.approx(loop(truth, score))
        expected = metrics.bootstrap_se(loop, truth, score, resamples=50, seed=4)
        assert error == pytest.approx(expected, abs=1e-10)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.2, 0.5, 1.0])), min_size=2,
             max_size=9)
)  # fmt: skip
def test_every_resample_is_the_metric_of_its_rows(rows):
    true, score = (np.array(column, float) for column in zip(*rows, strict=True))
    drawn = bootstrap(true, {"m": score}, resamples=20, seed=1)
    rng = np.random.default_rng(1)
    for b in range(20):
        at = rng.integers(len(true), size=len(true))
        for metric, loop in LOOPS.items():
            ranks_nothing = metric != "ece" and len({*true}) < 2
            expected = math.nan if ranks_nothing else loop(true[at], score[at])
            assert drawn[metric]["m"][b] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_blocks_do_not_change_the_draws(monkeypatch):
    rng = np.random.default_rng(0)
    true, score = rng.integers(0, 2, 50), {"m": rng.random(50)}
    whole = bootstrap(true, score, resamples=37)
    monkeypatch.setattr("franq_bench.tables.resampling._CELLS", 400)
    np.testing.assert_array_equal(
        whole["prr"]["m"], bootstrap(true, score, resamples=37)["prr"]["m"]
    )


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="differ in length"):
        bootstrap([1, 0], {"m": [0.1]})


def test_what_has_no_ece():
    assert math.isnan(value("ece", [1, 0], [1.5, 0.2]))
    assert math.isnan(value("auroc", [1, 0], [math.nan, 0.2]))


RESULTS = Results(
    settings={"samples": 10, "data": ["nq.jsonl"]},
    versions={"numpy": "2"},
    datasets=(Dataset("nq", 200, 300, 0.23, 4), Dataset("x", 1, 0)),
    rows=(Row("nq", "m", 0.5, 0.1, 0.2, 0.1, 0.6, 0.1, None, None), Row("mean", "m", 0.5)),
    tables=(Table("t", "T", (Column("a"),), (("x",),)),),
)


def test_results_round_trip(tmp_path):
    RESULTS.write(tmp_path / "out")
    assert Results.read(tmp_path / "out") == RESULTS


def test_scores_round_trip(tmp_path):
    data = lines("nq", [1, 0], groups=["a", "a"], m=[0.5, None], naïve=[math.nan, 1])
    scores = Scores.of(data)
    scores.write(tmp_path / "out")
    again = Scores.read(tmp_path / "out")
    assert again == scores
    assert again.methods == ("m", "naïve")
    assert again.rows[0].scores == {"m": 0.5, "naïve": None}
    np.testing.assert_array_equal(again.of_method("m"), [0.5, math.nan])


def test_an_id_that_equals_a_group_is_not_in_it():
    data = lines("a", [1, 0, 1], groups=["x", "x", None], m=[1, 0, 1])
    data[2]["id"] = "x"
    groups = Scores.of(data).groups()
    assert groups[0] == groups[1] != groups[2]


def test_answers_of_two_data_sets_are_two_even_if_they_are_called_the_same():
    data = [line for name in "ab" for line in lines(name, [1, 0], groups=["x", "x"], m=[1, 0])]
    assert Scores.of(data).groups().tolist() == [0, 0, 1, 1]


def test_missing_files_say_what_to_give(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no results\.json in .*--out"):
        Results.read(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no scores\.jsonl in .*--out"):
        Scores.read(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "franq.bench/2"}, "its schema is 'franq.bench/2'"),
        ({"settings": []}, "settings must be an object"),
        ({"rows": {}}, "rows must be a list"),
        ({"datasets": None}, "datasets must be a list"),
        ({"tables": 3}, "tables must be a list"),
        ({"rows": [{"dataset": "nq"}]}, "method of a row must be str"),
        ({"rows": [{"dataset": "nq", "method": "m", "auroc": "x"}]}, "auroc of a row"),
        ({"datasets": [{"name": "nq", "n_train": 1.5, "n_test": 3}]}, "n_train of a dataset"),
        ({"datasets": [{"name": "a", "n_train": 1, "n_test": 3, "b": 1}]}, "unknown keys: b"),
        ({"datasets": ["nq"]}, "a dataset must be an object"),
        ({"tables": [{"name": "t"}]}, "table 't' lacks columns"),
    ],
)
def test_results_that_do_not_fit(tmp_path, change, message):
    (tmp_path / "results.json").write_text(json.dumps(RESULTS.to_dict() | change))
    with pytest.raises(ValueError, match=message):
        Results.read(tmp_path)


def test_broken_json_and_missing_parts(tmp_path):
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(ValueError, match=r"results\.json: "):
        Results.read(tmp_path)
    with pytest.raises(ValueError, match="schema is 'list'"):
        Results.from_dict([])
    with pytest.raises(ValueError, match="lack datasets, rows, settings, versions"):
        Results.from_dict({"schema": "franq.bench/1"})


ROW = lines("nq", [1], m=[0.5])[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": "dev"}, "split must be"),
        ({"is_true": 0.5}, "is_true must be 0 or 1"),
        ({"is_true": None}, "is_true must be 0 or 1"),
        ({"scores": [1]}, "scores must be an object"),
        ({"scores": {"m": "high"}}, "the score of 'm' must be a number"),
        ({"scores": {"m": math.inf}}, "the score of 'm' must be finite"),
        ({"dataset": "mean"}, "cannot be called 'mean'"),
        ({"id": 3}, "id must be text"),
        ({"group": 3}, "group must be text"),
    ],
)
def test_scores_that_do_not_fit(tmp_path, change, message):
    rows = [ROW, ROW | {"id": "other"} | change]
    (tmp_path / "scores.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    with pytest.raises(ValueError, match=rf"scores\.jsonl, line 2: .*{message}"):
        Scores.read(tmp_path)


def test_ids_are_unique_in_a_data_set():
    with pytest.raises(ValueError, match="there twice"):
        Scores.of([ROW, ROW])
    assert len(Scores.of([ROW, ROW | {"dataset": "b"}]).rows) == 2
    with pytest.raises(ValueError, match="lacks id"):
        Scores.of([{k: v for k, v in ROW.items() if k != "id"}])
