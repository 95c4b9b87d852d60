"""Whether a calibrator still holds on labels that it has not seen, after something changed.

Two tests on one claim of every answer (drawn by a hash, so that claims of one answer do not count
twice): are more true claims flagged than was promised (exact binomial test), and does P(true) still
say how often claims are true (Spiegelhalter, Statistics in Medicine 1986)? Were new claims like the
old ones, exchangeable with them, each would fail in one of twenty cases at level .05.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from franq_guard import metrics
from franq_guard.calibration.fit import flagged_always, labelled
from franq_guard.calibration.promise import one_an_answer, upper_bound
from franq_guard.calibration.store import Calibrator
from franq_guard.franq import FloatArray

LEVEL = 0.05
"""A test whose p-value is below this speaks against the calibrator."""

__all__ = ["LEVEL", "Holding", "holding"]


@dataclass(frozen=True, slots=True)
class Holding:
    """What new labels say of a calibrator.

    ``claims``: with a label and P(true), one an answer; ``true`` of them are. ``flagged``: true
    claims that its rule flags, at most ``bound`` of all at 90 % confidence. ``promised``: the
    share it promised, None without a promise; ``p_promise``: how likely as many would be flagged
    if it were kept. ``said`` and ``found``: mean P(true) and share of true claims;
    ``p_calibration``: how likely a calibrated P(true) would miss by as much.
    """

    claims: int
    true: int
    flagged: int
    bound: float
    promised: float | None
    p_promise: float
    said: float
    found: float
    ece: float
    p_calibration: float

    @property
    def promise_broken(self) -> bool:
        """Whether the labels speak against the promise."""
        return self.p_promise < LEVEL

    @property
    def miscalibrated(self) -> bool:
        """Whether the labels speak against P(true)."""
        return self.p_calibration < LEVEL

    @property
    def fit_again(self) -> bool:
        """Whether either test failed."""
        return self.promise_broken or self.miscalibrated


def holding(calibrator: Calibrator, rows: Iterable[Mapping[str, Any]]) -> Holding:
    """Test a calibrator on new labelled claims.

    Args:
        calibrator: fitted before, on other answers.
        rows: as for :func:`~franq_guard.calibration.fit.fit_calibrator`; those whose label is not
            trusted are left out.

    Raises:
        ValueError: if no claim has both a trusted label and P(true).
    """
    data = labelled(rows)
    data = data.only(data.trusted)
    p_all = calibrator.apply(*data.signals.T)[0]
    known = np.flatnonzero(~np.isnan(p_all))
    if not len(known):
        raise ValueError("no claim has both a label that can be trusted and a P(true)")
    names = [f"{answer} {place}" for place, answer in enumerate(data.answers.tolist())]
    drawn = known[one_an_answer(data.answers[known].tolist(), [names[i] for i in known])]
    truth, p = data.is_true[drawn], p_all[drawn]
    fixed = flagged_always(data, calibrator.labels)[drawn]
    flagged = int((fixed | (p < calibrator.labels.threshold))[truth == 1].sum())
    true = int(truth.sum())
    promised = (calibrator.promise or {}).get("at_most_flagged")
    return Holding(
        claims=len(truth),
        true=true,
        flagged=flagged,
        bound=upper_bound(flagged, true, delta=0.1) if true else 1.0,
        promised=promised,
        p_promise=_at_least(flagged, true, promised) if promised is not None else 1.0,
        said=float(p.mean()),
        found=float(truth.mean()),
        ece=metrics.ece(truth, p),
        p_calibration=_spiegelhalter(truth, p),
    )


def _at_least(k: int, n: int, share: float) -> float:
    """P(X >= k) for X of n, each with probability ``share``."""
    return math.fsum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(k, n + 1))


def _spiegelhalter(truth: FloatArray, p: FloatArray) -> float:
    """Two-sided p-value of Spiegelhalter's z."""
    variance = float(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    if variance == 0:  # every P(true) is 0, .5 or 1: a single 0 or 1 that is wrong refutes it
        return float(np.all((p == 0.5) | (p == truth)))
    z = float(np.sum((truth - p) * (1 - 2 * p))) / math.sqrt(variance)
    return 2 * (1 - NormalDist().cdf(abs(z)))
