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
from franq_guard.serve.checker import apply_policy


@dataclass(frozen=True, slots=True)
class Settled:
    """The beginning of an answer that more text cannot change, and its verdicts."""

    text: str = ""
    verdicts: tuple[Verdict, ...] = ()

    def begins(self, text: str) -> bool:
        """Whether ``text`` starts with the settled text."""
        return text.startswith(self.text)


def settle(splitter: object, checked: GuardedAnswer, previous: Settled | None) -> Settled:
    """The beginning of a checked answer that is settled now.

    Args:
        splitter: the guard's; without a method ``settled`` no further text is settled.
        checked: the answer so far.
        previous: what was settled at the previous call.
    """
    text = checked.original
    known = previous if previous is not None and previous.begins(text) else Settled()
    settling: Any = splitter
    if not hasattr(settling, "settled"):
        return known
    start = len(known.text)
    end = max(start, int(settling.settled(text, known=start)))
    new = [v for v in checked.verdicts if start < _end(v) <= end]
    return Settled(text[:end], (*known.verdicts, *new))


def with_settled(checked: GuardedAnswer, settled: Settled, policy: Policy) -> GuardedAnswer:
    """The answer with its settled verdicts restored and the policy applied."""
    if not settled.begins(checked.original):
        return checked
    rest = [v for v in checked.verdicts if _end(v) > len(settled.text)]
    verdicts = (*settled.verdicts, *rest)
    if verdicts == checked.verdicts:
        return checked
    restored = replace(checked, verdicts=verdicts, status=status_of(verdicts, checked.original))
    return replace(restored, text=apply_policy(policy, restored))


def holdback(checked: GuardedAnswer, settled: Settled, policy: Policy) -> int:
    """How many characters at the end of the checked text may still change."""
    if policy.action not in ("annotate", "filter"):  # other actions depend on the whole answer
        return len(checked.text)
    final_text = policy.so_far(settled.text, settled.verdicts).rstrip()
    return len(checked.text) - common_start(final_text, checked.text)


def _end(verdict: Verdict) -> float:
    """End of its claim in the text; infinite if the claim was not located in the answer."""
    return verdict.claim.spans[-1][1] if verdict.claim.spans else math.inf
