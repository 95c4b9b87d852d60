"""Learned FRANQ: the paper's formula with each uncertainty a logistic function of named signals.

P(true) = P_f * sigmoid(a0 + a.x) + (1 - P_f) * sigmoid(b0 + b.z). Both branches are fitted together
by penalised maximum likelihood. Isotonic regression on a few hundred claims has wide steps: it ties
what is in one and saturates at 0 and 1; a ridge penalty on length-normalised signals avoids both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    from scipy.optimize import minimize, minimize_scalar
    from sklearn.model_selection import GroupKFold
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ModuleNotFoundError(
        "FranqMixture needs scikit-learn: pip install 'franq-guard[fit]'", name="scikit-learn"
    ) from error

from franq_guard.calibration.curves import sigmoid
from franq_guard.calibration.store import FAITHFUL_RANGE
from franq_guard.calibration.true_or_false import TrueOrFalse, row_weights
from franq_guard.franq import FloatArray

Sign = Literal[-1, 0, 1]
"""-1: P(true) may only fall as the signal rises; 1: it may only rise; 0: either."""

MIN_EFFECTIVE = 20
"""Fewest true and fewest false claims (weighted by P_f, or by 1 - P_f) to fit a branch on."""
_UNFAITHFUL_PENALTY = 10.0

__all__ = ["MIN_EFFECTIVE", "Branch", "FranqMixture", "Sign"]


@dataclass(frozen=True, slots=True)
class Branch:
    """One fitted uncertainty: ``sigmoid(intercept + sum(weights * (x - mean) / scale))``.

    ``columns`` are the signals it uses; without any it is constant.
    """

    columns: tuple[int, ...]
    intercept: float
    weights: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    def __call__(self, signals: FloatArray) -> FloatArray:
        """Its probability (n,) for the rows of ``signals`` (n, k); NaN where a used signal is."""
        return sigmoid(self.intercept + self.slope(signals))

    def slope(self, signals: FloatArray) -> FloatArray:
        """What the signals add to the intercept, (n,)."""
        if not self.columns:
            return np.zeros(len(signals))
        scaled = (signals[:, list(self.columns)] - self.mean) / self.scale
        added: FloatArray = scaled @ np.array(self.weights)
        return added


class FranqMixture(TrueOrFalse):
    """P(claim is true) from P(faithful) and named signals, each branch a ridge logistic function.

    ``X`` is (n, 1 + k): P(faithful) in [0, 1], then k signals in any unit. P(faithful) should come
    from a model that was not trained on these claims, and no signal should be a function of it.
    ``y`` is 1 (or the greater of two labels) for a true claim. A row with NaN, or of weight 0, is
    left out of the fit; the prediction of one with NaN is NaN.

    The signals are standardised; the intercepts are not penalised. The penalty of the faithful
    branch is chosen by cross-validated log-likelihood over whole groups; that of the other branch,
    which has fewer rows, is ten times as large. A branch with fewer than ``min_effective`` true or
    false claims (weighted) is the constant (true + 1) / (n + 2). P(true) is mapped linearly into
    [f, 1 - f], f = 1 / (n / 10 + 2), because so few rows do not justify values nearer to 0 or 1;
    the ranking does not change.

    Args:
        faith: signals (columns of ``X`` after the first, from 0) of UQ_faith; None: all.
        unfaith: signals of UQ_unfaith; None: all.
        signs: for each of the k signals what its weights may be; None: all free.
        penalties: ridge penalties to choose from; with only one, nothing is chosen.
        folds: number of cross-validation folds for that choice.
        min_effective: see above.

    Attributes:
        faith_: the fitted :class:`Branch` of faithful claims.
        unfaith_: the fitted :class:`Branch` of the other claims.
        penalty_: the chosen penalty of ``faith_``.
        floor_: f.
        classes_: the two labels, (2,).
    """

    def __init__(
        self,
        *,
        faith: Sequence[int] | None = None,
        unfaith: Sequence[int] | None = None,
        signs: Sequence[Sign] | None = None,
        penalties: Sequence[float] = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        folds: int = 5,
        min_effective: float = MIN_EFFECTIVE,
    ) -> None:
        self.faith = faith
        self.unfaith = unfaith
        self.signs = signs
        self.penalties = penalties
        self.folds = folds
        self.min_effective = min_effective

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> FranqMixture:
        """Fit both branches.

        Args:
            X: (n, 1 + k), see the class.
            y: (n,), whether each claim is true.
            sample_weight: (n,), how much each row counts, not negative; None: 1. They multiply the
                log-likelihood and all counts of claims.
            groups: (n,), the answer each claim is from; cross-validation does not split an answer.
                None: every claim is a group of its own.

        Returns:
            Itself, fitted.

        Raises:
            ValueError: on wrong shapes, ranges or signs, labels of one class (among the rows of a
                weight above 0) or more than two, or where no row that counts is complete.
        """
        data, labels = validate_data(self, X, y, dtype=float, ensure_all_finite="allow-nan")
        weight = row_weights(sample_weight, len(data))
        is_true = self._encode(labels, weight)
        member = np.arange(len(data)) if groups is None else np.asarray(groups)
        if member.shape != (len(data),):
            raise ValueError(f"groups must be {len(data)} values")
        settings = self._settings(data.shape[1] - 1)
        rows, known = self._rows(data, is_true, settings, weight)
        self.penalty_ = self._penalty(rows, member[known], settings)
        self.faith_, self.unfaith_ = _fitted(rows, settings, self.penalty_)
        self.floor_ = _floor(rows)
        return self

    def relevel(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> FranqMixture:
        """Move both intercepts by one amount, fitted on these rows (and f); every slope stays.

        How often claims are true differs between answers that were made for the fit and real ones,
        so slopes may come from the former, but the level of P(true) only from the latter. The two
        intercepts keep their distance: fitted apart, some 30 rows can put unfaithful claims above
        faithful ones. In each branch one true and one false claim with average signals are added,
        so that few rows cannot make it certain.

        Args:
            X: (n, 1 + k), as for :meth:`fit`.
            y: (n,), labels of the same two kinds; one kind is enough.
            sample_weight: as for :meth:`fit`.

        Raises:
            ValueError: as for :meth:`fit`, or on a label that ``fit`` did not see.
        """
        check_is_fitted(self)
        data = validate_data(self, X, dtype=float, ensure_all_finite="allow-nan", reset=False)
        labels = np.asarray(y)
        if labels.shape != (len(data),) or not np.isin(labels, self.classes_).all():
            raise ValueError(f"y must be {len(data)} labels, each {self.classes_.tolist()}")
        settings = self._settings(data.shape[1] - 1)
        is_true = (labels == self.classes_[1]).astype(float)
        rows, _ = self._rows(data, is_true, settings, row_weights(sample_weight, len(data)))
        self.faith_, self.unfaith_ = _releveled(rows, self.faith_, self.unfaith_)
        self.floor_ = _floor(rows)
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(false) and P(true) of each claim, (n, 2)."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=float, ensure_all_finite="allow-nan", reset=False)
        p_faithful, signals = self._split(data)
        weight = np.clip(p_faithful, *FAITHFUL_RANGE)
        mixed = weight * self.faith_(signals) + (1 - weight) * self.unfaith_(signals)
        p_true = self.floor_ + (1 - 2 * self.floor_) * mixed
        return np.column_stack([1 - p_true, p_true])

    def _rows(
        self, data: FloatArray, is_true: FloatArray, settings: _Settings, weight: FloatArray
    ) -> tuple[_Rows, NDArray[np.bool_]]:
        """The rows with all signals and a weight, and which of ``data`` (n,) they are."""
        p_faithful, signals = self._split(data)
        read = np.column_stack([p_faithful, signals[:, settings.read]])
        known = ~np.isnan(read).any(axis=1) & (weight > 0)
        if not known.any():
            raise ValueError(
                "no row of X is complete: every one of a weight above 0 has NaN in a signal that "
                "is read"
            )
        clipped = np.clip(p_faithful[known], *FAITHFUL_RANGE)
        return _Rows(clipped, signals[known], is_true[known], weight[known]), known

    def _split(self, data: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Check the data and return P(faithful) (n,) and the signals (n, k)."""
        p_faithful = data[:, 0]
        if np.any((p_faithful < 0) | (p_faithful > 1)):
            raise ValueError("column 0 of X, P(faithful), must lie in [0, 1]")
        return p_faithful, data[:, 1:]

    def _settings(self, count: int) -> _Settings:
        """The columns and bounds of the two branches, checked against ``count`` signals."""
        signs = list(self.signs) if self.signs is not None else [0] * count
        if len(signs) != count or not set(signs) <= {-1, 0, 1}:
            raise ValueError(f"signs must be {count} values of -1, 0 or 1")
        branches = []
        for name, chosen in (("faith", self.faith), ("unfaith", self.unfaith)):
            columns = tuple(range(count)) if chosen is None else tuple(chosen)
            if len(set(columns)) != len(columns) or not set(columns) <= set(range(count)):
                raise ValueError(f"{name} must name signals from 0 to {count - 1}, each once")
            branches.append(columns)
        if not self.penalties or min(self.penalties) <= 0 or self.folds < 2:
            raise ValueError("penalties must be positive, at least one, and folds at least 2")
        return _Settings(branches[0], branches[1], tuple(signs), self.min_effective)

    def _penalty(self, rows: _Rows, groups: NDArray[Any], settings: _Settings) -> float:
        """The penalty with the highest held-out log-likelihood; the largest in case of a tie."""
        folds = min(self.folds, len(np.unique(groups)))
        if len(self.penalties) == 1 or folds < 2:
            return float(max(self.penalties))
        splits = list(GroupKFold(folds).split(rows.signals, groups=groups))
        held_out = {
            float(penalty): sum(
                _held_out(rows.only(out), *_fitted(rows.only(seen), settings, penalty))
                for seen, out in splits
            )
            for penalty in sorted(self.penalties, reverse=True)
        }
        return max(held_out, key=lambda penalty: held_out[penalty])


