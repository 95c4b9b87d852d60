"""What the two FRANQ classifiers share: a claim is true or false, and a signal may be missing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import Tags
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
except ImportError as error:
    raise ModuleNotFoundError(
        "FRANQ's classifiers need scikit-learn: pip install 'franq-guard[fit]'", name="scikit-learn"
    ) from error

from franq_guard.franq import FloatArray


class TrueOrFalse(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A scikit-learn classifier with ``predict_proba`` (n, 2): P(false) and P(true)."""

    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Tags:
        """Two classes; NaN allowed; the form of P(true) is given, so it cannot fit any data."""
        tags: Tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(false) and P(true) of each claim, (n, 2)."""

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The greater label where P(true) >= 0.5, else the smaller one, (n,)."""
        proba = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[(proba[:, 1] >= 0.5).astype(int)]
        return labels

    def _encode(self, labels: NDArray[Any], weight: FloatArray) -> FloatArray:
        """The labels as 0 and 1, both among the rows that count; ``classes_`` says which is which.

        Raises:
            ValueError: on more than two labels, or one alone among the rows of ``weight`` above 0.
        """
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(labels)}."
            )
        if len(np.unique(codes[weight > 0])) < 2:
            raise ValueError(
                "labels of one class only: calibration needs true and false claims (those of "
                "weight 0 do not count)"
            )
        return np.asarray(codes, float)


def row_weights(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    """How much each of ``n`` rows counts, (n,); None: 1 each.

    Raises:
        ValueError: on another shape, a negative or infinite number, or where all are zero.
    """
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, float)
    if weight.shape != (n,) or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"sample_weight must be {n} finite numbers, none negative")
    if not weight.any():
        raise ValueError("every sample_weight is zero: at least one true and one false row count")
    return weight
