"""When a claim that the passages do not state passes as probably true: ``unsupported-true``.

That is said only where at least 7 in 10 such claims are true, of claims the fit has not seen and at
the threshold that is in force. The threshold of a promise is set on other claims than these. So
these decide beforehand whether the label is given and, if it is, which thresholds may be taken; the
promise then holds as it does for any other list that is fixed in advance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from franq_guard.calibration.labels import Labelled
from franq_guard.franq import FloatArray
from franq_guard.label_rule import LabelRule

MIN_UNSUPPORTED = 10
"""Fewest unsupported claims needed to conclude that such claims are mostly true."""
_OF_TEN = 7
"""How many of ten of them must be true."""

__all__ = ["MIN_UNSUPPORTED", "flagged_always", "to_promise", "with_unsupported"]


def flagged_always(data: Labelled, rule: LabelRule) -> NDArray[np.bool_]:
    """The claims (n,) flagged whatever their P(true): unsupported, or passages disagree."""
    conflict = _conflict(data, rule)
    return conflict if rule.unsupported_true else conflict | _unsupported(data, rule)


def with_unsupported(data: Labelled, p_true: FloatArray, rule: LabelRule) -> LabelRule:
    """The rule at its own threshold: unsupported claims pass where these are mostly true.

    Args:
        data: claims (n,).
        p_true: (n,), by a fit that has not seen the claim's answer; NaN where unknown.
        rule: the labelling rule; its own ``unsupported_true`` does not matter.
    """
    passing = _could_pass(data, p_true, rule) & (p_true >= rule.threshold)
    shown = _enough(passing.sum(), data.is_true[passing].sum())
    return replace(rule, unsupported_true=bool(shown))


def to_promise(
    data: Labelled, p_true: FloatArray, rule: LabelRule, wanted: NDArray[np.bool_]
) -> tuple[LabelRule, FloatArray | None]:
    """The rule for a promise, and the thresholds (m,) it may take; None: any.

    Unsupported claims pass if there is a threshold above which they are mostly true, and if the
    lowest such one flags no more of the ``wanted`` claims than flagging all unsupported ones does.

    Args:
        data: claims (n,) of the fit, none of which sets the threshold.
        p_true: as for :func:`with_unsupported`.
        rule: as for :func:`with_unsupported`.
        wanted: (n,), the claims of the kind that the promise is about.
    """
    never, passing = (replace(rule, unsupported_true=flag) for flag in (False, True))
    options = _thresholds(data, p_true, rule)
    if not len(options):
        return never, None
    known = wanted & ~np.isnan(p_true)
    flagged = flagged_always(data, passing) | (p_true < options[0])
    if flagged[known].sum() > flagged_always(data, never)[known].sum():
        return never, None
    return passing, options


def _thresholds(data: Labelled, p_true: FloatArray, rule: LabelRule) -> FloatArray:
    """The values of P(true), ascending, from which on unsupported claims are mostly true."""
    chosen = _could_pass(data, p_true, rule)
    order = np.argsort(p_true[chosen])
    values, first = np.unique(p_true[chosen][order], return_index=True)
    true = np.cumsum(data.is_true[chosen][order][::-1])[::-1]
    return values[_enough(len(order) - first, true[first])]


def _enough(claims: NDArray[np.intp], true: FloatArray) -> NDArray[np.bool_]:
    shown: NDArray[np.bool_] = (claims >= MIN_UNSUPPORTED) & (10 * true >= _OF_TEN * claims)
    return shown


def _could_pass(data: Labelled, p_true: FloatArray, rule: LabelRule) -> NDArray[np.bool_]:
    return _unsupported(data, rule) & ~_conflict(data, rule) & ~np.isnan(p_true)


def _unsupported(data: Labelled, rule: LabelRule) -> NDArray[np.bool_]:
    return ~(data.signals[:, 0] > rule.supported_from)  # "not >" also holds for NaN


def _conflict(data: Labelled, rule: LabelRule) -> NDArray[np.bool_]:
    return np.array([rule.conflict(*of_claim) for of_claim in data.nli.tolist()], bool)
