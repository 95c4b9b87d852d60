"""Choosing a labelling rule with a promise: at most a given share of true claims is flagged.

Learn-then-Test (Angelopoulos et al., arXiv 2110.01052) with exact binomial bounds (Clopper and
Pearson, Biometrika 1934). The rules are tested in an order that was fixed without looking at these
claims, from the rule that flags least to the strictest. Testing stops at the first rule that may
flag more than the promise allows; the rule before it is chosen.
With probability 1 - delta over the draw of the claims, the chosen rule flags at most alpha of all
true claims like these, however many rules there are: to break the promise, the first rule in the
order that flags too many has to pass its test, and that happens with probability delta at most.

The promise holds where

- the claims were not used for training, for fitting or for ordering the rules, and nothing is
  refitted afterwards;
- they are independent: one claim per answer (:func:`one_an_answer`), one answer per question;
- they come from the same distribution as the claims the rule will be applied to. For claims from
  another source the share is an estimate, not a promise.

MAPIE's `BinaryClassificationController` makes the same test. We do not use it because it derives
the order of the rules from the data, counts 7 of 100 as 8 (it rounds up a product that has a
rounding error), reports no bound, and would be one more dependency for the few lines below.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Promise",
    "PromiseRefusedError",
    "at_most_flagged",
    "check_enough",
    "fewest_at_share",
    "fewest_claims",
    "most_flagged",
    "one_an_answer",
    "strictest",
    "upper_bound",
]


MOST = 2000
"""The largest number of answers that :func:`fewest_at_share` tells anybody to label."""


class PromiseRefusedError(ValueError):
    """No promise is possible: too few claims, or even the most lenient rule flags too many."""


@dataclass(frozen=True, slots=True)
class Promise:
    """At most ``alpha`` of the true claims are flagged, at confidence 1 - ``delta``.

    ``n``: number of true claims it is based on; ``flagged``: how many of them the rule flags;
    ``bound``: upper bound on the share, at most alpha; ``rule``: index of the rule in the order
    tested.
    """

    alpha: float
    delta: float
    n: int
    flagged: int
    bound: float
    rule: int


def at_most_flagged(flagged: ArrayLike, *, alpha: float = 0.05, delta: float = 0.1) -> Promise:
    """The strictest rule that flags at most ``alpha`` of true claims, at confidence 1 - ``delta``.

    Args:
        flagged: (rules, n) of bool: whether the rule flags the true claim. The rules are ordered
            from lenient to strict, independently of these claims; the claims are independent.
        alpha: share in (0, 1).
        delta: largest probability that the promise is broken, in (0, 1).

    Raises:
        PromiseRefusedError: n is too small for any rule, or the first rule flags too many.
        ValueError: the shape is wrong, or alpha or delta is not in (0, 1).
    """
    table = np.asarray(flagged)
    if table.ndim != 2 or table.dtype != np.bool_ or not len(table):
        raise ValueError("flagged must be (rules, claims) of bool, with at least one rule")
    n = table.shape[1]
    check_enough(n, alpha, delta)
    return strictest(table.sum(axis=1), n, alpha=alpha, delta=delta)


def strictest(counts: NDArray[np.intp], n: int, *, alpha: float, delta: float) -> Promise:
    """:func:`at_most_flagged` by how many of the ``n`` true claims each rule flags (rules,).

    The caller has made sure that ``n`` is large enough, see :func:`check_enough`.
    """
    chosen: Promise | None = None
    for rule, count in enumerate(counts.tolist()):
        bound = upper_bound(count, n, delta=delta)
        if bound > alpha:
            break
        chosen = Promise(alpha, delta, n, count, bound, rule)
    if chosen is None:
        raise PromiseRefusedError(
            f"the most lenient rule flags {counts[0]} of {n} true claims, so up to {bound:.3f} at "
            f"{1 - delta:.3g} confidence: more than {alpha:.3g}"
        )
    return chosen


def upper_bound(count: int, n: int, *, delta: float) -> float:
    """Clopper-Pearson: the share at which ``count`` or fewer of n occur with probability delta.

    Raises:
        ValueError: count is not in 0..n, n is 0, or delta is not in (0, 1).
    """
    from scipy.stats import beta

    if not 0 <= count <= n or n < 1 or not 0 < delta < 1:
        raise ValueError("want 0 <= count <= n, n >= 1 and 0 < delta < 1")
    return 1.0 if count == n else float(beta.ppf(1 - delta, count + 1, n - count))


def check_enough(n: int, alpha: float, delta: float, *, of: str = "true claims") -> None:
    """Raise PromiseRefusedError if ``n`` answers with such a claim are too few for the promise."""
    least = fewest_claims(alpha, delta)
    if n < least:
        one = of.replace("claims", "claim", 1)
        raise PromiseRefusedError(
            f"{n} answers with a {one} cannot show that at most {alpha:.3g} of the {of} are "
            f"flagged, at {1 - delta:.3g} confidence: at least {least} are needed"
        )


def fewest_claims(alpha: float, delta: float) -> int:
    """The fewest claims for which the bound is at most ``alpha`` if none of them is flagged.

    The smallest n with (1 - alpha)^n <= delta: 45 for 5 % at 90 % confidence, 230 for 1 %.

    Raises:
        ValueError: alpha or delta is not in (0, 1).
    """
    if not 0 < alpha < 1 or not 0 < delta < 1:
        raise ValueError("alpha and delta must lie between 0 and 1")
    return math.ceil(math.log(delta) / math.log1p(-alpha))


def most_flagged(n: int, alpha: float, delta: float) -> int | None:
    """How many of ``n`` claims may be flagged for the bound to be at most ``alpha``; 0: none may.

    None if ``n`` is too small: the bound exceeds ``alpha`` even if none is flagged.

    Raises:
        ValueError: alpha or delta is not in (0, 1).
    """
    if n < fewest_claims(alpha, delta):
        return None
    count = 0
    while upper_bound(count + 1, n, delta=delta) <= alpha:
        count += 1
    return count


def fewest_at_share(flagged: int, n: int, alpha: float, delta: float) -> int | None:
    """The fewest claims, of which the share ``flagged / n`` is flagged, with a bound of ``alpha``.

    None if they are more than :data:`MOST`, as they are where the share is not below ``alpha``.

    Raises:
        ValueError: n is 0, flagged is not in 0..n, or alpha or delta is not in (0, 1).
    """
    if not 0 <= flagged <= n or n < 1:
        raise ValueError("want 0 <= flagged <= n and n >= 1")
    if flagged / n >= alpha:
        return None
    for claims in range(fewest_claims(alpha, delta), MOST + 1):
        if upper_bound(math.ceil(claims * flagged / n), claims, delta=delta) <= alpha:
            return claims
    return None


def one_an_answer(answers: Sequence[str], claims: Sequence[str]) -> list[int]:
    """The indices of one claim per answer, in order; the claim is drawn by a hash of its name.

    The draw depends only on the names, not on the order of the rows or on other answers, so adding
    rows does not change it. Pass only true claims. If several answers belong to one question, pass
    the question's name as their ``answers``.

    Args:
        answers: (n,) the answer each claim belongs to.
        claims: (n,) the claims' names, different within an answer.

    Raises:
        ValueError: the lengths differ.
    """
    drawn: dict[str, tuple[bytes, int]] = {}
    for index, (answer, claim) in enumerate(zip(answers, claims, strict=True)):
        lot = hashlib.sha256(f"{answer}\n{claim}".encode()).digest(), index
        drawn[answer] = min(lot, drawn.get(answer, lot))
    return sorted(index for _, index in drawn.values())
