"""What needs no loop over fits: splits, histogram, ECE, the first tree, settings side by side."""

from dataclasses import replace

import numpy as np
import pytest

from franq_bench.fits.by_faithfulness import by_faithfulness, p_faithful_table
from franq_bench.fits.first_tree import first_tree
from franq_bench.fits.fitted import FITTED, with_fitted
from franq_bench.fits.held_out import held_out
from franq_bench.fits.robustness import Setting, robustness
from franq_bench.fits.short_form import ablation_tables
from franq_bench.fits.variants import raw
from franq_bench.tables.method_names import title
from franq_bench.tables.results import MEAN, metric_rows
from franq_bench.tables.scores import GOLD, TRAINED_ON, Scores

from .ablation_data import UNFAITH, P, average_precision, cells, mean_of, random_scores, rows


def split_scores():
    """Above 0.5: true .9, false .8, true .4, false .3; up to 0.5: true above false."""
    true = [1, 0, 1, 0, 1, 0, 1]
    p = [0.9, 0.9, 0.6, 0.51, 0.5, 0.1, None]
    train = rows("a", "train", [1, 0], faithfulness=[0.9, 0.1], perplexity=[0.5, 0.5])
    values = [0.9, 0.8, 0.4, 0.3, 0.7, 0.2, 0.0]
    return Scores((*train, *rows("a", "test", true, faithfulness=p, perplexity=values)))


def test_split_by_hand():
    above, below = by_faithfulness(split_scores(), resamples=0)
    # As in test_results: 3 of 4 pairs in order; precision 1 of 1, then 2 of 3.
    assert cells(above, "ROC-AUC")["Perplexity"] == 3 / 4
    assert cells(above, "PR-AUC")["Perplexity"] == pytest.approx(1 / 2 + 1 / 3)
    assert cells(above, "ECE")["Perplexity"] == pytest.approx(1.8 / 4)
    assert cells(below, "ROC-AUC")["Perplexity"] == 1
    assert "4 rows: a 4 (2 true)" in above.note
    assert "2 rows: a 2 (1 true)" in below.note  # the row without P_faithful is in neither


def test_a_data_set_of_one_class_among_these_rows_is_in_no_mean():
    """Else PR-AUC and ECE would be means over other data sets than AUROC and PRR."""
    alone = split_scores()
    false = rows("b", "test", [0, 0], faithfulness=[0.2, 0.3], perplexity=[0.9, 0.8])
    true = rows("c", "test", [1, 1], faithfulness=[0.2, 0.3], perplexity=[0.1, 0.2])
    expected, found = (
        by_faithfulness(scores, resamples=20)[1]
        for scores in (alone, Scores((*alone.rows, *false, *true)))
    )
    assert (found.rows, found.errors) == (expected.rows, expected.errors)
    assert "6 rows: a 2 (1 true), b 2 (0 true), c 2 (2 true)." in found.note
    _, nothing = by_faithfulness(Scores((*alone.rows[:6], *false)), resamples=20)
    assert (nothing.rows, "b 2 (0 true)" in nothing.markdown()) == ((), True)


def test_rows_with_passages_that_the_small_model_knew_are_left_out():
    scores = split_scores()
    marks = [1.0, 0.0, 1.0, 0.0, None, 0.0, 0.0, 1.0, 1.0]  # two training rows, seven test rows
    marked = Scores(
        tuple(
            replace(r, scores={**r.scores, TRAINED_ON: mark})
            for r, mark in zip(scores.rows, marks, strict=True)
        )
    )
    # Left: false .8, true .4, false .3, true .7: two of four pairs in order.
    [table] = held_out(marked, raw(marked), resamples=0)
    assert "4 rows: a 4 (2 true)" in table.note
    assert cells(table, "ROC-AUC")["Perplexity"] == 1 / 2
    assert TRAINED_ON not in table.markdown()
    assert held_out(scores, raw(scores)) == []
    every = Scores(tuple(replace(r, scores={TRAINED_ON: 1.0}) for r in scores.rows))
    assert held_out(every, raw(every)) == []


def test_a_part_without_rows_has_no_table():
    scores = split_scores()
    only = Scores(tuple(r for r in scores.rows if (r.scores[P] or 0) > 0.5))
    assert [t.name for t in by_faithfulness(only, resamples=0)] == ["p-faithful-above"]


