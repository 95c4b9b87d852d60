import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.calibration.fit import (
    TooFewLabelsError,
    check_labels,
    fit_calibrator,
    labelled,
    out_of_fold,
)
from franq_guard.calibration.fitting import fit_by
from franq_guard.calibration.promise import PromiseRefusedError
from franq_guard.calibration.store import Calibrator
from franq_guard.label_rule import LabelRule


def rows(n=300, seed=0, per_answer=3, **extra):
    """Claims that are true with the probability their own branch says."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        p, u, v = rng.uniform(0.01, 1, size=3)
        made.append(
            {
                "p_faithful": p,
                "uq_faith": math.log(u),
                "uq_unfaith": math.log(v),
                "is_true": int(rng.uniform() < p * u + (1 - p) * v),
                "group": f"answer {i // per_answer}",
            }
            | extra
        )
    return made


def test_fitted_stored_and_applied():
    made = rows()
    calibrator = fit_calibrator(made, fingerprint={"language_model": "lm"}, name="mine")
    signals = labelled(made).signals
    again = Calibrator.from_json(calibrator.to_json())
    assert again == calibrator
    direct = FranqClassifier(log_space=True).fit(signals, labelled(made).is_true)
    np.testing.assert_array_equal(again.apply(*signals.T)[0], direct.predict_proba(signals)[:, 1])
    assert again.fingerprint["language_model"] == "lm"
    assert again.fingerprint["n_train"] == 300
    assert {"date", "versions", "form"} <= set(again.fingerprint)


def test_figures_are_measured_on_claims_of_unseen_answers():
    made = rows()
    data = labelled(made)
    p = out_of_fold(fit_by("condition"), data)
    figures = fit_calibrator(made).figures
    assert figures["auroc"] == pytest.approx(roc_auc_score(data.is_true, p), abs=1e-6)
    assert figures["n"] == 300
    assert figures["answers"] == 100
    assert figures["unscored"] == 0
    assert figures["auroc_se"] > 0
    assert sum(figures["reliability"]["claims"]) == 300
    assert figures["fallback"] == []


def test_no_claim_is_judged_by_a_fit_that_saw_its_answer():
    data = labelled(rows())
    model = fit_by("condition")
    before = out_of_fold(model, data)
    own = data.groups == 7
    flipped = np.where(own, 1 - data.is_true, data.is_true)
    after = out_of_fold(model, data._replace(is_true=flipped))
    np.testing.assert_array_equal(after[own], before[own])
    assert (after != before).any()


def test_missing_signals_are_left_out_not_invented():
    made = rows()
    for row in made[:30]:
        row["uq_unfaith"] = None
    made[40].pop("p_faithful")
    made[50]["uq_faith"] = -math.inf
    calibrator = fit_calibrator(made)
    assert calibrator.figures["unscored"] == 31
    assert calibrator.figures["auroc"] > 0.5


def test_gold_faithfulness_sets_the_conditions():
    made = rows()
    for i, row in enumerate(made):
        row["is_faithful"] = i % 2
    data = labelled(made)
    want = FranqClassifier(log_space=True).fit(data.signals, data.is_true, faithful=data.faithful)
    assert fit_calibrator(made).faith == want.calibrator_.faith


def test_the_papers_scale_can_be_fitted():
    """300 claims with 15 false ones, as in the paper, and even fewer."""
    rng = np.random.default_rng(3)
    made = [row | {"is_true": int(i >= 15)} for i, row in enumerate(rows(300, per_answer=1))]
    order = [made[i] for i in rng.permutation(300)]
    found = fit_calibrator(order, faithful_threshold=0.6)
    assert found.figures["auroc_se"] > 0.02
    signals = labelled(order)
    direct = FranqClassifier(log_space=True, faithful_threshold=0.6)
    direct.fit(signals.signals, signals.is_true)
    assert found.faith == direct.calibrator_.faith


def test_a_promise_counts_what_the_faithful_threshold_flags():
    """No claim is above .98, so all are unsupported; four of ten are true, so that counts against.

    With .5, at which the true ones are supported, none of them would be flagged.
    """
    made = [
        {"p_faithful": 0.9 if i % 10 < 4 else 0.1, "is_true": int(i % 10 < 4), "group": str(i)}
        | {"uq_faith": -1.0, "uq_unfaith": -1.0}
        for i in range(300)
    ]
    fitted = fit_calibrator(made, faithful_threshold=0.5, at_most_flagged=0.2)
    assert fitted.promise["flagged"] == 0
    with pytest.raises(PromiseRefusedError, match=r"flags (\d+) of \1 true claims"):
        fit_calibrator(made, faithful_threshold=0.98, at_most_flagged=0.2)
    assert fit_calibrator(made, faithful_threshold=0.98).labels.supported_from == 0.98
    rule = LabelRule(supported_from=0.3)  # one that is handed in has its own
    assert fit_calibrator(made, faithful_threshold=0.98, rule=rule).labels.supported_from == 0.3


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (rows(9, per_answer=1)[:8], "at least 5 of each from 10 answers"),
        ([r | {"is_true": 1} for r in rows()], "300 true and 0 false"),
        ([r | {"group": "one"} for r in rows()], "from 1 answers"),
        ([], "0 true"),
    ],
)
def test_too_few_labels_are_refused_with_the_reason(made, message):
    with pytest.raises(TooFewLabelsError, match=message):
        fit_calibrator(made)


@pytest.mark.parametrize("calibration", ["none", "global", "condition", "learned"])
def test_claims_without_signals_are_none_to_fit_on(calibration):
    # a curve fitted to the true ones alone would say that every claim is true
    made = rows(60)
    for row in made:
        if not row["is_true"]:
            row["uq_faith"] = None
    true = sum(row["is_true"] for row in made)
    told = f"{60 - true} of 60 claims have a signal missing; of the others {true} are true and 0"
    with pytest.raises(TooFewLabelsError, match=told):
        fit_calibrator(made, calibration=calibration)
    # where P(faithful) is 0 nothing of UQ_faith is needed
    nothing = [row | {"p_faithful": 0.0, "uq_faith": None} for row in rows(60)]
    if calibration != "learned":
        assert fit_calibrator(nothing, calibration=calibration).figures["unscored"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"is_true": None}, "row 3: is_true must be 0 or 1"),
        ({"is_true": 0.5}, "row 3: is_true"),
        ({"is_faithful": 1}, "row 1: is_faithful is in some rows only"),
        ({"is_faithful": "yes"}, "row 3: is_faithful"),
        ({"trusted": "no"}, "row 3: trusted must be 0 or 1"),
        ({"uq_faith": "high"}, "row 3: 'high' is not a number"),
        ({"uq_faith": True}, "row 3: True is not a number"),
        ({"uq_faith": np.bool_(True)}, "row 3: .*True.* is not a number"),
        ({"uq_faith": 10**400}, "row 3: int too large"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(change, message):
    made = rows()
    made[2] |= change
    with pytest.raises(ValueError, match=message):
        fit_calibrator(made)


@pytest.mark.parametrize("calibration", ["condition", "learned"])
def test_claims_of_weight_0_are_none_to_fit_on(calibration):
    told = [row | {"source": "user", "is_true": 1} for row in rows(60)]
    judged = [row | {"source": "judge:m", "is_true": 0} for row in rows(60, seed=1)]
    for weights, found in (
        ({"judge": 0}, "60 true and 0 false claims from 20 answers, 60 claims of weight 0 not"),
        ({"judge": 0, "user": 0}, "0 true and 0 false claims from 0 answers, 120 claims of weight"),
    ):
        with pytest.raises(TooFewLabelsError, match=found):
            fit_calibrator([*told, *judged], weights=weights, calibration=calibration)
        with pytest.raises(TooFewLabelsError, match=found):
            check_labels([*told, *judged], weights=weights)
    with pytest.raises(ValueError, match="weight of judge must be a number from 0 on, not -1"):
        fit_calibrator([*told, *judged], weights={"judge": -1}, calibration=calibration)


def test_a_fold_whose_counted_claims_are_of_one_class_gives_no_figure():
    # 20 answers of 3 claims; the only false ones that count are of the first answer, so without
    # it there is nothing to fit: no P(true) in its fold
    made = [row | {"is_true": int(i >= 3), "source": "user"} for i, row in enumerate(rows(60))]
    made += [row | {"is_true": 0, "source": "judge"} for row in rows(60)]
    data = labelled(made, {"judge": 0})
    p = out_of_fold(fit_by("global"), data)
    assert np.isnan(p[data.groups == 0]).all()
    assert 0 < np.isnan(p).mean() < 0.5


def test_the_reason_for_a_fallback_counts_as_the_fit_does():
    # faithful: 20 true of weight .2 are 4; 10 false, one of which lacks the score: 9
    made = [row | {"p_faithful": 0.9, "source": "judge", "is_true": 1} for row in rows(20)]
    made += [row | {"p_faithful": 0.9, "is_true": 0} for row in rows(10)]
    made[-1]["uq_faith"] = None
    made += [row | {"p_faithful": 0.1} for row in rows(60, seed=2)]
    fitted = fit_by("condition")(labelled(made, {"judge": 0.2}))
    assert fitted.fallback == ("faith",)
    assert fitted.not_done == (
        "the curve of UQ_faith was fitted to all claims: of the faithful ones, by weight, 4 are "
        "true and 9 false, 5 of each are needed",
    )


def few_of_the_others():
    """240 faithful claims, and 60 others of which three are true."""
    made = [row | {"p_faithful": 0.9} for row in rows(240)]
    other = [row | {"p_faithful": 0.1} for row in rows(60, seed=2)]
    return made + [row | {"is_true": int(i % 20 == 0)} for i, row in enumerate(other)]


def test_the_papers_rule_takes_no_global_curve_for_want_of_labels():
    made = few_of_the_others()
    data = labelled(made)
    usual = fit_calibrator(made, compare=True)
    alone = fit_calibrator(made, min_per_class=0, compare=True)
    assert (usual.figures["fallback"], alone.figures["fallback"]) == (["unfaith"], [])
    direct = FranqClassifier(log_space=True, min_per_class=0).fit(data.signals, data.is_true)
    expected = direct.predict_proba(data.signals)[:, 1]
    np.testing.assert_array_equal(alone.apply(*data.signals.T)[0], expected)
    # Each is a row of the other's comparison, and its own there.
    for one, other, name in ((usual, alone, "no"), (alone, usual, "with")):
        compared = one.figures["compared"]
        assert compared["condition"]["brier"] == one.figures["brier"]
        assert compared[f"condition, {name} fallback"] == other.figures["compared"]["condition"]
    assert usual.figures["brier"] != alone.figures["brier"]
    assert Calibrator.from_json(alone.to_json()).figures["min_per_class"] == 0


def test_the_report_fits_again_by_the_same_rule():
    from franq_guard.report.calibration import calibration_plots

    made = few_of_the_others()
    drawn = [calibration_plots(fit_calibrator(made, min_per_class=n), made)[0] for n in (0, 5)]
    assert drawn[0] != drawn[1]


def test_a_condition_without_a_row_has_no_curve_of_its_own():
    fitted = fit_by("condition", min_per_class=0)(labelled(rows(60, p_faithful=0.9)))
    assert fitted.fallback == ("unfaith",)
    assert fitted.not_done == (
        "the curve of UQ_unfaith was fitted to all claims: there is no other one with a score",
    )


def test_rows_without_a_group_are_answers_of_their_own():
    made = [{k: v for k, v in r.items() if k != "group"} for r in rows(60)]
    assert len(set(labelled(made).groups.tolist())) == 60
    keys = ("group", "source", "is_faithful", "trusted")
    for nothing in (None, math.nan, np.float64("nan")):
        null = labelled([r | dict.fromkeys(keys, nothing) for r in made])
        assert len(set(null.groups.tolist())) == 60
        assert set(null.sources.tolist()) == {""}
        assert (null.faithful, null.trusted.all()) == (None, True)


@pytest.mark.parametrize("no", [False, 0, np.False_])
def test_a_label_that_is_not_trusted_may_be_told_by_any_no(no):
    made = rows(6, per_answer=1)
    made[2]["trusted"] = no
    assert labelled(made).trusted.tolist() == [True, True, False, True, True, True]


def test_numbers_of_numpy_are_numbers():
    as_numpy = {"p_faithful": np.float32, "uq_faith": np.float64, "is_true": np.int64}
    made = [row | {key: kind(row[key]) for key, kind in as_numpy.items()} for row in rows(30)]
    np.testing.assert_allclose(labelled(made).signals, labelled(rows(30)).signals, rtol=1e-7)


@pytest.mark.parametrize("calibration", ["condition", "learned"])
def test_the_order_of_the_answers_changes_nothing(calibration):
    made = rows()
    there, back = (fit_calibrator(x, calibration=calibration) for x in (made, made[::-1]))
    assert there.figures["auroc"] == back.figures["auroc"]
    assert there.figures["ece_se"] == pytest.approx(back.figures["ece_se"], abs=1e-5)
    signals = labelled(made).signals
    ours, theirs = (one.apply(*signals.T)[0] for one in (there, back))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
