import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.utils.estimator_checks import check_estimator

from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.calibration.mixture import FranqMixture
from franq_guard.calibration.store import Calibrator
from franq_guard.franq import franq
from franq_guard.metrics.measures import auroc, brier


def curve_faith(u):
    return 0.2 + 0.7 * u


def curve_unfaith(v):
    return 0.1 + 0.5 * v**2


def simulated(n=4000, seed=0):
    """Claims whose truth follows known curves, one per condition."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    faithful = rng.uniform(size=n) < X[:, 0]
    p = np.where(faithful, curve_faith(X[:, 1]), curve_unfaith(X[:, 2]))
    return X, rng.uniform(size=n) < p, faithful


class AnyColumns(FranqClassifier):
    """Folds whatever scikit-learn's checks feed into FRANQ's three columns in (0, 1)."""

    def _signals(self, data):
        columns = np.resize(np.arange(data.shape[1]), 3)
        return 1 / (1 + np.exp(-np.clip(data[:, columns], -30, 30)))


def test_scikit_learns_own_checks():
    results = check_estimator(AnyColumns(), on_skip=None, on_fail=None)
    bad = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert bad == {}
    assert sum(r["status"] == "passed" for r in results) > 45


@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_condition_calibration_recovers_the_curves(interpolation):
    X, y, faithful = simulated()
    model = FranqClassifier(interpolation=interpolation).fit(X, y, faithful=faithful)
    grid = np.linspace(0.05, 0.95, 19)
    _, faith, unfaith = model.calibrator_.apply(grid, grid, grid)
    # Isotonic regression errs by about (noise / n)^(1/3) ~ 0.06; its mean by far less.
    assert np.abs(faith - curve_faith(grid)).mean() < 0.04
    assert np.abs(unfaith - curve_unfaith(grid)).mean() < 0.04
    fresh, truth, _ = simulated(seed=1)
    p = model.predict_proba(fresh)[:, 1]
    ideal = franq(fresh[:, 0], curve_faith(fresh[:, 1]), curve_unfaith(fresh[:, 2]))
    assert np.abs(p - ideal).mean() < 0.04
    assert brier(truth, p) < brier(truth, ideal) + 0.005


def test_condition_beats_global_and_none_where_the_branches_differ():
    X, y, faithful = simulated()
    fresh, truth, _ = simulated(seed=1)
    scores = {
        c: brier(truth, FranqClassifier(c).fit(X, y, faithful=faithful).predict_proba(fresh)[:, 1])
        for c in ("none", "global", "condition")
    }
    assert scores["condition"] < scores["global"] < scores["none"]


@pytest.mark.parametrize("calibration", ["global", "condition"])
def test_the_curves_are_scikit_learns_isotonic_regression(calibration):
    X, y, _ = simulated(300)
    X[:, 1] = np.round(X[:, 1], 1)
    model = FranqClassifier(calibration).fit(X, y)
    group = X[:, 0] > 0.5
    faith_rows, unfaith_rows = (
        (group, ~group) if calibration == "condition" else ([True] * 300,) * 2
    )
    fresh = np.random.default_rng(2).uniform(-0.2, 1.2, size=500)
    weight = np.full(500, 0.5)
    _, faith, unfaith = model.calibrator_.apply(weight, fresh, fresh)
    for rows, column, got in ((faith_rows, 1, faith), (unfaith_rows, 2, unfaith)):
        sk = IsotonicRegression(out_of_bounds="clip").fit(X[rows, column], y[rows])
        np.testing.assert_allclose(got, sk.predict(fresh), atol=1e-12)


def test_without_calibration_it_is_the_formula():
    X, y, _ = simulated(50)
    got = FranqClassifier("none").fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(got[:, 1], franq(*X.T))
    np.testing.assert_allclose(got.sum(axis=1), 1)


def test_the_stored_calibrator_gives_identical_numbers():
    X, y, _ = simulated(200)
    X[:, 1:] = np.log(X[:, 1:])
    X[3, 1], X[4, 2] = -math.inf, math.nan
    model = FranqClassifier(log_space=True).fit(X, y)
    stored = Calibrator.from_json(
        model.to_calibrator(name="n", fingerprint={"claims": "rules"}).to_json()
    )
    np.testing.assert_array_equal(stored.apply(*X.T)[0], model.predict_proba(X)[:, 1])
    assert (stored.name, stored.fingerprint) == ("n", {"claims": "rules"})


def test_log_space_keeps_what_underflows():
    # 80 claims, log-probabilities -1000 .. -921: as products all 0, in log space still in order
    x = np.arange(-1000.0, -920.0)
    X = np.column_stack([np.ones(80), x, x])
    model = FranqClassifier("global", log_space=True).fit(X, x > -960)
    assert auroc(x > -960, model.predict_proba(X)[:, 1]) == 1


def test_ablations():
    X, y, faithful = simulated(400)
    hard = FranqClassifier("none", hard_faithfulness=True, faithful_threshold=0.3).fit(X, y)
    want = np.where(X[:, 0] > 0.3, X[:, 1], X[:, 2])
    np.testing.assert_array_equal(hard.predict_proba(X)[:, 1], want)
    model = FranqClassifier("none", calibrate_faithfulness=True).fit(X, y, faithful=faithful)
    weight = IsotonicRegression(out_of_bounds="clip").fit(X[:, 0], faithful).predict(X[:, 0])
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], franq(weight, X[:, 1], X[:, 2]))
    with pytest.raises(ValueError, match="gold labels"):
        FranqClassifier(calibrate_faithfulness=True).fit(X, y)


def test_cross_validation_grid_search_and_clone():
    X, y, faithful = simulated(300)
    answers = np.arange(300) // 5
    p = cross_val_predict(
        FranqClassifier(),
        X,
        y,
        groups=answers,
        cv=GroupKFold(5),
        method="predict_proba",
        params={"faithful": faithful},
    )
    assert p.shape == (300, 2)
    assert np.isfinite(p).all()
    search = GridSearchCV(
        FranqClassifier(), {"calibration": ["none", "global", "condition"]}, scoring="roc_auc"
    ).fit(X, y)
    assert search.best_params_["calibration"] in {"none", "global", "condition"}
    copy = clone(FranqClassifier("global", min_per_class=2))
    assert copy.get_params()["min_per_class"] == 2


@pytest.mark.parametrize("kind", [FranqClassifier, FranqMixture])
def test_sample_weights_go_where_scikit_learn_puts_them(kind):
    X, y, _ = simulated(200)
    weight = np.arange(200) % 3  # 0, 1 or 2 of each row
    X_repeated, y_repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    alone = {} if kind is FranqClassifier else {"penalties": (1.0,)}  # folds would split repeats
    by_weight = kind(**alone).fit(X, y, weight).predict_proba(X)
    by_rows = kind(**alone).fit(X_repeated, y_repeated).predict_proba(X)
    np.testing.assert_allclose(by_weight, by_rows, atol=1e-4)
    # ... and to the fits inside of other estimators, which would drop a parameter of another name
    outer = CalibratedClassifierCV(kind(**alone), cv=2, ensemble=False)
    outer.fit(X, y, sample_weight=weight)
    inner = outer.calibrated_classifiers_[0].estimator
    np.testing.assert_array_equal(inner.predict_proba(X), by_weight)


@pytest.mark.parametrize("kind", [FranqClassifier, FranqMixture])
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([0, 1] * 30, "one class only"),  # the rows that count are all true
        ([0.0] * 60, "every sample_weight is zero"),
        ([1, -1] * 30, "none negative"),
        ([1, math.inf] * 30, "finite"),
        ([1] * 59, "sample_weight must be 60"),
    ],
)
def test_weights_that_leave_nothing_to_fit_are_refused(kind, weight, message):
    X = simulated(60)[0]
    with pytest.raises(ValueError, match=message):
        kind().fit(X, [0, 1] * 30, sample_weight=weight)


def small(n_faithful, labels):
    """Faithful rows first; each UQ score is the row's number over n."""
    n = len(labels)
    p = np.where(np.arange(n) < n_faithful, 0.9, 0.1)
    score = np.arange(n) / n
    return np.column_stack([p, score, score]), np.array(labels)