def test_histogram_by_hand():
    table = p_faithful_table(split_scores())
    # six rows with P: .1 | .5 | .51, .6 | .9, .9; a bin holds its upper end
    assert list(cells(table, "rows").values()) == [1, 0, 0, 0, 1, 2, 0, 0, 2, 0]
    share = cells(table, "share true")
    assert (share["0.0 to 0.1"], share["0.4 to 0.5"], share["0.8 to 0.9"]) == (0, 1, 0.5)
    assert share["0.9 to 1.0"] is None
    assert cells(table, "share of rows")["0.5 to 0.6"] == pytest.approx(2 / 6)
    assert len(table.columns) == 4


def test_histogram_with_gold_by_hand():
    made = rows("a", "test", [1, 0, 1], faithfulness=[0.9, 0.9, 0.2], gold_faithful=[1, 0, None])
    table = p_faithful_table(Scores(tuple(made)))
    assert cells(table, "rows with gold")["0.8 to 0.9"] == 2
    assert cells(table, "share faithful (gold)")["0.8 to 0.9"] == 0.5
    assert cells(table, "share faithful (gold)")["0.1 to 0.2"] is None
    assert "gold faithfulness: .40 (mean" in table.note  # |1/2 - .9|
    assert set(cells(p_faithful_table(Scores(())), "rows").values()) == {0}


def test_first_tree_of_one_telling_feature():
    true = [1, 0] * 20
    told = [0.9 if t else 0.2 for t in true]
    made = rows("a", "train", true, perplexity=told, sar=[0.5] * 40, gold_faithful=true)
    made += rows("b", "train", [0] * 9, perplexity=[0.1] * 9)
    table = first_tree(Scores(tuple(made)))
    assert [row[0] for row in table.rows] == [
        "a", "Perplexity < 0.9", "Perplexity ≥ 0.9",
        "b", "no tree: the training rows are of one class",
    ]  # fmt: skip
    low, high = table.rows[1:3]
    assert (low[2:], high[2:]) == ((20, 0), (20, 1))
    # From even odds m rows have gradients m/2 and curvature m/4: .1 * (m/2) / (m/4 + 1), m <= 20
    # rows drawn. The starting odds are the share of true rows, one half.
    possible = [0.1 * (m / 2) / (m / 4 + 1) for m in range(1, 21)]
    assert min(abs(high[1] - v) for v in possible) < 1e-4
    assert min(abs(low[1] + v) for v in possible) < 1e-4


def test_first_tree_says_where_missing_values_go():
    true = [1, 0] * 20
    told = [0.9 if t else 0.2 for t in true]
    told[1] = told[3] = None  # two false ones
    made = rows("a", "train", true, perplexity=told)
    texts = [row[0] for row in first_tree(Scores(tuple(made))).rows[1:]]
    assert "Perplexity < 0.9 (or missing)" in texts
    assert "Perplexity ≥ 0.9" in texts


def test_settings_side_by_side():
    own, other = random_scores(["a", "b"]), random_scores(["b", "c"], seed=3)
    both = {"original": Setting(own), "shuffled": Setting(other)}
    by_prr, by_auc = robustness(both, resamples=10)
    shown = ["method", "original", "shuffled", "paper: original", "paper: shuffled"]
    assert [c.title for c in by_auc.columns] == shown
    label = "FRANQ, condition-calibrated, Parametric Knowledge as UQ_faith"
    for setting, scores in (("original", own), ("shuffled", other)):
        common = Scores(tuple(r for r in scores.rows if r.dataset == "b"))
        found = cells(by_auc, setting)
        expected = mean_of(average_precision, common)
        assert found["FRANQ, condition-calibrated"] == pytest.approx(expected)
        expected = mean_of(average_precision, common, faith="parametric-knowledge")
        assert found[label] == pytest.approx(expected)
        test = [r for r in common.rows if r.split == "test"]
        expected = average_precision(test, [r.scores[P] for r in test])
        assert found["Faithfulness score"] == pytest.approx(expected)
    # the paper's tables: FRANQ condition-calibrated .631 and .695, AlignScore's PRR .207 and .234
    theirs = [cells(by_auc, name) for name in shown[3:]]
    assert [of["FRANQ, condition-calibrated, as in the paper"] for of in theirs] == [0.631, 0.695]
    assert [of["FRANQ, condition-calibrated"] for of in theirs] == [None, None]
    assert cells(by_prr, "paper: original")["Faithfulness score"] == 0.207
    assert cells(by_prr, "paper: shuffled")["Faithfulness score"] == 0.234
    assert "original: 40 training and 30 test rows, 10 of them true" in by_prr.note
    assert by_auc.errors[0][1] > 0


