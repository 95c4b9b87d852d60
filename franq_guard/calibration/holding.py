"""Tests on new labels whether a calibrator is still valid, for example after a model changed.

There are two tests. The first asks whether more true claims are flagged than was promised (exact
binomial test), the second whether P(true) still agrees with what is true. The second takes two
statistics, since each is blind to what the other sees: the mean of P(true) against the share of
true claims, and Spiegelhalter's z (Statistics in Medicine 1986), in which errors at P(true) near .5
hardly count, and those below and above it cancel. Its p-value is twice the smaller one of the two
(Bonferroni), because one of two is small by chance more often than one alone.

Claims of one answer are not independent, so each test uses one of every answer, drawn by a hash:
the first test one of those that the promise is about, as the promise itself does, the second one of
all. If the new answers are exchangeable with the old ones, each test fails by chance in about one
of twenty cases (level .05); for the second that takes a P(true) that is as right in answers of many
claims as in those of few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from franq_guard import metrics
from franq_guard.calibration.fit import ABOUT, About, passing
from franq_guard.calibration.labels import labelled, p_true_of
from franq_guard.calibration.promise import upper_bound
from franq_guard.calibration.store import Calibrator
from franq_guard.calibration.thresholds import drawn_claims
from franq_guard.calibration.unsupported import flagged_always
from franq_guard.franq import FloatArray

LEVEL = 0.05
"""A test with a p-value below this counts as failed."""

__all__ = ["LEVEL", "Holding", "holding"]


@dataclass(frozen=True, slots=True)
class Holding:
    """The result of testing a calibrator on new labels.

    ``about``: the claims that should pass, "true claims" or "true claims that the passages state";
    ``true``: how many answers have such a claim, of which one counts. ``flagged``: how many of
    these the rule flags; ``bound``: upper bound on the share flagged, at 90 % confidence.
    ``promised``: the promised share, None without a promise; ``p_promise``: probability that at
    least as many are flagged if the promise holds.
    ``claims``: how many claims, one per answer, P(true) was tested on; ``said`` and ``found``:
    their mean P(true) and share of true claims; ``p_calibration``: upper bound on the probability
    that a well calibrated P(true) deviates at least as much, in its mean or by Spiegelhalter's z.
    """

    claims: int
    about: str
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
        """Whether the test of the promise failed."""
        return self.p_promise < LEVEL

    @property
    def miscalibrated(self) -> bool:
        """Whether the test of P(true) failed."""
        return self.p_calibration < LEVEL

    @property
    def fit_again(self) -> bool:
        """Whether at least one test failed, so that the calibrator should be fitted again."""
        return self.promise_broken or self.miscalibrated


def holding(calibrator: Calibrator, rows: Iterable[Mapping[str, Any]]) -> Holding:
    """Test a calibrator on new labelled claims.

    Args:
        calibrator: one that was fitted on other answers.
        rows: as for :func:`~franq_guard.calibration.fit.fit_calibrator`; those whose label is not
            trusted are left out.

    Raises:
        ValueError: if no claim has both a trusted label and P(true).
    """
    data = labelled(rows)
    data = data.only(data.trusted)
    p_true = p_true_of(data, calibrator)
    known, answers = ~np.isnan(p_true), data.answers.tolist()
    if not known.any():
        raise ValueError("no claim has both a label that can be trusted and a P(true)")
    drawn = drawn_claims(answers, known)
    truth, p = data.is_true[drawn], p_true[drawn]
    about = _about(calibrator)
    weak = flagged_always(data, calibrator.labels) | (p_true < calibrator.labels.threshold)
    right = drawn_claims(answers, known & (passing(data, about) == 1))
    flagged, true = int(weak[right].sum()), len(right)
    promised = (calibrator.promise or {}).get("at_most_flagged")
    return Holding(
        claims=len(drawn),
        about=ABOUT[about],
        true=true,
        flagged=flagged,
        bound=upper_bound(flagged, true, delta=0.1) if true else 1.0,
        promised=promised,
        p_promise=_at_least(flagged, true, promised) if promised is not None else 1.0,
        said=float(p.mean()),
        found=float(truth.mean()),
        ece=metrics.ece(truth, p),
        p_calibration=min(1.0, 2 * min(_mean(truth, p), _spiegelhalter(truth, p))),
    )


def _about(calibrator: Calibrator) -> About:
    return "stated" if (calibrator.promise or {}).get("of") == ABOUT["stated"] else "true"


def _at_least(k: int, n: int, share: float) -> float:
    """P(X >= k) for X of n, each with probability ``share``."""
    from scipy.stats import binom

    return float(binom.sf(k - 1, n, share))


def _mean(truth: FloatArray, p: FloatArray) -> float:
    """Two-sided p-value of the difference of the share of true claims and the mean P(true)."""
    return _weighted(truth, p, np.ones_like(p))


def _spiegelhalter(truth: FloatArray, p: FloatArray) -> float:
    """Two-sided p-value of Spiegelhalter's z."""
    return _weighted(truth, p, 1 - 2 * p)


def _weighted(truth: FloatArray, p: FloatArray, weights: FloatArray) -> float:
    """Two-sided p-value of the weighted sum of what is true less P(true), which is 0 on average."""
    variance = float(np.sum(weights**2 * p * (1 - p)))
    if variance == 0:  # every claim that counts has 0 or 1: one wrong one is enough to refute it
        return float(np.all((weights == 0) | (p == truth)))
    z = float(np.sum((truth - p) * weights)) / math.sqrt(variance)
    return 2 * (1 - NormalDist().cdf(abs(z)))