def test_too_few_labels_in_a_condition_fall_back_to_all():
    X, y = small(3, [0, 1, 1] + [0, 1] * 10)
    model = FranqClassifier().fit(X, y)
    assert model.fallback_ == ("faith",)
    overall = FranqClassifier("global").fit(X, y)
    assert model.calibrator_.faith == overall.calibrator_.faith
    assert model.calibrator_.unfaith != overall.calibrator_.unfaith


def test_one_class_in_a_condition_falls_back_unless_told_otherwise():
    X, y = small(20, [1] * 20 + [0, 1] * 10)
    assert FranqClassifier().fit(X, y).fallback_ == ("faith",)
    plain = FranqClassifier(min_per_class=0).fit(X, y)
    assert plain.fallback_ == ()
    assert set(plain.calibrator_.faith.y) == {1.0}


def test_an_empty_condition_falls_back():
    X, y = small(0, [0, 1] * 10)
    assert FranqClassifier(min_per_class=0).fit(X, y).fallback_ == ("faith",)


def test_ties_and_constant_scores():
    # scores 0, 0, 1, 1 with labels 0, 1, 1, 1: means 1/2 and 1
    X = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0]], float)
    model = FranqClassifier("global").fit(X, [0, 1, 1, 1])
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], [0.5, 0.5, 1, 1])
    assert model.calibrator_.unfaith.y == (0.75,)


