"""Small numerical helpers that several methods share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from franq_guard.franq import FloatArray

IntArray = NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


def logsumexp(values: ArrayLike) -> FloatArray:
    """log(sum(exp(values))) along the last axis; -inf without values, or if all of them are."""
    array = np.asarray(values, float)
    if not array.shape[-1]:
        return np.full(array.shape[:-1], -np.inf)
    top = np.max(array, axis=-1, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.sum(np.exp(array - shift), axis=-1, keepdims=True))
    return np.asarray(np.squeeze(total + shift, axis=-1), float)


def chosen(values: ArrayLike, tokens: Sequence[int] | IntArray | None) -> FloatArray:
    """The values (T,) at the indices ``tokens``; all values for None."""
    array = np.asarray(values, float)
    return array if tokens is None else array[np.asarray(tokens, int)]


def in_parts(values: NDArray[Scalar], sizes: Sequence[int]) -> list[NDArray[Scalar]]:
    """The values (n, ...) cut into consecutive parts of these sizes, whose sum is n."""
    return np.split(values, np.cumsum(sizes, dtype=np.intp)[:-1]) if len(sizes) else []
