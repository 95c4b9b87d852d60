"""Learned curves as a calibrator: what is fitted to which claims, stored, applied."""

import json
import math

import numpy as np
import pytest

from franq_guard.calibration.curves import Logistic, Term
from franq_guard.calibration.fit import TooFewLabelsError, check_labels, fit_calibrator, labelled
from franq_guard.calibration.fitting import fit_by
from franq_guard.calibration.mixture import FranqMixture
from franq_guard.calibration.store import Calibrator


def rows(n=200, seed=0, share=0.5, **extra):
    """Claims whose truth depends on the score of the branch; ``share`` shifts how many are true."""
    rng = np.random.default_rng(seed)
    shift = math.log(share / (1 - share))
    for i in range(n):
        p, u, v = rng.uniform(), rng.normal(-3, 1), rng.normal(-6, 2)
        level = p / (1 + math.exp(-2 * (u + 3) - shift)) + (1 - p) / (1 + math.exp(-v - 6 - shift))
        true = int(rng.uniform() < level)
        signals = {"p_faithful": p, "uq_faith": u, "uq_unfaith": v}
        yield {**signals, "is_true": true, "group": f"{extra.get('source')} {i // 2}", **extra}


def test_by_hand():
    # faith: .1 + .8 * sigmoid(0) = .5; unfaith: constant .1 + .8 * sigmoid(log 3) = .7.
    calibrator = Calibrator(
        calibration="learned",
        faith=Logistic(1.0, 2.0, -3.0, 4.0, 0.1, -9.0),
        unfaith=Logistic(math.log(3), 0.0, 0.0, 1.0, 0.1, 0.0),
    )
    # P(faithful) 1 counts as .98, so that P(true) = .98 * .5 + .02 * .7.
    p_true, faith, unfaith = calibrator.apply(
        [1.0, 0.5, 0.5], [-5.0, -5.0, None], [-1, -math.inf, 0]
    )
    assert faith[:2].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(unfaith, 0.7)
    np.testing.assert_allclose(p_true, [0.504, 0.6, np.nan])
    assert Calibrator.from_json(calibrator.to_json()) == calibrator


def test_the_stored_curves_give_what_the_mixture_gives():
    data = labelled(rows())
    model = FranqMixture(faith=(0,), unfaith=(1,), signs=(1, 1))
    model.fit(data.signals, data.is_true, groups=data.groups)
    fitted = Calibrator.from_json(fit_by("learned")(data).calibrator.to_json())
    expected = model.predict_proba(data.signals)[:, 1]
    np.testing.assert_allclose(fitted.apply(*data.signals.T)[0], expected, atol=1e-12)


def test_what_the_passages_contradict_and_entail_is_weighed_by_hand():
    # Log-odds of .9 and .5: log 9 and 0. Constant but for the terms: sigmoid(-1 * log 9 + 2 * 0),
    # which is 1 / (1 + 9).
    curve = Logistic(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, Term(-1.0, 0.0, 1.0), Term(2.0, 0.0, 1.0))
    assert curve(np.array([-3.0]), np.array([[0.9, 0.5]])) == pytest.approx([0.1])
    calibrator = Calibrator(calibration="learned", faith=Logistic(*[0.0] * 3, 1.0, 0.0, 0.0),
                            unfaith=curve)  # fmt: skip
    assert Calibrator.from_json(calibrator.to_json()) == calibrator
    with pytest.raises(ValueError, match="give nli"):
        calibrator.apply([0.5], [0.0], [0.0])
    # Nothing retrieved: no passage contradicts or entails, so both count .001 (log-odds -+ log 999)
    nan = float("nan")
    _, _, unfaith = calibrator.apply([0.0, 0.5], [0.0] * 2, [0.0] * 2, [[nan, nan]] * 2)
    assert unfaith[0] == pytest.approx(1 / (1 + math.exp(math.log(999))))  # log 999 - 2 * log 999
    assert math.isnan(unfaith[1])


@pytest.mark.parametrize("terms", [(Term(0.1, 0.0, 1.0), None), (None, Term(-0.1, 0.0, 1.0))])
def test_contradiction_never_raises_a_curve_nor_does_entailment_lower_it(terms):
    with pytest.raises(ValueError, match="must not raise"):
        Logistic(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, *terms)


def test_the_passages_are_weighed_where_all_rows_know_them():
    known = [{**row, "contradiction": 0.5, "entailment": 0.1} for row in rows()]
    for i, row in enumerate(known):  # what is false and not stated is contradicted, mostly
        if not row["is_true"] and i % 4:
            row["contradiction"] = 0.9
    unfaith = fit_by("learned")(labelled(known)).calibrator.unfaith
    assert unfaith.contradiction.weight < 0
    assert unfaith.entailment.weight >= 0
    del known[0]["contradiction"]
    assert fit_by("learned")(labelled(known)).calibrator.unfaith.contradiction is None


