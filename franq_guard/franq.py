"""The FRANQ formula (arXiv 2505.21072, eq. 1).

P(true) = P(faithful) * UQ_faith + (1 - P(faithful)) * UQ_unfaith: a claim the passages support is
judged by the model's confidence with the passages, any other by its confidence without them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["FloatArray", "franq"]

FloatArray = NDArray[np.float64]


def franq(p_faithful: ArrayLike, uq_faith: ArrayLike, uq_unfaith: ArrayLike) -> FloatArray:
    """P(true) of each claim by eq. 1 of arXiv 2505.21072.

    Args:
        p_faithful: probability that the passages entail the claim, (n,), in [0, 1].
        uq_faith: P(true given faithful), (n,), in [0, 1].
        uq_unfaith: P(true given unfaithful), (n,), in [0, 1].

    Returns:
        P(true), (n,), in [0, 1]. NaN if a term with a weight above 0 is NaN. A term with weight 0
        does not count: at P(faithful) = 1 UQ_unfaith may be missing.

    Raises:
        ValueError: if the shapes differ or a value lies outside [0, 1].
    """
    weight, faith, unfaith = (np.asarray(a, float) for a in (p_faithful, uq_faith, uq_unfaith))
    if not weight.shape == faith.shape == unfaith.shape:
        raise ValueError(
            f"shapes differ: p_faithful {weight.shape}, uq_faith {faith.shape}, "
            f"uq_unfaith {unfaith.shape}"
        )
    for name, values in (("p_faithful", weight), ("uq_faith", faith), ("uq_unfaith", unfaith)):
        if np.any((values < 0) | (values > 1)):
            raise ValueError(f"{name} must lie in [0, 1]; log-probabilities go through exp() first")
    return np.where(weight == 0, 0.0, weight * faith) + np.where(
        weight == 1, 0.0, (1 - weight) * unfaith
    )
