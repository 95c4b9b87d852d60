import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

from franq_guard.calibration.mixture import FranqMixture, _loss, _Part, _Rows
from franq_guard.calibration.store import FAITHFUL_RANGE
from franq_guard.metrics import auroc


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def simulated(n=4000, seed=0):
    """Claims whose truth follows a known mixture of two logistic functions."""
    rng = np.random.default_rng(seed)
    p_faithful = rng.uniform(size=n)
    signals = rng.normal(size=(n, 3)) * [1, 10, 0.1] + [0, -5, 2]
    faith = sigmoid(1.0 + 1.5 * signals[:, 0])
    unfaith = sigmoid(-1.0 - 0.2 * (signals[:, 1] + 5))
    p = p_faithful * faith + (1 - p_faithful) * unfaith
    return np.column_stack([p_faithful, signals]), (rng.uniform(size=n) < p).astype(int), p


class AnyColumns(FranqMixture):
    """Takes whatever scikit-learn's checks send: any numbers become P(faithful) in [0, 1]."""

    def _split(self, data):
        return sigmoid(np.clip(data[:, 0], -30, 30)), data


def test_scikit_learns_own_checks():
    results = check_estimator(AnyColumns(), on_skip=None, on_fail=None)
    bad = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert bad == {}
    assert sum(r["status"] == "passed" for r in results) > 45


def test_the_mixture_is_recovered():
    X, y, _ = simulated()
    model = FranqMixture(penalties=(0.01,)).fit(X, y)
    # In the signals' own units: weight / scale. Standard errors are about .1 and .02.
    faith = np.array(model.faith_.weights) / model.faith_.scale
    unfaith = np.array(model.unfaith_.weights) / model.unfaith_.scale
    assert faith[0] == pytest.approx(1.5, abs=0.3)
    assert unfaith[1] == pytest.approx(-0.2, abs=0.05)
    fresh, truth, ideal = simulated(seed=1)
    p = model.predict_proba(fresh)[:, 1]
    assert np.abs(p - ideal).mean() < 0.03
    assert auroc(truth, p) > auroc(truth, ideal) - 0.01


def test_where_all_is_faithful_it_is_a_ridge_logistic_regression():
    """With one branch alone the fit is that of scikit-learn, an independent implementation."""
    rng = np.random.default_rng(3)
    signals = rng.normal(size=(300, 2))
    y = (rng.uniform(size=300) < sigmoid(signals @ [1.0, -0.5])).astype(int)
    scaled = (signals - signals.mean(axis=0)) / signals.std(axis=0)
    other = LogisticRegression(C=1 / 4.0, tol=1e-10).fit(scaled, y)
    X = np.column_stack([np.ones(300), signals])  # clipped to .98
    model = FranqMixture(penalties=(4.0,)).fit(X, y)
    assert model.unfaith_.columns == ()  # 300 * .02 claims are too few for the other branch
    assert np.array(model.faith_.weights) == pytest.approx(other.coef_[0], abs=0.05)


def test_the_gradient_is_that_of_the_loss():
    X, y, _ = simulated(50)
    rows = _Rows(np.clip(X[:, 0], *FAITHFUL_RANGE), X[:, 1:], y.astype(float), np.ones(50))
    parts = [_Part.of(rows, (0, 1), rows.p_faithful), _Part.of(rows, (1, 2), 1 - rows.p_faithful)]
    theta = np.random.default_rng(0).normal(size=6)

    def value(t):
        return _loss((t[:3], t[3:]), parts, (0.7, 7.0), rows)[0]

    gradient = _loss((theta[:3], theta[3:]), parts, (0.7, 7.0), rows)[1]
    assert gradient == pytest.approx(approx_fprime(theta, value, 1e-7), rel=1e-3, abs=1e-3)


def test_signs_hold():
    X, y, _ = simulated()
    model = FranqMixture(signs=(-1, 1, 0), penalties=(1.0,)).fit(X, y)
    assert model.faith_.weights[0] == 0.0  # the data want 1.5
    assert model.unfaith_.weights[1] == 0.0  # and -0.2
    right = FranqMixture(signs=(1, -1, 0), penalties=(1.0,)).fit(X, y)
    assert right.faith_.weights[0] > 0
    assert right.unfaith_.weights[1] < 0


def test_a_branch_with_few_rows_is_a_constant_by_hand():
    # P(faithful) is clipped to .98: the other branch sees 100 * .02 = 2 claims, of which
    # 60 * .02 = 1.2 are true: (1.2 + 1) / (2 + 2) = .55.
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(100), rng.normal(size=100)])
    y = np.repeat([1, 0], [60, 40])
    model = FranqMixture(penalties=(1.0,)).fit(X, y)
    assert model.unfaith_(X[:3, 1:]) == pytest.approx([0.55] * 3)