class _Settings(NamedTuple):
    faith: tuple[int, ...]
    unfaith: tuple[int, ...]
    signs: tuple[int, ...]
    min_effective: float

    @property
    def read(self) -> list[int]:
        """The signals that at least one branch uses."""
        return sorted({*self.faith, *self.unfaith})


class _Rows(NamedTuple):
    p_faithful: FloatArray
    signals: FloatArray
    is_true: FloatArray
    weight: FloatArray

    def only(self, chosen: NDArray[np.intp]) -> _Rows:
        return _Rows(*(column[chosen] for column in self))

    @property
    def shares(self) -> tuple[FloatArray, FloatArray]:
        """How much each branch counts in each row, (n,) each."""
        return self.p_faithful, 1 - self.p_faithful

    def mixed(self, faith: FloatArray, unfaith: FloatArray) -> FloatArray:
        """P(true) (n,) from the values of both branches, not quite 0 or 1."""
        shares = self.shares
        return np.clip(shares[0] * faith + shares[1] * unfaith, 1e-12, 1 - 1e-12)

    def log_likelihood(self, p_true: FloatArray) -> float:
        return float(self.weight @ np.where(self.is_true > 0, np.log(p_true), np.log1p(-p_true)))

    def loss_slope(self, p_true: FloatArray) -> FloatArray:
        """By how much the negative log-likelihood rises with each P(true), (n,)."""
        return self.weight * (p_true - self.is_true) / (p_true * (1 - p_true))


