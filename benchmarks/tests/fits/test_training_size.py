import numpy as np
import pytest

from franq_bench.fits.fitted import FITTED, with_fitted
from franq_bench.fits.training_size import drawn, training_sizes
from franq_bench.tables.results import metric_rows
from franq_bench.tables.scores import Scores

from .ablation_data import average_precision, cells, franq_loop, parts, random_scores, rows


def test_sizes_by_loop_over_the_same_draws():
    scores = random_scores(train=40)
    auc, prr, ece = training_sizes(scores, sizes=(20, 40, 50), draws=3)
    assert [row[0] for row in auc.rows] == ["20", "all (40)"] == [row[0] for row in prr.rows]
    means = []
    for seed in range(3):
        found = []
        for name in scores.datasets:
            train, test = parts(scores, name)
            values = franq_loop(drawn(train, 20, seed), test)
            found.append(average_precision(test, values))
        means.append(np.mean(found))
    at = [c.title for c in auc.columns].index("FRANQ, condition-calibrated")
    assert auc.rows[0][at] == pytest.approx(np.mean(means))
    assert auc.errors[0][at] == pytest.approx(np.std(means, ddof=1))
    assert ece.columns[1].better == "lower"


def test_all_rows_are_the_benchmark_s_own_fit():
    scores = random_scores()
    table = training_sizes(scores, draws=1)[1]
    rows_ = {(r.dataset, r.method): r for r in metric_rows(with_fitted(scores), resamples=0)}
    assert list(table.rows[-1][1:]) == [rows_["mean", method].prr for method in FITTED]
    assert set(table.errors[-1]) == {None}
    assert set(table.errors[0]) == {None}  # one draw has no spread


def test_one_class_among_the_first_rows_is_drawn_again():
    lone = rows("a", "train", [i == 17 for i in range(40)])
    for seed in range(5):
        assert {r.is_true for r in drawn(lone, 8, seed)} == {False, True}
    few = rows("a", "train", [0, 1] * 20)
    assert drawn(few, 30, 1)[:10] == drawn(few, 10, 1)
    assert drawn(few, 10, 1) != drawn(few, 10, 2)


def test_where_both_classes_never_meet_there_is_no_figure():
    scores = random_scores(["a"])
    one = [r for r in scores.rows if r.split == "test" or not r.is_true]
    for table in training_sizes(Scores(tuple(one)), sizes=(10,), draws=2):
        assert len(table.rows) == 2
        assert all(set(row[1:]) == {None} for row in (*table.rows, *table.errors))
    never = drawn([r for r in one if r.split == "train"], 5, 0)
    assert len(never) == 5


def test_fewer_rows_than_the_smallest_size():
    tables = training_sizes(random_scores(train=12))
    assert [row[0] for row in tables[0].rows] == ["all (12)"]
    mixed = Scores((*random_scores(["a"], train=12).rows, *random_scores(["b"], train=15).rows))
    assert training_sizes(mixed)[0].rows[0][0] == "all (12 to 15)"
    tests_only = Scores(tuple(r for r in mixed.rows if r.split == "test"))
    assert training_sizes(tests_only) == []
    assert training_sizes(Scores(())) == []


def test_a_missing_value_takes_the_figure_of_what_needs_it():
    scores = random_scores(train=12)
    scores.rows[-1].scores["semantic-entropy"] = None
    table = training_sizes(scores)[0]
    assert cells(table, "FRANQ, condition-calibrated") == {"all (12)": None}
    assert cells(table, "XGBoost (FRANQ features)")["all (12)"] is not None  # trees take gaps
