"""Choosing a labelling rule with a promise: at most a given share of true claims is flagged.

Learn-then-Test (Angelopoulos et al., arXiv 2110.01052) with exact binomial bounds (Clopper and
Pearson, Biometrika 1934). The rules stand in an order that was fixed before anyone looked at these
claims, from the one that flags least to the strictest. They are tested in that order and testing
stops at the first that may flag more than the promise allows; the last one before it is chosen.
With probability 1 - delta over the draw of the claims, the chosen rule flags at most alpha of all
true claims like these, however many rules there are: to break the promise, the first rule in the
order that flags too many has to pass its test, and that happens with probability delta at most.

The promise holds where

- the claims were seen by no training, no fit and no choice of the rules' order, and nothing is
  refitted afterwards;
- they are independent: one claim an answer (:func:`one_an_answer`), one answer a question;
- they are like those the rule will meet. For other sources it is a figure, not a promise.

MAPIE's `BinaryClassificationController` makes the same test. It is not used: it takes the order of
the rules from the data, counts 7 of 100 as 8 (the ceiling of a rounded product), reports no bound,
and would be one more dependency for the few lines below.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "Promise",
    "PromiseRefusedError",
    "at_most_flagged",
    "fewest_claims",
    "one_an_answer",
    "upper_bound",
]


class PromiseRefusedError(ValueError):
    """No rule can be promised: too few claims, or the most lenient rule flags too many."""


@dataclass(frozen=True, slots=True)
class Promise:
    """At most ``alpha`` of the true claims are flagged, at confidence 1 - ``delta``.

    ``n``: true claims it rests on; ``flagged``: how many of them the rule flags; ``bound``: the
    upper bound on the share, at most alpha; ``rule``: index of the rule, in the order tested.
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
        flagged: (rules, n) of bool: whether the rule flags the true claim. The rules from lenient
            to strict, in an order that does not depend on these claims; the claims independent.
        alpha: share in (0, 1).
        delta: how likely the promise may be broken, in (0, 1).

    Raises:
        PromiseRefusedError: n is too small for any rule, or the first rule flags too many.
        ValueError: the shape is another, or alpha or delta are no shares.
    """
    table = np.asarray(flagged)
    if table.ndim != 2 or table.dtype != np.bool_ or not len(table):
        raise ValueError("flagged must be (rules, claims) of bool, with at least one rule")
    n, least = table.shape[1], fewest_claims(alpha, delta)
    if n < least:
        raise PromiseRefusedError(
            f"{n} true claims cannot show that at most {alpha:.3g} of them are flagged, at "
            f"{1 - delta:.3g} confidence: at least {least} are needed"
        )
    counts = table.sum(axis=1)
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
    """Clopper-Pearson: the largest share at which ``count`` or fewer of n come with chance delta.

    Raises:
        ValueError: count is not in 0..n, n is 0 or delta no share.
    """
    from scipy.stats import beta

    if not 0 <= count <= n or n < 1 or not 0 < delta < 1:
        raise ValueError("want 0 <= count <= n, n >= 1 and 0 < delta < 1")
    return 1.0 if count == n else float(beta.ppf(1 - delta, count + 1, n - count))


def fewest_claims(alpha: float, delta: float) -> int:
    """The fewest claims, none of them flagged, for which the bound is at most ``alpha``.

    The smallest n with (1 - alpha)^n <= delta: 45 for 5 % at 90 % confidence, 230 for 1 %.

    Raises:
        ValueError: alpha or delta is not in (0, 1).
    """
    if not 0 < alpha < 1 or not 0 < delta < 1:
        raise ValueError("alpha and delta must lie between 0 and 1")
    return math.ceil(math.log(delta) / math.log1p(-alpha))


def one_an_answer(answers: Sequence[str], claims: Sequence[str]) -> list[int]:
    """The indices of one claim of each answer, in order: the claim is drawn by a hash.

    The draw depends on the names alone, neither on the order of the rows nor on other answers, so
    that more rows leave it as it is. Draw among the true claims, and where several answers belong
    to one question, name the question.

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
