"""FRANQ as a scikit-learn classifier: isotonic calibration of the two UQ branches, then eq. 1."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    from sklearn.isotonic import IsotonicRegression
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ModuleNotFoundError(
        "FranqClassifier needs scikit-learn: pip install 'franq-guard[fit]'", name="scikit-learn"
    ) from error

from franq_guard.calibration.store import Calibration, Calibrator, Interpolation, Knots
from franq_guard.calibration.true_or_false import TrueOrFalse, row_weights
from franq_guard.franq import FloatArray
from franq_guard.records import Form

BoolArray = NDArray[np.bool_]

__all__ = ["FranqClassifier"]


class FranqClassifier(TrueOrFalse):
    """P(claim is true) from (P(faithful), UQ_faith, UQ_unfaith), arXiv 2505.21072.

    ``X`` is (n, 3): P(faithful) in [0, 1], UQ_faith, UQ_unfaith; the UQ columns are
    log-probabilities (nats, -inf allowed) where ``log_space``. ``y`` is 1 (or the greater of two
    labels) for a true claim.

    Isotonic regression maps each UQ score to a probability; scores outside the range seen in
    training are clipped to it.
    A row whose UQ value is NaN is left out of the fit of that branch only. In prediction, a NaN
    gives P(true) = NaN, because a claim that could not be measured is not a false one (``predict``
    gives it the smaller label). In training, -inf counts as the lowest finite score of the branch.

    Small or unusual training sets: a condition with fewer than ``min_per_class`` true or false
    claims uses the global curve of its branch (``fallback_`` names it); a branch without any value
    is constant at the share of true claims; tied scores get the mean of their labels, so a constant
    score gives a constant curve; labels of only one class raise ``ValueError``. A row of weight 0
    is as good as absent.

    Without ``log_space`` scores closer than 1e-15 count as tied (scikit-learn's isotonic
    regression merges them): products over long claims then lose their order, so prefer log space.

    Args:
        calibration: "none" (the scores are probabilities), "global" (both branches fitted on all
            claims) or "condition" (UQ_faith on the faithful claims, UQ_unfaith on the others).
        log_space: the UQ columns are log-probabilities.
        interpolation: "linear" (scikit-learn's) or "step" (the value of the knot to the left).
        faithful_threshold: P(faithful) above which a claim counts as faithful, for the condition
            and for ``hard_faithfulness``.
        hard_faithfulness: the paper's ablation T: P(faithful) enters the formula as 0 or 1.
        calibrate_faithfulness: another ablation of the paper: isotonic regression of P(faithful)
            on the gold faithfulness labels given to ``fit``.
        min_per_class: fewest true and fewest false claims on which a condition is fitted.

    Attributes:
        calibrator_: the fitted :class:`~franq_guard.calibration.store.Calibrator`.
        fallback_: branches ("faith", "unfaith") that use the global curve: they had too few labels.
        classes_: the two labels, (2,).
    """

    def __init__(
        self,
        calibration: Calibration = "condition",
        *,
        log_space: bool = False,
        interpolation: Interpolation = "linear",
        faithful_threshold: float = 0.5,
        hard_faithfulness: bool = False,
        calibrate_faithfulness: bool = False,
        min_per_class: int = 5,
    ) -> None:
        self.calibration = calibration
        self.log_space = log_space
        self.interpolation = interpolation
        self.faithful_threshold = faithful_threshold
        self.hard_faithfulness = hard_faithfulness
        self.calibrate_faithfulness = calibrate_faithfulness
        self.min_per_class = min_per_class

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        faithful: ArrayLike | None = None,
    ) -> FranqClassifier:
        """Fit the curves.

        Args:
            X: (n, 3), see the class.
            y: (n,), whether each claim is true.
            sample_weight: (n,), how much each row counts, not negative; None: 1. They also count
                in ``min_per_class``.
            faithful: (n,) of 0/1, gold faithfulness; None: P(faithful) > ``faithful_threshold``.

        Returns:
            Itself, fitted.

        Raises:
            ValueError: on wrong shapes or ranges, labels of one class (among the rows of a weight
                above 0), or more than two.
        """
        data, labels = validate_data(self, X, y, dtype=float, ensure_all_finite=False)
        if not 0 <= self.faithful_threshold <= 1:
            raise ValueError(
                f"faithful_threshold must lie in [0, 1], not {self.faithful_threshold}"
            )
        weight = row_weights(sample_weight, len(data))
        is_true = self._encode(labels, weight)
        signals = self._signals(data)
        gold = None if faithful is None else _gold(faithful, len(signals))
        if self.calibrate_faithfulness and gold is None:
            raise ValueError(
                "calibrate_faithfulness needs the gold labels: fit(X, y, faithful=...)"
            )
        used = weight > 0
        gold = None if gold is None else gold[used]
        fitted = self._calibrator(signals[used], is_true[used], gold, weight[used])
        self.calibrator_, self.fallback_ = fitted
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(false) and P(true) of each claim, (n, 2); NaN where a signal in ``X`` (n, 3) is.

        Raises:
            NotFittedError: before :meth:`fit`.
            ValueError: on wrong shapes or ranges.
        """
        check_is_fitted(self)
        data = validate_data(self, X, dtype=float, ensure_all_finite=False, reset=False)
        p_true = self.calibrator_.apply(*self._signals(data).T)[0]
        return np.column_stack([1 - p_true, p_true])

    def to_calibrator(
        self,
        *,
        form: Form = "long",
        name: str = "custom",
        fingerprint: dict[str, Any] | None = None,
        figures: dict[str, Any] | None = None,
    ) -> Calibrator:
        """The fit as numbers to store; its ``apply`` gives exactly ``predict_proba``'s P(true).

        Raises:
            NotFittedError: before :meth:`fit`.
        """
        check_is_fitted(self)
        return dataclasses.replace(
            self.calibrator_,
            form=form,
            name=name,
            fingerprint=dict(fingerprint or {}),
            figures=dict(figures or {}),
        )

    def _signals(self, data: FloatArray) -> FloatArray:
        """Check the three columns (n, 3) and return them."""
        if data.shape[1] != 3:
            raise ValueError(
                f"X has {data.shape[1]} feature(s), FranqClassifier expects 3: "
                "P(faithful), UQ_faith, UQ_unfaith"
            )
        p, uq = data[:, 0], data[:, 1:]
        if np.any((p < 0) | (p > 1)):
            raise ValueError("column 0 of X, P(faithful), must lie in [0, 1]")
        if np.any(uq == np.inf) or (not self.log_space and np.any(uq == -np.inf)):
            raise ValueError("X contains infinity; only log_space allows it, and only -inf")
        return data

    def _calibrator(
        self,
        signals: FloatArray,
        is_true: FloatArray,
        gold: BoolArray | None,
        weight: FloatArray,
    ) -> tuple[Calibrator, tuple[str, ...]]:
        p, faith, unfaith = signals.T
        options: dict[str, Any] = {
            "calibration": self.calibration,
            "log_space": self.log_space,
            "interpolation": self.interpolation,
            "hard_threshold": self.faithful_threshold if self.hard_faithfulness else None,
        }
        if self.calibrate_faithfulness and gold is not None:
            options["faithfulness"] = _isotonic(p, gold.astype(float), weight)
        if self.calibration == "none":
            return Calibrator(**options), ()
        group = p > self.faithful_threshold if gold is None else gold
        known = ~np.isnan(p) if gold is None else np.ones(len(p), bool)
        options["faith"], fell_faith = self._branch(faith, is_true, known & group, weight)
        options["unfaith"], fell_unfaith = self._branch(unfaith, is_true, known & ~group, weight)
        fell = {"faith": fell_faith, "unfaith": fell_unfaith}
        return Calibrator(**options), tuple(name for name, did in fell.items() if did)

    def _branch(
        self, scores: FloatArray, is_true: FloatArray, condition: BoolArray, weight: FloatArray
    ) -> tuple[Knots, bool]:
        if self.calibration == "global":
            return _isotonic(scores, is_true, weight), False
        chosen = condition & ~np.isnan(scores)
        true = weight[chosen] @ is_true[chosen]
        if chosen.any() and min(true, weight[chosen].sum() - true) >= self.min_per_class:
            return _isotonic(scores[chosen], is_true[chosen], weight[chosen]), False
        return _isotonic(scores, is_true, weight), True


def _isotonic(scores: FloatArray, labels: FloatArray, weight: FloatArray) -> Knots:
    """Isotonic regression as knots; a constant, the mean of the labels, if no score is known."""
    known = ~np.isnan(scores)
    if not np.isfinite(scores).any():
        told = known if known.any() else np.ones(len(known), bool)
        return Knots((0.0,), (float(np.average(labels[told], weights=weight[told])),))
    x, y = scores[known], labels[known]
    x = np.maximum(x, x[np.isfinite(x)].min())
    model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    model.fit(x, y, sample_weight=weight[known])
    return Knots(tuple(model.X_thresholds_.tolist()), tuple(model.y_thresholds_.tolist()))


def _gold(faithful: ArrayLike, n: int) -> BoolArray:
    values = np.asarray(faithful, float)
    if values.shape != (n,) or not np.isin(values, (0, 1)).all():
        raise ValueError(f"faithful must be {n} values of 0 or 1")
    return values.astype(bool)