def test_a_setting_has_the_figures_of_its_own_report():
    scores = random_scores(["a", "b"], seed=5)
    signals, above = (P, "parametric-knowledge", UNFAITH), 0.4
    setting = Setting(scores, signals, above, titles_shown=True)
    table, _ = robustness({"corrupted": setting, "other": Setting(scores)}, resamples=0)
    fitted = with_fitted(scores, signals=signals, faithful_above=above)
    expected = {r.method: r.prr for r in metric_rows(fitted, resamples=2) if r.dataset == MEAN}
    found, other = cells(table, "corrupted"), cells(table, "other")
    assert {m: found[title(m)] for m in FITTED} == {m: expected[m] for m in FITTED}
    of_knowledge = found["FRANQ, condition-calibrated, Parametric Knowledge as UQ_faith"]
    of_entropy = other["FRANQ, condition-calibrated, Semantic Entropy as UQ_faith"]
    assert (of_knowledge, of_entropy) == (
        found[title("franq-condition")],
        other[title("franq-condition")],
    )
    assert found[title("franq-condition")] != other[title("franq-condition")]
    assert (
        "corrupted: 80 training and 60 test rows, 20 of them true; UQ_faith Parametric"
        in table.note
    )
    assert "often are the answer, in: corrupted. There its rows" in table.note
    assert "paper: other" not in [c.title for c in table.columns]  # the paper has no such setting


def test_settings_without_a_common_data_set_or_method():
    own, other = Setting(random_scores(["a"])), Setting(random_scores(["c"]))
    assert robustness({"original": own, "shuffled": other}) == []
    assert robustness({}) == []
    bare = Setting(Scores(tuple(rows("a", "test", [1, 0, 1, 0], perplexity=[1, 0, 1, 0]))))
    assert [t.rows for t in robustness({"original": bare})] == [(), ()]


def test_every_table_of_a_matrix_with_gold():
    scores = random_scores(gold=True, train=24)
    tables = ablation_tables(scores, draws=1, resamples=3)
    names = [table.name for table in tables]
    assert names == [
        "fallback", "one-change", "uq-grid-prr", "uq-grid-pr-auc", "chosen-signals",
        "calibrated-alone",
        "thresholded",
        "faithfulness-calibration", "training-size-pr-auc", "training-size-prr",
        "training-size-ece", "p-faithful-above", "p-faithful-below", "p-faithful", "pooled",
        "first-tree", "first-tree-of-signals",
    ]  # fmt: skip
    for table in tables:
        assert table.note
        assert GOLD not in table.markdown()
        cell = [c for row in table.rows for c in row if isinstance(c, float)]
        assert np.isfinite(cell).all()


def test_what_does_not_apply_is_left_out():
    scores = random_scores(["a"], train=24)
    names = [table.name for table in ablation_tables(scores, draws=1, resamples=0)]
    assert "pooled" not in names
    assert "faithfulness-calibration" not in names
    for splits, expected in ((["test"], ["p-faithful"]), (["train"], [])):
        part = Scores(tuple(r for r in scores.rows if r.split in splits))
        assert [t.name for t in ablation_tables(part)] == expected
    assert ablation_tables(Scores(())) == []


def test_gaps_and_one_class_raise_nothing():
    scores = random_scores(["a", "b"], train=24)
    for row in scores.rows[::7]:
        row.scores[P] = None
    for row in scores.rows[::5]:
        row.scores["semantic-entropy"] = None
    one = [r for r in scores.rows if r.dataset == "a" or not r.is_true]
    tables = ablation_tables(Scores(tuple(one)), draws=1, resamples=3)
    assert tables
    for table in tables:
        table.markdown()