def test_no_claim_is_surer_than_the_rows_allow_and_ranks_stay():
    X = np.column_stack([np.ones(40), np.linspace(-9, 9, 40)])
    y = (X[:, 1] > 0).astype(int)
    model = FranqMixture(penalties=(1e-6,), min_effective=5).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    # 40 / 10 = 4 rows in the outer tenth: 1 / (4 + 2) from 0 and 1.
    assert model.floor_ == pytest.approx(1 / 6)
    assert p.min() >= 1 / 6
    assert p.max() <= 5 / 6
    assert auroc(y, p) == 1.0


def test_the_penalty_is_large_where_signals_are_noise_and_small_where_they_tell():
    X, y, _ = simulated(600)
    rng = np.random.default_rng(5)
    noise = np.column_stack([X[:, 0], rng.normal(size=(600, 8))])
    told = FranqMixture().fit(X, y)
    not_told = FranqMixture().fit(noise, rng.permutation(y))
    assert told.penalty_ < not_told.penalty_


@pytest.mark.parametrize("n", [100, 133, 175])
def test_a_signal_that_never_varies_teaches_nothing(n):
    """The mean of n times .3 is not quite .3; that is no scale to measure other values by."""
    X, y, _ = simulated(n)
    X[:, 3] = 0.3
    model = FranqMixture(min_effective=5).fit(X, y)
    assert model.faith_.columns == model.unfaith_.columns == (0, 1, 2)
    other = np.column_stack([X[:, :3], np.full(n, 0.9)])
    assert model.predict_proba(other) == pytest.approx(model.predict_proba(X), abs=1e-9)


def test_answers_stay_whole_when_the_penalty_is_chosen():
    """Copies of a claim on both sides of a fold would speak for no penalty at all."""
    rng = np.random.default_rng(7)
    noise = np.column_stack([np.full(40, 0.9), rng.normal(size=(40, 12))])
    y = rng.permutation(np.repeat([0, 1], 20))
    X, labels, groups = np.repeat(noise, 10, axis=0), np.repeat(y, 10), np.repeat(np.arange(40), 10)
    order = rng.permutation(len(X))
    whole = FranqMixture().fit(X[order], labels[order], groups=groups[order]).penalty_
    split = FranqMixture().fit(X[order], labels[order]).penalty_
    assert whole > split


def test_a_row_with_nan_teaches_nothing_and_gives_nan():
    X, y, _ = simulated(400)
    holes = np.vstack([X, [[0.5, np.nan, 0, 0], [np.nan, 0, 0, 0]]])
    labels = np.append(y, [1, 0])
    full = FranqMixture(penalties=(1.0,)).fit(X, y)
    with_holes = FranqMixture(penalties=(1.0,)).fit(holes, labels)
    assert with_holes.faith_ == full.faith_
    assert np.isnan(with_holes.predict_proba(holes)[-2:]).all()
    # A signal that no branch reads may be missing.
    unread = FranqMixture(faith=(1,), unfaith=(1, 2), penalties=(1.0,)).fit(holes, labels)
    assert np.isnan(unread.predict_proba(holes)[-2:, 1]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"signs": (1,)}, "signs must be 3"),
        ({"signs": (1, 2, 0)}, "signs must be 3"),
        ({"faith": (3,)}, "faith must name"),
        ({"unfaith": (0, 0)}, "unfaith must name"),
        ({"penalties": ()}, "penalties must be"),
        ({"penalties": (0.0,)}, "penalties must be"),
        ({"folds": 1}, "folds at least 2"),
    ],
)
def test_wrong_settings_are_named(settings, why):
    X, y, _ = simulated(100)
    with pytest.raises(ValueError, match=why):
        FranqMixture(**settings).fit(X, y)


def test_wrong_data_are_named():
    X, y, _ = simulated(100)
    with pytest.raises(ValueError, match="must lie in"):
        FranqMixture().fit(X + 1, y)
    with pytest.raises(ValueError, match="one class"):
        FranqMixture().fit(X, np.ones(100))
    with pytest.raises(ValueError, match="groups must be 100"):
        FranqMixture().fit(X, y, groups=np.zeros(3))
    with pytest.raises(ValueError, match="no row of X is complete"):
        FranqMixture().fit(np.where(np.isnan(X), X, np.nan), y)
