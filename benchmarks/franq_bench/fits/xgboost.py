"""FRANQ's baseline: gradient-boosted trees on the same signals, or on all methods."""

from __future__ import annotations

from typing import Any

__all__ = ["xgboost_classifier"]


def xgboost_classifier(**changed: Any) -> Any:
    """The XGBoost baseline: a scikit-learn classifier of (n, k) features, NaN allowed.

    Features are FRANQ's three signals or the uncertainties of every method
    (``franq_guard.uncertainty.methods.compute``). Shallow trees and few rounds, because labelled
    sets are small; one thread and a fixed seed, so that a table comes out the same again.

    Args:
        changed: settings of XGBoost in place of ours; None is its own default.

    Raises:
        ImportError: without the extra: ``pip install 'franq-guard[xgboost]'``.
    """
    try:
        from xgboost import XGBClassifier
    except ImportError as error:
        raise ImportError(
            "the XGBoost baseline needs: pip install 'franq-guard[xgboost]'"
        ) from error
    ours = {"n_estimators": 100, "max_depth": 3, "learning_rate": 0.1, "subsample": 0.8}
    return XGBClassifier(**{**ours, **changed}, n_jobs=1, random_state=0, eval_metric="logloss")
