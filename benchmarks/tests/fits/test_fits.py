"""Grid, thresholds, pooled fits and gold faithfulness against FRANQ written as plain loops."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from franq_bench.fits.alone import calibrated_alone
from franq_bench.fits.calibrations import faithfulness_calibration, pooled, thresholded
from franq_bench.fits.chosen import chosen_signals, chosen_table
from franq_bench.fits.fitted import with_fitted
from franq_bench.fits.grid import faithfulness_inputs, uq_grid
from franq_bench.fits.variants import raw
from franq_bench.tables.scores import GOLD, Scores
from franq_guard.metrics.measures import prr

from .ablation_data import (
    FAITH,
    UNFAITH,
    P,
    average_precision,
    cells,
    franq_loop,
    isotonic,
    mean_of,
    p_curve,
    parts,
    random_scores,
    roc_auc,
    rows,
)

NAMES = {
    "none": "FRANQ, no calibration",
    "global": "FRANQ, calibrated",
    "condition": "FRANQ, condition-calibrated",
}


def prr_loop(test, values):
    return prr([r.is_true for r in test], np.round(values, 10))


def test_grid_is_every_pair_fitted_on_its_own():
    scores = random_scores()
    by_prr, by_auc = uq_grid(scores, methods=["sar", FAITH, "not-there"])
    shown = ["SAR", "Semantic Entropy"]
    assert [c.title for c in by_prr.columns] == ["UQ_faith", *shown]
    for a, faith in zip(shown, ("sar", FAITH), strict=True):
        for b, unfaith in zip(shown, ("sar", FAITH), strict=True):
            pair = {"faith": faith, "unfaith": unfaith}
            expected = mean_of(average_precision, scores, **pair)
            assert cells(by_auc, b)[a] == pytest.approx(expected)
            assert cells(by_prr, b)[a] == pytest.approx(mean_of(prr_loop, scores, **pair))
    best = max(v for b in shown for v in cells(by_auc, b).values())
    assert f"{best:.2f}".removeprefix("0") in by_auc.note


def test_grid_leaves_out_what_a_test_row_lacks():
    scores = random_scores()
    for row in scores.rows[-1:]:
        row.scores["sar"] = None
    tables = uq_grid(scores)
    assert all("SAR" not in [c.title for c in t.columns] for t in tables)
    assert len(tables[0].columns) == len(tables[0].rows) + 1 == 4
    assert uq_grid(scores, methods=["sar"]) == []
    assert uq_grid(Scores(())) == []


def test_the_answer_alone_as_p_faithful():
    scores = random_scores()
    assert faithfulness_inputs(scores) == []
    # The answer alone takes the place of both by swapping the two columns.
    own = [
        {**r.scores, "faithfulness-answer": r.scores["parametric-knowledge"]} for r in scores.rows
    ]
    both = Scores(tuple(replace(r, scores=s) for r, s in zip(scores.rows, own, strict=True)))
    swapped = Scores(
        tuple(
            replace(r, scores={**r.scores, P: r.scores["faithfulness-answer"]}) for r in both.rows
        )
    )
    [table] = faithfulness_inputs(both, resamples=20)
    auc = cells(table, "PR-AUC")
    for asked, of in (("question and answer", both), ("answer alone", swapped)):
        for calibration, shown in NAMES.items():
            expected = mean_of(average_precision, of, calibration=calibration)
            assert auc[f"{shown}: {asked}"] == pytest.approx(expected)
        alone = [
            average_precision(test, [r.scores[P] for r in test])
            for test in (of.part(name).rows for name in of.datasets)
        ]
        assert auc[f"P_faithful by itself: {asked}"] == pytest.approx(np.mean(alone))
    assert len(auc) == 8
    assert table.errors[0][1] > 0


def test_signals_are_chosen_on_the_training_rows():
    scores = random_scores()
    errors = chosen_signals(scores, methods=[FAITH, UNFAITH, "not-there"])
    assert list(errors) == [(P, a, b) for a in (FAITH, UNFAITH) for b in (FAITH, UNFAITH)]
    for (_, faith, unfaith), error in errors.items():
        means = []
        for name in scores.datasets:
            train, _ = parts(scores, name)
            order = np.random.default_rng(0).permutation(len(train))
            squares = []
            for i in range(5):
                held = [train[k] for k in order[i::5]]
                rest = [r for r in train if r not in held]
                values = franq_loop(rest, held, faith=faith, unfaith=unfaith)
                squares += [(r.is_true - v) ** 2 for r, v in zip(held, values, strict=True)]
            means.append(np.mean(squares))
        assert error == pytest.approx(np.mean(means))
    worse = Scores(tuple(replace(r, is_true=not r.is_true) if r.split == "test" else r
                         for r in scores.rows))  # fmt: skip
    assert chosen_signals(worse, methods=[FAITH, UNFAITH]) == errors  # test rows have no part in it
    one_class = Scores(tuple(replace(r, is_true=True) for r in scores.rows))
    assert chosen_signals(one_class) == {}
    assert chosen_table(one_class) == []
    assert chosen_table(random_scores(train=4)) == []  # a fold would be empty


def test_chosen_signals_beside_those_in_use():
    scores = random_scores()
    [table] = chosen_table(scores, signals=(P, FAITH, UNFAITH), resamples=20)
    errors = chosen_signals(scores)
    _, faith, unfaith = min(errors, key=errors.get)
    auc = cells(table, "PR-AUC")
    for calibration, shown in NAMES.items():
        options = {"calibration": calibration}
        own = mean_of(average_precision, scores, **options)
        best = mean_of(average_precision, scores, faith=faith, unfaith=unfaith, **options)
        assert auc[f"{shown}: the signals in use"] == pytest.approx(own)
        assert auc[f"{shown}: chosen signals"] == pytest.approx(best)


def test_every_scale_is_tried_that_is_one_of_confidences():
    own = {FAITH, UNFAITH, "parametric-knowledge"}
    assert {(a, b) for _, a, b in chosen_signals(random_scores())} == set(product(own, repeat=2))
    scores = random_scores()  # "sar" lies around -40; and what a row lacks cannot be chosen
    next(r for r in scores.rows if r.split == "train").scores[UNFAITH] = None
    assert {(a, b) for _, a, b in chosen_signals(scores)} == set(product(own - {UNFAITH}, repeat=2))


def test_each_method_alone_by_loop():
    scores = with_fitted(random_scores())
    [table] = calibrated_alone(scores, resamples=20)
    for method, shown in (("sar", "SAR"), (FAITH, "Semantic Entropy"), (P, "Faithfulness score")):
        before, after = [], []
        for name in scores.datasets:
            train, test = parts(scores, name)
            values = [r.scores[method] for r in test]
            curve = isotonic([r.scores[method] for r in train], [float(r.is_true) for r in train])
            before.append(prr_loop(test, values))
            after.append(
                [f(test, [curve(v) for v in values]) for f in (prr_loop, average_precision)]
            )
        assert cells(table, "PRR")[shown] == pytest.approx(np.mean(before))
        prr_after, auc_after = np.mean(after, axis=0)
        assert cells(table, "PRR, calibrated")[shown] == pytest.approx(prr_after)
        assert cells(table, "PR-AUC, calibrated")[shown] == pytest.approx(auc_after)
    own = NAMES["condition"]
    assert cells(table, "PRR")[own] is None
    assert cells(table, "PR-AUC, calibrated")[own] == pytest.approx(
        mean_of(average_precision, scores)
    )
    assert table.errors[1][1] > 0  # the first row is a heading
    assert calibrated_alone(raw(scores)) == []


def test_thresholded_by_loop():
    scores = random_scores(train=18)
    table = thresholded(scores, resamples=20)
    rules = {shown: {"calibration": name} for name, shown in NAMES.items()}
    rules[f"{NAMES['condition']}, as in the paper"] = {"fewest": 0}
    for shown, rule in rules.items():
        for hard, label in ((False, shown), (True, f"{shown}, T = 0.5")):
            options = {**rule, "hard": hard}
            auc, roc = cells(table, "PR-AUC")[label], cells(table, "ROC-AUC")[label]
            assert auc == pytest.approx(mean_of(average_precision, scores, **options))
            assert roc == pytest.approx(mean_of(roc_auc, scores, **options))
    assert table.errors[0][1] > 0


def test_pooled_by_loop():
    scores = random_scores()
    table = cells(pooled(scores, resamples=0), "ROC-AUC")
    every = [r for r in scores.rows if r.split == "train"]
    for calibration, shown in (("condition", "condition-calibrated"), ("global", "calibrated")):
        tests = [parts(scores, name)[1] for name in scores.datasets]
        one = [roc_auc(t, franq_loop(every, t, calibration=calibration)) for t in tests]
        assert table[f"FRANQ, {shown}: one fit for all"] == pytest.approx(np.mean(one))
        own = mean_of(roc_auc, scores, calibration=calibration)
        assert table[f"FRANQ, {shown}: a fit per data set"] == pytest.approx(own)


def test_a_data_set_of_one_class_leaves_the_mean():
    true, half = [1] * 12, [0.5] * 12
    extra = [row for split in ("train", "test") for row in
             rows("one", split, true, faithfulness=half, semantic_entropy=half,
                  eigenvalues_entail=half)]  # fmt: skip
    scores = random_scores()
    both = Scores((*scores.rows, *extra))
    assert thresholded(both, resamples=0).rows == thresholded(scores, resamples=0).rows
    alone = thresholded(Scores(tuple(extra)), resamples=0)
    assert all(set(row[1:]) == {None} for row in alone.rows)


def test_too_few_rows_fall_back_to_the_global_curve():
    scores = random_scores(train=9)  # three true ones: no condition has five of each
    table = cells(thresholded(scores, resamples=0), "PRR")
    assert table["FRANQ, condition-calibrated"] == table["FRANQ, calibrated"] is not None


def gap(truth, p):
    """ECE by a loop over bins (i/10, (i+1)/10], 0 in the first."""
    total = 0.0
    for i in range(10):
        inside = [k for k, v in enumerate(p) if i / 10 < v <= (i + 1) / 10 or (i == 0 and v == 0)]
        total += abs(sum(truth[k] - p[k] for k in inside))
    return total / len(p)


def test_gold_faithfulness_by_loop():
    scores = random_scores(gold=True)
    table = faithfulness_calibration(scores, resamples=0)
    variants = {
        "as it is": {},
        "as it is, branches by gold faithfulness": {"gold": True},
        "calibrated, branches by gold faithfulness": {"gold": True, "calibrate": True},
    }
    for name, options in variants.items():
        for rule, fewest in (("", 5), (", no fallback", 0)):
            expected = mean_of(average_precision, scores, **options, fewest=fewest)
            assert cells(table, "PR-AUC")[name + rule] == pytest.approx(expected)
    own, calibrated = [], []
    for name in scores.datasets:
        train, test = parts(scores, name)
        gold, curve = [r.scores[GOLD] for r in test], p_curve(train)
        own.append(gap(gold, [r.scores[P] for r in test]))
        calibrated.append(gap(gold, [curve(r.scores[P]) for r in test]))
    gaps = list(cells(table, "ECE of P_faithful").values())
    assert gaps == pytest.approx(2 * [np.mean(own), np.mean(own), np.mean(calibrated)])


def test_only_rows_with_gold_count_and_there_must_be_some():
    scores, whole = random_scores(), random_scores(gold=True)
    with pytest.raises(ValueError, match="gold-faithful"):
        faithfulness_calibration(scores)
    more = random_scores(["c"], seed=1)
    mixed = Scores((*whole.rows, *more.rows))
    assert faithfulness_calibration(mixed, resamples=0) == faithfulness_calibration(
        whole, resamples=0
    )


def test_gold_faithfulness_is_no_feature():
    bare = random_scores()
    told = [{**row.scores, GOLD: float(row.is_true)} for row in bare.rows]  # it would give all away
    scores = Scores(tuple(replace(r, scores=s) for r, s in zip(bare.rows, told, strict=True)))
    for row, expected in zip(with_fitted(scores).rows, with_fitted(bare).rows, strict=True):
        assert row.scores == {**expected.scores, GOLD: float(row.is_true)}
    assert thresholded(scores, resamples=0) == thresholded(bare, resamples=0)


@pytest.mark.parametrize("at", [0, 5])
def test_a_method_that_a_row_lacks_is_a_feature_all_the_same(at):
    """Rows of an earlier run (`--known`) have no key of a method that was added since."""
    scores = random_scores(["a"])
    lacking, unmeasured = (
        Scores((*scores.rows[:at], replace(scores.rows[at], scores=own), *scores.rows[at + 1 :]))
        for without in [{m: v for m, v in scores.rows[at].scores.items() if m != "sar"}]
        for own in (without, without | {"sar": None})
    )
    found, expected = (
        [row.scores["xgboost-all"] for row in with_fitted(of).part("a").rows]
        for of in (lacking, unmeasured)
    )
    assert found == expected
