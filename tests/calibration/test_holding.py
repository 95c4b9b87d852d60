import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from franq_guard.calibration.holding import _at_least, _mean, _spiegelhalter, holding
from franq_guard.calibration.store import Calibrator, Knots
from franq_guard.label_rule import LabelRule


def calibrator(threshold=0.5, promised=0.2):
    """P(true) is the first signal itself, while the claim is supported."""
    return Calibrator(
        calibration="condition",
        log_space=False,
        faith=Knots((0.0, 1.0), (0.0, 1.0)),
        unfaith=Knots((0.0, 1.0), (0.0, 1.0)),
        labels=LabelRule(threshold=threshold),
        promise=None if promised is None else {"at_most_flagged": promised},
    )


def rows(p, is_true, **more):
    return [
        {"group": i, "p_faithful": 0.9, "uq_faith": x, "uq_unfaith": x, "is_true": bool(t), **more}
        for i, (x, t) in enumerate(zip(p, is_true, strict=True))
    ]


def test_the_same_as_scipys_exact_test():
    for k, n, share in ((0, 10, 0.2), (3, 10, 0.2), (10, 10, 0.5), (17, 60, 0.2)):
        expected = binomtest(k, n, share, alternative="greater").pvalue
        assert _at_least(k, n, share) == pytest.approx(expected)


def test_figures_by_hand():
    # Four true claims with P(true) .9, .8, .7 and .3, the last flagged; one false with .2.
    # z: sum (y - p)(1 - 2p) = .1*-.8 + .2*-.6 + .3*-.4 + .7*.4 + -.2*.6 = -.16;
    # variance: .64*.09 + .36*.16 + .16*.21 + .16*.21 + .36*.16 = .24: z = -.3266, p = .744.
    # Of the mean: sum (y - p) = .1 + .2 + .3 + .7 - .2 = 1.1; variance: .09 + .16 + .21 + .21 + .16
    # = .83: z = 1.2074, p = .227, which is the smaller one, and twice that is told.
    found = holding(calibrator(), rows([0.9, 0.8, 0.7, 0.3, 0.2], [1, 1, 1, 1, 0]))
    assert (found.claims, found.true, found.flagged, found.promised) == (5, 4, 1, 0.2)
    assert found.p_promise == pytest.approx(1 - 0.8**4)
    assert (found.said, found.found) == (pytest.approx(0.58), 0.8)
    assert found.p_calibration == pytest.approx(0.4546, abs=1e-3)
    assert _spiegelhalter(np.array([1, 1, 1, 1, 0]), np.array([0.9, 0.8, 0.7, 0.3, 0.2])) == (
        pytest.approx(0.744, abs=1e-3)
    )
    assert not found.fit_again


def test_claims_like_the_old_ones_fail_as_often_as_the_level_says():
    rng = np.random.default_rng(0)
    failed = broken = 0
    for _ in range(400):
        p = rng.uniform(size=200)
        truth = rng.uniform(size=200) < p
        # True claims have P(true) below .4 with probability .16 (the integral of 2p): promise .2.
        found = holding(calibrator(threshold=0.4), rows(p, truth))
        failed += found.miscalibrated
        broken += found.promise_broken
    assert failed / 400 < 0.05 + 2 * 0.011
    assert broken / 400 < 0.05


def test_a_changed_model_is_noticed():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=400)
    surer = holding(calibrator(), rows(p, rng.uniform(size=400) < p**3))
    assert surer.miscalibrated
    lower = holding(calibrator(), rows(p * 0.5, np.ones(400)))
    assert lower.promise_broken
    assert lower.fit_again


