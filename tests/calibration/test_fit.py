import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.calibration.fit import (
    TooFewLabelsError,
    fit_calibrator,
    labelled,
    out_of_fold,
)
from franq_guard.calibration.store import Calibrator
from franq_guard.calibration.thresholds import choose_threshold, parse_goal


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
    p = out_of_fold(FranqClassifier(log_space=True), data)
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
    model = FranqClassifier(log_space=True)
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
    want = FranqClassifier(log_space=True).fit(data.signals, data.is_true, data.faithful)
    assert fit_calibrator(made).faith == want.calibrator_.faith


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (rows(39), "at least 20"),
        ([r | {"is_true": 1} for r in rows()], "300 true and 0 false"),
        ([r | {"group": "one"} for r in rows()], "from 1 answers"),
        ([], "0 true"),
    ],
)
def test_too_few_labels_are_refused_with_the_reason(made, message):
    with pytest.raises(TooFewLabelsError, match=message):
        fit_calibrator(made)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"is_true": None}, "row 3: is_true must be 0 or 1"),
        ({"is_true": 0.5}, "row 3: is_true"),
        ({"is_faithful": 1}, "row 1: is_faithful is in some rows only"),
        ({"is_faithful": "yes"}, "row 3: is_faithful"),
        ({"uq_faith": "high"}, "row 3: 'high' is not a number"),
        ({"uq_faith": True}, "row 3: True is not a number"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(change, message):
    made = rows()
    made[2] |= change
    with pytest.raises(ValueError, match=message):
        fit_calibrator(made)


def test_rows_without_a_group_are_answers_of_their_own():
    made = [{k: v for k, v in r.items() if k != "group"} for r in rows(60)]
    assert len(set(labelled(made).groups.tolist())) == 60


TRUE = [0, 0, 1, 0, 1, 1, 1, 1]
P = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.6, 0.9]


@pytest.mark.parametrize(
    ("goal", "value", "rate", "attribute"),
    [
        # 5 true claims; holding back at most 1 of them: threshold .5 (only .3 is held back)
        ("fpr=0.2", 0.5, 0.2, "fpr"),
        ("fpr=0", 0.3, 0.0, "fpr"),
        # from .3 on 5 of 6 pass true; from .2 on 5 of 7
        ("precision=0.8", 0.3, 5 / 6, "precision"),
        ("precision=1", 0.5, 1.0, "precision"),
        # half of 8 claims: .5 keeps 4 (.5 .6 .6 .9), .6 keeps 3
        ("kept=0.5", 0.5, 0.5, "kept"),
        # the tie at .6 passes or stays as one
        ("kept=0.3", 0.6, 3 / 8, "kept"),
    ],
)
def test_threshold_by_hand(goal, value, rate, attribute):
    name, wanted = parse_goal(goal)
    got = choose_threshold(TRUE, P, goal=name, wanted=wanted)
    assert got.value == value
    assert getattr(got, attribute) == pytest.approx(rate)


def test_threshold_rates_by_hand():
    # at .5: of the 3 false all held back; of the 5 true 4 pass; 4 of 8 kept, all true
    got = choose_threshold(TRUE, P, goal="kept", wanted=0.5)
    assert (got.fpr, got.caught, got.precision, got.kept) == pytest.approx((0.2, 1.0, 1.0, 0.5))


def test_threshold_in_the_figures_keeps_its_promise():
    calibrator = fit_calibrator(rows(900), threshold_for="fpr=0.1")
    assert calibrator.figures["threshold"]["goal"] == "fpr=0.1"
    value = calibrator.figures["threshold"]["value"]
    fresh = labelled(rows(3000, seed=5))
    p = calibrator.apply(*fresh.signals.T)[0]
    assert np.mean(p[fresh.is_true == 1] < value) == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize("text", ["fpr", "fpr=", "fpr=2", "recall=0.5", "fpr=x", "", "kept=nan"])
def test_goals_that_make_no_sense(text):
    with pytest.raises(ValueError, match="want fpr=S"):
        parse_goal(text)


def test_a_threshold_that_cannot_be_met():
    with pytest.raises(ValueError, match=r"the best is 0\.500"):
        choose_threshold([1, 0], [0.5, 0.5], goal="precision", wanted=0.9)
    with pytest.raises(ValueError, match="both true and false"):
        choose_threshold([1, 1], [0.5, 0.6], goal="kept", wanted=0.9)
