"""Fitting FRANQ to labelled claims, and the fitted calibrator as plain JSON.

A guard loads only ``store``, which needs nothing but numpy. ``classifier`` and ``fit`` need
scikit-learn (``pip install 'franq-guard[fit]'``) and are imported only to fit a calibrator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from franq_guard.basics.lazy_names import lazy_names

if TYPE_CHECKING:
    from franq_guard.calibration.classifier import FranqClassifier as FranqClassifier
    from franq_guard.calibration.fit import TooFewLabelsError as TooFewLabelsError
    from franq_guard.calibration.fit import fit_calibrator as fit_calibrator
    from franq_guard.calibration.mixture import FranqMixture as FranqMixture
    from franq_guard.calibration.promise import PromiseRefusedError as PromiseRefusedError
    from franq_guard.calibration.store import Calibrator as Calibrator
    from franq_guard.calibration.store import Knots as Knots
    from franq_guard.calibration.thresholds import PromisedThreshold as PromisedThreshold
    from franq_guard.calibration.thresholds import promised_threshold as promised_threshold

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FranqClassifier": "classifier",
        "FranqMixture": "mixture",
        "TooFewLabelsError fit_calibrator": "fit",
        "Calibrator Knots": "store",
        "PromiseRefusedError": "promise",
        "PromisedThreshold promised_threshold": "thresholds",
    },
)