def _floor(rows: _Rows) -> float:
    return 1.0 / (float(rows.weight.sum()) / 10.0 + 2.0)


def _fitted(rows: _Rows, settings: _Settings, penalty: float) -> tuple[Branch, Branch]:
    """Both branches, fitted together; one with too few rows is a constant and is not fitted."""
    kept = tuple(
        columns if _enough(share * rows.weight, rows.is_true, settings.min_effective) else ()
        for columns, share in zip((settings.faith, settings.unfaith), rows.shares, strict=True)
    )
    parts = [_Part.of(rows, *of_branch) for of_branch in zip(kept, rows.shares, strict=True)]
    penalties = (penalty, _UNFAITHFUL_PENALTY * penalty)
    start = np.concatenate([part.start for part in parts])
    cut = len(parts[0].start)
    bounds = [
        bound
        for part, enough in zip(parts, kept, strict=True)
        for bound in part.bounds(settings.signs, free=bool(enough))
    ]

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        return _loss((theta[:cut], theta[cut:]), parts, penalties, rows)

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return parts[0].branch(found[:cut]), parts[1].branch(found[cut:])


class _Part(NamedTuple):
    """One branch during the fit: standardised signals, and the start values of the search."""

    columns: tuple[int, ...]
    scaled: FloatArray
    mean: FloatArray
    scale: FloatArray
    start: FloatArray

    @classmethod
    def of(cls, rows: _Rows, columns: tuple[int, ...], share: FloatArray) -> _Part:
        chosen = rows.signals[:, list(columns)]
        counts = rows.weight / rows.weight.sum()
        mean = counts @ chosen
        scale = np.sqrt(counts @ (chosen - mean) ** 2)
        # Of equal numbers the mean is off by rounding, which is no scale for other ones.
        scale = np.where(scale > 1e-10 * np.abs(mean), scale, 1.0)
        effective = share * rows.weight
        true = (effective @ rows.is_true + 1) / (effective.sum() + 2)
        start = np.concatenate([[np.log(true / (1 - true))], np.zeros(len(columns))])
        return cls(columns, (chosen - mean) / scale, mean, scale, start)

    def bounds(
        self, signs: Sequence[int], *, free: bool
    ) -> list[tuple[float | None, float | None]]:
        allowed = {-1: (None, 0.0), 0: (None, None), 1: (0.0, None)}
        intercept = (None, None) if free else (float(self.start[0]), float(self.start[0]))
        return [intercept, *(allowed[signs[column]] for column in self.columns)]

    def branch(self, theta: FloatArray) -> Branch:
        return Branch(
            self.columns,
            float(theta[0]),
            tuple(theta[1:].tolist()),
            tuple(self.mean.tolist()),
            tuple(self.scale.tolist()),
        )