def test_an_error_of_the_mean_is_noticed_where_spiegelhalters_weights_cancel_it():
    # Eleven false claims at .49 to .67, fourteen true ones at .98: on average .80 is said, and .56
    # are true (z of the mean -3.5). (1 - 2p) is about 0 for the false ones, so Spiegelhalter's z
    # hardly sees them.
    p = np.array([*np.linspace(0.49, 0.67, 11), *[0.98] * 14])
    truth = np.array([0.0] * 11 + [1.0] * 14)
    assert _spiegelhalter(truth, p) > 0.05
    assert holding(calibrator(), rows(p, truth)).miscalibrated
    # The mean is blind to errors that cancel: half of all are true, said as .1 and as .9.
    p, truth = np.array([0.1, 0.9] * 20), np.array([1.0, 0.0, 0.0, 1.0] * 10)
    assert _mean(truth, p) == 1.0
    assert holding(calibrator(), rows(p, truth)).miscalibrated


@pytest.mark.parametrize(("share", "wrong"), [(0.0, False), (1.0, True)])
def test_claims_of_a_sure_calibrator(share, wrong):
    found = holding(calibrator(), rows([0.0] * 12, [share] * 12))
    assert (found.p_calibration, found.miscalibrated) == (1.0 - wrong, wrong)


def test_one_claim_of_an_answer_counts_and_untrusted_labels_do_not():
    told = [row | {"group": 0} for row in rows([0.9] * 5, [1] * 5)]
    told += rows([0.1], [1], trusted=False)
    found = holding(calibrator(), told)
    assert (found.claims, found.flagged) == (1, 0)


def test_the_promise_is_tested_as_it_was_made():
    # Every second answer is one true claim, flagged with probability .4; the others are a true
    # claim that is never flagged and nine false ones. So a true claim drawn from an answer is
    # flagged with probability .2, as promised. Drawn from all claims of an answer, only one in ten
    # of the second kind would be true, and .36 of the true ones flagged.
    rng = np.random.default_rng(0)
    broken = 0
    for _ in range(40):
        weak = rng.uniform(size=200) < 0.4
        told = rows(np.where(weak, 0.2, 0.9), np.ones(200))
        for group in range(200, 400):
            others = rows([0.9] + [0.1] * 9, [1] + [0] * 9)
            told += [row | {"group": group} for row in others]
        found = holding(calibrator(), told)
        assert found.true == 400
        broken += found.promise_broken
    assert broken <= 6  # of 40 at the level .05, more than 6 with probability .003


def test_a_promise_about_what_is_stated_is_tested_on_that_alone():
    made = calibrator()
    about = "true claims that the passages state"
    made = dataclasses.replace(made, promise={"at_most_flagged": 0.2, "of": about})
    told = rows([0.9, 0.9, 0.1, 0.1], [1, 1, 1, 0])
    for row, stated in zip(told, (1, 0, 1, 0), strict=True):
        row["stated"] = stated
    found = holding(made, told)
    assert (found.about, found.true, found.flagged) == (about, 2, 1)
    # one or none of two flagged has probability 1 - b²: .1 at the bound
    assert found.bound == pytest.approx(math.sqrt(0.9))


def test_without_a_promise_none_is_broken_and_without_labels_nothing_is_said():
    found = holding(calibrator(promised=None), rows([0.1] * 50, [1] * 50))
    assert found.promised is None
    assert not found.promise_broken
    assert found.miscalibrated
    assert found.fit_again  # one test that failed is enough
    with pytest.raises(ValueError, match="no claim has both"):
        holding(calibrator(), rows([0.5], [1], trusted=False))


def test_the_order_of_the_answers_changes_nothing():
    rng = np.random.default_rng(1)
    for _ in range(20):
        p = rng.uniform(size=60)
        made = rows(p, rng.uniform(size=60) < 0.5)
        for i, row in enumerate(made):
            row["group"] = i // 3
        # the answers from the last to the first, their claims in order
        other = sorted(made, key=lambda row: -row["group"])
        one, two = holding(calibrator(), made), holding(calibrator(), other)
        assert (one.flagged, one.true, one.claims) == (two.flagged, two.true, two.claims)
        assert one.p_calibration == pytest.approx(two.p_calibration)
