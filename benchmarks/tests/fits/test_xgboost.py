import numpy as np
from sklearn.metrics import roc_auc_score

from franq_bench.fits.xgboost import xgboost_classifier


def test_xgboost_baseline_learns_and_repeats():
    # Claims that are true with the probability their own branch says.
    rng = np.random.default_rng(0)
    p, u, v = rng.uniform(0.01, 1, size=(3, 400))
    is_true = (rng.uniform(size=400) < p * u + (1 - p) * v).astype(int)
    signals = np.stack([p, np.log(u), np.log(v)], axis=1)
    first = xgboost_classifier().fit(signals, is_true).predict_proba(signals)
    again = xgboost_classifier().fit(signals, is_true).predict_proba(signals)
    np.testing.assert_array_equal(first, again)
    assert roc_auc_score(is_true, first[:, 1]) > 0.7