def test_slopes_may_come_from_edits_and_the_level_only_from_real_answers():
    made = list(rows(400, share=0.3, source="edit"))
    real = list(rows(100, seed=1, share=0.8, source="person"))
    both = fit_calibrator([*made, *real], calibration="learned")
    alone = fit_calibrator(made, calibration="condition")
    truth = labelled(rows(2000, seed=2, share=0.8))
    said = [c.apply(*truth.signals.T)[0].mean() for c in (both, alone)]
    # .3 and .8 of true claims at average signals: edits alone say far too little is true.
    assert abs(said[0] - truth.is_true.mean()) < 0.06
    assert said[1] < truth.is_true.mean() - 0.2
    assert both.figures["n"] == 100  # quality is that on real answers
    assert both.fingerprint["n_train"] == 500
    too_few, message = [*made, *real[:20]], r"20 labels of real answers: the level .* needs 30"
    uncounted = [*too_few, *(row | {"source": "judge:m"} for row in real[20:])]
    for refusing in (fit_calibrator, check_labels):
        with pytest.raises(TooFewLabelsError, match=message):
            refusing(too_few, calibration="learned")
        with pytest.raises(TooFewLabelsError, match=message):
            refusing(uncounted, calibration="learned", weights={"judge": 0})
    assert check_labels(too_few) == 0  # other curves take edits as they are


def test_what_could_not_be_fitted_says_how_many_labels_it_needs():
    few = [row | {"p_faithful": 0.97} for row in rows(100)]
    fitted = fit_calibrator(few, calibration="learned", compare=True)
    assert fitted.figures["fallback"] == ["unfaith"]
    (said,) = fitted.figures["not_done"]
    assert "UQ_unfaith is constant: a slope needs 20 true and 20 false claims" in said
    assert isinstance(fitted.unfaith, Logistic)
    assert fitted.unfaith.weight == 0
    compared = fitted.figures["compared"]
    ways = ["none", "global", "condition", "condition, no fallback", "learned"]
    assert list(compared) == ways
    assert compared["learned"]["auroc"] == pytest.approx(fitted.figures["auroc"])


@pytest.mark.parametrize("calibration", ["condition", "learned"])
def test_a_weight_is_like_so_many_rows(calibration):
    some = list(rows(120, source="judge:m"))
    twice = labelled(some, {"judge": 2.0}), labelled([*some, *some])
    fitted = [fit_by(calibration)(data).calibrator for data in twice]
    signals = twice[0].signals.T
    expected = fitted[1].apply(*signals)[0]
    np.testing.assert_allclose(fitted[0].apply(*signals)[0], expected, atol=1e-4)
    without = labelled([*some, *rows(50, seed=3, source="edit")], {"edit": 0.0, "judge:m": 1.0})
    alone = fit_by(calibration)(labelled(some)).calibrator
    assert fit_by(calibration)(without).calibrator == alone


def test_a_level_fitted_again_keeps_the_slopes():
    data, other = labelled(rows()), labelled(rows(60, seed=4, share=0.9))
    model = FranqMixture().fit(data.signals, data.is_true)
    before = model.faith_, model.unfaith_
    model.relevel(other.signals, other.is_true)
    shifts = []
    for old, new in zip(before, (model.faith_, model.unfaith_), strict=True):
        assert (old.weights, old.mean, old.scale) == (new.weights, new.mean, new.scale)
        shifts.append(new.intercept - old.intercept)
    assert shifts[0] == pytest.approx(shifts[1])  # so no claim overtakes another for its branch
    assert shifts[0] > 0
    with pytest.raises(ValueError, match=r"each \[0.0, 1.0\]"):
        model.relevel(other.signals, other.is_true + 1)
    with pytest.raises(ValueError, match="every sample_weight is zero"):
        model.relevel(other.signals, other.is_true, np.zeros(60))


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ({"scale": 0.0}, "scale > 0"),
        ({"weight": -1.0}, "weight >= 0"),
        ({"floor": 0.5}, "floor"),
        ({"mean": "x"}, "must be numbers"),
        ({"more": 1.0}, "more"),
    ],
)
def test_a_damaged_curve_is_refused(damage, why):
    stored = json.loads(fit_by("learned")(labelled(rows(80))).calibrator.to_json())
    stored["faith"] |= damage
    with pytest.raises(ValueError, match=why):
        Calibrator.from_json(json.dumps(stored))
    with pytest.raises(ValueError, match="two logistic curves"):
        Calibrator.from_json(json.dumps(stored | {"faith": {"x": [0.0], "y": [0.5]}}))
