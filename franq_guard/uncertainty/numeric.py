"""Small numerical helpers that several methods share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from franq_guard.franq import FloatArray

IntArray = NDArray[np.int64]


def logsumexp(values: ArrayLike, *, axis: int = -1) -> FloatArray:
    """log(sum(exp(values))) along ``axis``; -inf if there are no values or all of them are -inf."""
    array = np.asarray(values, float)
    if not array.shape[axis]:
        return np.full(np.delete(array.shape, axis), -np.inf)
    top = np.max(array, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.sum(np.exp(array - shift), axis=axis, keepdims=True))
    return np.asarray(np.squeeze(total + shift, axis=axis), float)


def chosen(values: ArrayLike, tokens: Sequence[int] | IntArray | None) -> FloatArray:
    """The values (T,) at the indices ``tokens``; all values for None."""
    array = np.asarray(values, float)
    return array if tokens is None else array[np.asarray(tokens, int)]
