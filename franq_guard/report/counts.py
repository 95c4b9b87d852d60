"""How many claims have which label."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Label

__all__ = ["Counts", "check_failed", "summary"]


class Counts:
    """Counts the claims of answers by label; text that is not a claim is not counted.

    Args:
        policy: says which labels are flagged.
    """

    def __init__(self, policy: Policy) -> None:
        self.labels: Counter[Label] = Counter()
        self._policy = policy

    def add(self, answer: GuardedAnswer) -> Counts:
        """Count the claims of another answer and return this object."""
        self.labels.update(v.label for v in answer.verdicts if v.label != "not-a-claim")
        return self

    @property
    def flagged(self) -> int:
        """Number of claims that the policy flags, without those that could not be checked."""
        return sum(self.labels[label] for label in self._policy.weak)

    def __str__(self) -> str:
        """Such as "4 claims: 2 supported, 1 false, 1 unverified; 1 flagged"."""
        total = self.labels.total()
        claims = f"{total} claim{'' if total == 1 else 's'}"
        return f"{claims}: {self.by_label}; {self.flagged} flagged" if total else claims

    @property
    def by_label(self) -> str:
        """Such as "2 supported, 1 false, 1 unverified"."""
        counted = ((label, self.labels[label]) for label in get_args(Label))
        return ", ".join(f"{n} {label}" for label, n in counted if n)


def summary(answer: GuardedAnswer, policy: Policy | None = None) -> str:
    """The result of the check in one line, such as "all 3 claims checked, 2 flagged".

    Args:
        answer: as it was checked.
        policy: decides which labels are flagged; None: the policy used for the check.
    """
    total, weak = len(answer.claims), set(answer.weak if policy is None else policy.weak)
    checked = sum(verdict.p_true is not None for verdict in answer.claims)
    weak.discard("unverified")  # counted apart, even where the policy acts against such claims
    flagged = sum(verdict.label in weak for verdict in answer.claims) or "none"
    claims = f"{total} claim{'' if total == 1 else 's'}"
    if answer.reason == "no_answer":
        said = "the answer is empty: there is nothing to check"
    elif answer.reason == "no_claims" and any(v.reason == "yes or no" for v in answer.verdicts):
        said = "nothing was checked: what the bare yes or no states is not certain"
    elif answer.reason == "no_claims":
        said = "nothing was checked: the answer is only code, JSON, reasoning or headings"
    elif not total:
        said = "nothing to check: the answer states nothing that can be true or false"
    elif checked < total:
        said = f"{checked or 'none'} of {claims} checked, {flagged} flagged"
    else:
        said = f"{'all ' if total > 1 else ''}{claims} checked, {flagged} flagged"
    failed = "; the policy's action failed" if answer.status == "policy_error" else ""
    return said + failed


def check_failed(answer: GuardedAnswer) -> bool:
    """Whether it has claims and none could be checked, because of an error or a timeout."""
    claims = answer.claims
    return bool(claims) and all(
        v.label == "unverified" and v.reason in ("error", "timeout") for v in claims
    )
