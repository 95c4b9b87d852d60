"""Every method by name: :func:`methods` lists them, :func:`compute` computes their values.

All methods read the same :class:`~franq_guard.uncertainty.statistics.Statistics`; what several of
them need is computed once. A name that ends in ``:lm-polygraph`` is the method as that library
computes it, where ours differs. One that ends in ``:reciprocal`` has the same uncertainty u as the
method before the colon and another confidence: 1 / (1 + u) of Semantic Entropy, 1 / u of the Sum
of Eigenvalues.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from franq_guard.franq import FloatArray
from franq_guard.uncertainty.catalogue import METHODS
from franq_guard.uncertainty.method import Level, Method
from franq_guard.uncertainty.statistics import Statistics

__all__ = ["Level", "Method", "compute", "confidence", "find", "log_confidence", "methods"]

_BY_NAME = {method.name: method for method in METHODS}


def methods() -> tuple[Method, ...]:
    """Every method, by family; ``method.row()`` is its line in ``franq methods``."""
    return METHODS


def find(name: str) -> Method:
    """The method of that name.

    Raises:
        ValueError: if there is none; the message lists the known names.
    """
    if name not in _BY_NAME:
        raise ValueError(f"no method {name!r}; there are: {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def compute(
    names: Iterable[str], statistics: Statistics, *, level: Level = "sequence"
) -> dict[str, FloatArray]:
    """Uncertainties by name; higher = less certain.

    Args:
        names: methods that exist at ``level``.
        statistics: what was measured for the answer.
        level: ``sequence`` for the whole answer, ``claim`` for each of its claims.

    Returns:
        For each name (1,) at sequence level, (claims,) at claim level; NaN where there was nothing
        to measure (no tokens, fewer than two samples).

    Raises:
        ValueError: for an unknown name, a method without that level, or a missing statistic.
    """
    return {name: _values(find(name), statistics, level) for name in names}


def confidence(name: str, uncertainty: float, *, samples: int = 10) -> float:
    """A method's uncertainty as a confidence in [0, 1]; NaN stays NaN.

    By the method's own scale where it has one: exp(-u) for nats, 1 - u for shares, 1 - (u - 1) /
    (n - 1) for a number of meanings among n samples; otherwise by a function that only keeps the
    order, whose values mean nothing before calibration. FRANQ's paper states no form for Semantic
    Entropy and the Sum of Eigenvalues: those here are ours (``docs/what-decides.md``).
    ``samples``: n, how many samples the uncertainty was computed from.
    """
    if np.isnan(uncertainty):
        return float("nan")
    return float(np.clip(find(name).confidence(uncertainty, samples), 0.0, 1.0))


def log_confidence(name: str, uncertainty: float, *, samples: int = 10) -> float:
    """Log of :func:`confidence`, at most 0: the input of the long form's calibrators.

    For an uncertainty in nats this is its negative, computed without exp(), which would underflow
    for long claims. A confidence of 0 gives -inf; NaN stays NaN.
    """
    if find(name).in_nats:
        return 0.0 - max(float(uncertainty), 0.0) if not np.isnan(uncertainty) else float("nan")
    value = confidence(name, uncertainty, samples=samples)
    return float(np.log(value)) if value != 0 else float("-inf")


def _values(method: Method, statistics: Statistics, level: Level) -> FloatArray:
    try:
        if level == "sequence" and method.sequence is not None:
            return np.array([method.sequence(statistics)], float)
        if level == "claim" and method.claim is not None:
            claims = range(len(statistics.claims))
            return np.array([method.claim(statistics, i) for i in claims], float)
    except ValueError as error:
        raise ValueError(f"{method.name}: {error}") from error
    raise ValueError(f"{method.name} has no {level} level, only {', '.join(method.levels)}")
