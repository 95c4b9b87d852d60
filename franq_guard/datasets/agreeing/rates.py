"""Estimates the share of a label from a judge's labels of all claims and people's of a sample.

Prediction-powered inference (Angelopoulos et al., Science 2023, arXiv 2301.09633), its weight
chosen as in PPI++ (arXiv 2311.01453, section 6): people's mean on the sample, plus the weighted
difference between the judge's mean on the other claims and its mean on the sample. Standard errors
are clustered by answer; that of the other claims is taken from all of the judge's labels, since the
others may be of an answer or two. Where the sample shows no variance at all (every claim has the
label, or none), the interval reaches as far as that of Clopper and Pearson (Biometrika 1934) for as
many answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from franq_guard.datasets.agreeing.agreement import Votes

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rate:
    """Share of claims with one label: three estimates, the last with an interval.

    ``judge``: the share among all claims the judge labelled. ``people``: the share in people's
    sample; NaN without a sample. ``corrected``: the combined estimate, between ``low`` and ``high``
    with ``confidence``; ``weight`` in [0, 1] is the weight of the judge. These are NaN if people
    labelled fewer than two answers.
    """

    label: str
    judge: float
    people: float
    corrected: float
    low: float
    high: float
    weight: float
    n_judge: int
    n_people: int
    confidence: float


def corrected_rate(judge: Votes, people: Votes, label: str, *, confidence: float = 0.9) -> Rate:
    """The share of claims that have ``label``.

    People's sample must have been drawn at random from the judge's claims. A sample of claims that
    were selected because they are doubtful would bias the rate.

    Args:
        judge: labels of as many claims as possible.
        people: labels of a random sample; claims that the judge did not label are ignored.
        label: the label whose share is estimated.
        confidence: of the interval.
    """
    both = sorted(people.keys() & judge.keys())
    alone = sorted(judge.keys() - people.keys())
    truth = _hits(people, both, label)
    seen, unseen = _hits(judge, both, label), _hits(judge, alone, label)
    every = np.concatenate([seen, unseen])
    if len({answer for answer, _ in both}) < 2:
        nan = float("nan")
        return Rate(
            label, _mean(every), _mean(truth), nan, nan, nan, nan, len(judge), len(both), confidence
        )
    groups = [answer for answer, _ in both]
    of_every = _variance(every, [answer for answer, _ in both + alone])
    elsewhere = of_every * len(every) / len(unseen) if len(unseen) else 0.0
    weight = _weight(truth, seen, groups, elsewhere) if len(unseen) else 0.0
    middle = _mean(truth) + (weight * (_mean(unseen) - _mean(seen)) if len(unseen) else 0.0)
    error = _variance(truth - weight * seen, groups) + weight**2 * elsewhere
    if error > 1e-12:  # not a rounding error
        reach = NormalDist().inv_cdf(0.5 + confidence / 2) * float(np.sqrt(error))
    else:
        reach = 1 - (0.5 - confidence / 2) ** (1 / len(set(groups)))
    return Rate(
        label,
        judge=_mean(every),
        people=_mean(truth),
        corrected=min(1.0, max(0.0, middle)),
        low=max(0.0, middle - reach),
        high=min(1.0, middle + reach),
        weight=weight,
        n_judge=len(judge),
        n_people=len(both),
        confidence=confidence,
    )


def _weight(truth: Floats, seen: Floats, groups: Sequence[str], elsewhere: float) -> float:
    """The weight with the least variance, in [0, 1]; ``elsewhere``: that of the others' mean."""
    own = _variance(seen, groups)
    joint = _variance(truth + seen, groups) - _variance(truth, groups) - own
    spread = own + elsewhere
    return float(min(1.0, max(0.0, joint / 2 / spread))) if spread > 0 else 0.0


def _variance(values: Floats, groups: Sequence[str]) -> float:
    """Variance of the mean of ``values``, clustered by group; 0 for a single group."""
    names, member = np.unique(np.array(groups, dtype=str), return_inverse=True)
    if len(names) < 2:
        return 0.0
    sums = np.bincount(member, weights=values - values.mean())
    return float(len(names) / (len(names) - 1) * (sums**2).sum() / len(values) ** 2)


def _hits(labels: Votes, claims: Sequence[tuple[str, int]], label: str) -> Floats:
    return np.array([labels[claim] == label for claim in claims], dtype=np.float64)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")