def _enough(weight: FloatArray, is_true: FloatArray, least: float) -> bool:
    true = float(weight @ is_true)
    return min(true, float(weight.sum()) - true) >= least


def _loss(
    thetas: tuple[FloatArray, FloatArray],
    parts: Sequence[_Part],
    penalties: tuple[float, float],
    rows: _Rows,
) -> tuple[float, FloatArray]:
    """Penalised negative log-likelihood of the mixture, and its gradient."""
    faith, unfaith = (
        sigmoid(theta[0] + part.scaled @ theta[1:])
        for theta, part in zip(thetas, parts, strict=True)
    )
    p_true = rows.mixed(faith, unfaith)
    value, slope = -rows.log_likelihood(p_true), rows.loss_slope(p_true)
    gradients: list[FloatArray] = []
    for theta, part, share, level, penalty in zip(
        thetas, parts, rows.shares, (faith, unfaith), penalties, strict=True
    ):
        inner = slope * share * level * (1 - level)
        value += penalty / 2 * float(theta[1:] @ theta[1:])
        gradients += [inner.sum(keepdims=True), part.scaled.T @ inner + penalty * theta[1:]]
    return value, np.concatenate(gradients)


def _held_out(rows: _Rows, faith: Branch, unfaith: Branch) -> float:
    """The log-likelihood of rows that the branches were not fitted on."""
    return rows.log_likelihood(rows.mixed(faith(rows.signals), unfaith(rows.signals)))


def _releveled(rows: _Rows, faith: Branch, unfaith: Branch) -> tuple[Branch, Branch]:
    """Both branches with the likeliest shift of their intercepts; see ``relevel``."""
    branches = (faith, unfaith)
    slopes = [branch.slope(rows.signals) for branch in branches]
    intercepts = np.array([branch.intercept for branch in branches])

    def loss(shift: float) -> float:
        at = intercepts + shift
        levels = [sigmoid(level + slope) for level, slope in zip(at, slopes, strict=True)]
        # One true and one false claim of average signals in each branch.
        added = float(np.sum(np.logaddexp(0, at) + np.logaddexp(0, -at)))
        return added - rows.log_likelihood(rows.mixed(*levels))

    shift = float(minimize_scalar(loss).x)
    moved = [replace(branch, intercept=branch.intercept + shift) for branch in branches]
    return moved[0], moved[1]
