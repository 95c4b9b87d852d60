"""Checks an answer repeatedly while it is written, for callers that keep no state.

Each call checks the whole text so far, because the caller does not say which call is the last.
Claims that more text cannot change keep their first verdicts: their text may have been sent to the
user already and must not change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from franq_guard.basics.text import common_start
from franq_guard.policy import Policy, status_of
from franq_guard.records import GuardedAnswer, Verdict
from franq_guard.serve.checker import applied


@dataclass(frozen=True, slots=True)
class Settled:
    """The beginning of an answer that more text cannot change, and its verdicts."""

    text: str = ""
    verdicts: tuple[Verdict, ...] = ()

    def begins(self, text: str) -> bool:
        """Whether ``text`` starts with the settled text."""
        return text.startswith(self.text)


def settle(splitter: object, checked: GuardedAnswer, before: Settled | None) -> Settled:
    """The beginning of a checked answer that is settled now.

    Args:
        splitter: the guard's; without a method ``settled`` no further text is settled.
        checked: the answer so far.
        before: what was settled at the previous call.
    """
    text = checked.original
    known = before if before is not None and before.begins(text) else Settled()
    splits: Any = splitter
    if not hasattr(splits, "settled"):
        return known
    end = max(len(known.text), int(splits.settled(text, known=len(known.text))))
    first = len(known.text)
    new = [v for v in checked.verdicts if first < _end(v) <= end]
    return Settled(text[:end], (*known.verdicts, *new))


def with_settled(checked: GuardedAnswer, settled: Settled, policy: Policy) -> GuardedAnswer:
    """The answer with its settled verdicts restored and the policy applied."""
    if not settled.begins(checked.original):
        return checked
    rest = [v for v in checked.verdicts if _end(v) > len(settled.text)]
    verdicts = (*settled.verdicts, *rest)
    if verdicts == checked.verdicts:
        return checked
    grown = replace(checked, verdicts=verdicts, status=status_of(verdicts, checked.original))
    return replace(grown, text=applied(policy, grown))


def holdback(checked: GuardedAnswer, settled: Settled, policy: Policy) -> int:
    """How many characters at the end of the checked text may still change."""
    if policy.action not in ("annotate", "filter"):  # other actions depend on the whole answer
        return len(checked.text)
    sure = policy.so_far(settled.text, settled.verdicts).rstrip()
    return len(checked.text) - common_start(sure, checked.text)


def _end(verdict: Verdict) -> float:
    """End of its claim in the text; infinite if the claim was not located in the answer."""
    return verdict.claim.spans[-1][1] if verdict.claim.spans else math.inf
