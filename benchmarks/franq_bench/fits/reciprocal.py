"""The other confidences of Semantic Entropy SE and the Sum of Eigenvalues V of n samples.

In use are exp(-SE) and 1 - (V - 1) / (n - 1); the reciprocal ones are 1 / (1 + SE) and 1 / V. Both
keep the order, so a score matrix has the first ones alone, and these are computed from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from franq_bench.tables.scores import Scores
from franq_guard.uncertainty.methods import methods

__all__ = ["has_reciprocal", "reciprocal", "with_reciprocals"]

_BASES = {m.name: m.reciprocal_of for m in methods() if m.reciprocal_of is not None}


def has_reciprocal(name: str) -> bool:
    """Whether :func:`reciprocal` changes the scores of a method."""
    return _mapping(name) is not None


def reciprocal(name: str, value: float, *, samples: int) -> float:
    """From the confidence in use to the reciprocal one; other methods are unchanged."""
    mapping = _mapping(name)
    return value if mapping is None else mapping(value, samples)


def with_reciprocals(scores: Scores, names: Sequence[str], *, samples: int) -> Scores:
    """The matrix with the columns of those names that are reciprocals of one that is there."""
    rows = scores.rows
    for name in names:
        if (base := _BASES.get(name)) is not None:
            rows = tuple(
                replace(r, scores={**r.scores, name: _of(base, r.scores.get(base), samples)})
                for r in rows
            )
    return Scores(rows)


def _of(base: str, value: float | None, samples: int) -> float | None:
    return None if value is None else reciprocal(base, value, samples=samples)


def _mapping(name: str) -> Callable[[float, int], float] | None:
    if name in _BASES:
        return None
    if name.startswith("semantic-entropy"):
        return lambda value, _: 1 / (1 - math.log(value)) if value > 0 else 0.0
    if name.startswith("eigenvalues"):
        return lambda value, samples: 1 / (1 + (1 - value) * (samples - 1))
    return None
