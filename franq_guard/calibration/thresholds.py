"""Chooses the threshold on P(true) so that at most a given share of true claims is flagged.

A claim is flagged if its P(true) is below the threshold; some claims are flagged whatever the
threshold (``unsupported`` ones, and those on which passages contradict each other). A claim that
one threshold flags is also flagged by every higher threshold. So the order of the thresholds, from
lenient to strict, does not depend on the data, and the promise of :mod:`.promise` holds at once for
all thresholds that pass its test. Of these, the one that catches most of the other (false) claims
is chosen. If several catch equally many, the lowest is chosen, because a higher one would only flag
more true claims. A threshold is the midpoint between two neighbouring values of P(true), unless a
list of thresholds is handed in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from franq_guard.calibration.promise import (
    Promise,
    PromiseRefusedError,
    check_enough,
    fewest_at_share,
    one_an_answer,
    strictest,
)
from franq_guard.franq import FloatArray

__all__ = [
    "PromisedThreshold",
    "drawn_claims",
    "flagged_by",
    "promised_threshold",
    "sets_the_threshold",
]


@dataclass(frozen=True, slots=True)
class PromisedThreshold:
    """A claim with P(true) below ``value`` is flagged; ``promise`` is what is promised about it.

    ``caught``: how many of the ``others``, the claims that should be flagged, are flagged. This is
    a measurement, not a promise.
    """

    value: float
    promise: Promise
    caught: int
    others: int

    def to_dict(self, *, of: str, data: str) -> dict[str, Any]:
        """What a calibrator stores in ``promise``, JSON-ready.

        Args:
            of: the claims the promise is about, such as "true claims".
            data: a name for the labelled data.
        """
        made = self.promise
        return {
            "of": of,
            "at_most_flagged": made.alpha,
            "confidence": round(1 - made.delta, 12),
            "threshold": self.value,
            "n": made.n,
            "flagged": made.flagged,
            "bound": round(made.bound, 6),
            "caught": self.caught,
            "others": self.others,
            "data": data,
            "date": datetime.now(UTC).date().isoformat(),
        }


def promised_threshold(
    is_true: ArrayLike,
    p_true: ArrayLike,
    *,
    answers: Sequence[str],
    always: ArrayLike | None = None,
    options: FloatArray | None = None,
    alpha: float,
    delta: float,
    of: str = "true claims",
) -> PromisedThreshold:
    """The threshold that flags at most ``alpha`` of the true claims, at confidence 1 - ``delta``.

    The promise is based on one true claim of every answer, drawn by a hash of the answer's name and
    the claim's position in it. The claims must not have been used in any fit, and P(true) must not
    be fitted again afterwards.

    Args:
        is_true: (n,) of 0/1: whether the claim should pass. For a promise about what the passages
            state: whether they state the claim.
        p_true: (n,) in [0, 1]; NaN where unknown: such claims are unverified and left out.
        answers: (n,) names of the answers the claims belong to.
        always: (n,) of bool: claims that are flagged whatever the threshold; None: no claim.
        options: (m,) thresholds to choose from, ascending and found without these claims; None: 0
            and the midpoints.
        alpha: share in (0, 1).
        delta: in (0, 1).
        of: what messages call the claims that should pass.

    Raises:
        PromiseRefusedError: fewer answers with a true claim than the promise needs, or more than
            ``alpha`` of the claims may be flagged by ``always`` alone.
        ValueError: lengths differ, or alpha or delta is not in (0, 1).
    """
    truth, p = np.asarray(is_true, bool), np.asarray(p_true, float)
    fixed = np.zeros(len(p), bool) if always is None else np.asarray(always, bool)
    if not len(truth) == len(p) == len(fixed) == len(answers):
        raise ValueError("is_true, p_true, always and answers must be of one length")
    known = ~np.isnan(p)
    if options is None:
        options = _thresholds(p[known])
    drawn = drawn_claims(answers, truth & known)
    check_enough(len(drawn), alpha, delta, of=of)
    flagged, n = flagged_by(p[drawn], fixed[drawn], options), len(drawn)
    try:
        last = strictest(flagged, n, alpha=alpha, delta=delta).rule
    except PromiseRefusedError as error:
        raise PromiseRefusedError(
            f"{error}. That rule flags only claims that are `unsupported`, "
            f"{_below(options[0])}or on which passages contradict each other, so no threshold can "
            "make up for it. "
            f"{_way_out(int(flagged[0]), n, alpha, delta)}"
        ) from None
    others = known & ~truth
    caught = flagged_by(p[others], fixed[others], options)[: last + 1]
    # argmax returns the lowest of the thresholds that catch the most. Without other claims to
    # catch, the strictest threshold is used.
    best = int(np.argmax(caught)) if others.any() else last
    promise = strictest(flagged[: best + 1], n, alpha=alpha, delta=delta)
    return PromisedThreshold(float(options[best]), promise, int(caught[best]), int(others.sum()))


def flagged_by(
    p_true: FloatArray, always: NDArray[np.bool_], thresholds: FloatArray
) -> NDArray[np.intp]:
    """How many of the claims (n,) each threshold (m,) flags, (m,); those of ``always`` by any.

    A claim whose P(true) is NaN is otherwise flagged by none.
    """
    return int(always.sum()) + np.searchsorted(np.sort(p_true[~always]), thresholds)


def _below(lowest: float) -> str:
    return f"have a P(true) below {lowest:.2f} " if lowest else ""


def _way_out(flagged: int, n: int, alpha: float, delta: float) -> str:
    """What would make the promise possible after ``flagged`` of ``n`` were flagged in any case."""
    needed = fewest_at_share(flagged, n, alpha, delta)
    if needed is None:
        return (
            f"With a share like that ({flagged / n:.2f}) more labels do not help: promise a larger "
            "share, promise only about claims that the passages state (`stated`), or retrieve "
            "passages that state more"
        )
    return f"If the share stays like that ({flagged / n:.2f}), {needed} such answers will do"


def sets_the_threshold(answer: str) -> bool:
    """Whether this answer's claims are used to set the threshold rather than to fit the curves.

    A hash of the name selects half of all answers, so adding answers never moves one from one half
    to the other.
    """
    return hashlib.sha256(f"threshold\n{answer}".encode()).digest()[0] % 2 == 0


def _thresholds(p_true: FloatArray) -> FloatArray:
    """0, which flags no claim, and the midpoints between neighbouring values."""
    values = np.unique(p_true)
    return np.concatenate([[0.0], (values[:-1] + values[1:]) / 2])


def drawn_claims(answers: Sequence[str], candidates: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The indices of one candidate from each answer that has any.

    It depends on an answer's name and the claim's place in it, not on the order of the answers.
    """
    places: dict[str, int] = {}
    names = []
    for answer in answers:
        places[answer] = places.get(answer, -1) + 1
        names.append(str(places[answer]))
    found: list[int] = np.flatnonzero(candidates).tolist()
    drawn = one_an_answer([answers[i] for i in found], [names[i] for i in found])
    return np.array([found[i] for i in drawn], np.intp)