def test_a_branch_without_any_value_is_the_base_rate():
    X, y = small(10, [0, 1, 1, 1] * 5)
    X[:, 2] = math.nan
    model = FranqClassifier().fit(X, y)
    assert model.calibrator_.unfaith.y == (0.75,)
    assert math.isnan(model.predict_proba(X[-1:])[0, 1])
    assert model.predict(X[-1:]).tolist() == [0]
    assert model.predict_proba([[0.0, 0.5, 0.9]])[0, 1] == 0.75


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.5, 0.5]] * 2, [0, 1], "expects 3"),
        ([[1.5, 0.5, 0.5]] * 2, [0, 1], "column 0"),
        ([[0.5, -math.inf, 0.5]] * 2, [0, 1], "infinity"),
        ([[0.5, 0.5, 0.5]] * 2, [1, 1], "one class"),
        ([[0.5, 0.5, 0.5]] * 3, [0, 1, 2], "Only binary"),
    ],
)
def test_misuse(X, y, message):
    with pytest.raises(ValueError, match=message):
        FranqClassifier().fit(X, y)


@pytest.mark.parametrize("threshold", [math.nan, -0.1, 1.5])
def test_wrong_threshold_of_faithfulness(threshold):
    X, y = small(10, [0, 1] * 10)
    with pytest.raises(ValueError, match="faithful_threshold must lie in"):
        FranqClassifier(faithful_threshold=threshold).fit(X, y)


def test_wrong_faithful():
    X, y = small(10, [0, 1] * 10)
    with pytest.raises(ValueError, match="faithful must be 20"):
        FranqClassifier().fit(X, y, faithful=[1])


scores = st.one_of(st.floats(-1e6, 0), st.just(-math.inf))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1), scores, scores, st.booleans()), min_size=2, max_size=30
    ).filter(lambda rows: len({r[3] for r in rows}) == 2),
    st.sampled_from(["global", "condition"]),
    st.sampled_from(["linear", "step"]),
)
def test_any_training_set_gives_probabilities_that_rise(rows, calibration, interpolation):
    X, y = np.array([r[:3] for r in rows]), [r[3] for r in rows]
    model = FranqClassifier(
        calibration, log_space=True, interpolation=interpolation, min_per_class=1
    ).fit(X, y)
    p = model.predict_proba(X)
    assert ((p >= 0) & (p <= 1)).all()
    line = np.column_stack([np.ones(50), np.linspace(-1e6, 0, 50), np.zeros(50)])
    assert (np.diff(model.predict_proba(line)[:, 1]) >= -1e-12).all()
    order = np.random.default_rng(0).permutation(len(y))
    again = FranqClassifier(
        calibration, log_space=True, interpolation=interpolation, min_per_class=1
    ).fit(X[order], np.array(y)[order])
    np.testing.assert_allclose(again.predict_proba(X), p, atol=1e-9)
