"""Checked answers on standard output, and after them what their labels mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from franq_guard.cli.console import output
from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Label, Passage, Verdict

if TYPE_CHECKING:
    from franq_guard.guard import Guard


class Shown:
    """Shows answers one after the other.

    Args:
        policy: says which claims count as flagged.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._seen: dict[tuple[Label, str | None], Verdict] = {}

    def __call__(self, question: str, answer: GuardedAnswer, passages: Sequence[Passage]) -> None:
        """Show an answer, its claims and what the passages say of them."""
        from franq_guard.report.terminal import print_answer

        print_answer(output, question, answer, passages, policy=self._policy)
        for verdict in answer.verdicts:
            # Why something is no claim is the splitter's word or the user's, and not explained.
            reason = None if verdict.label == "not-a-claim" else verdict.reason
            self._seen[verdict.label, reason] = verdict

    def legend(self, promise: Mapping[str, Any] | None = None) -> None:
        """Say what the labels and reasons mean that were shown, and what the calibrator promises.

        Args:
            promise: of the calibrator, where the labels rest on it; see :func:`promise_of`.
        """
        from franq_guard.report.terminal import print_legend

        print_legend(output, self._seen.values(), promise)


def promise_of(guard: Guard) -> Mapping[str, Any] | None:
    """What the guard's calibrator promises; None where the policy has numbers of its own."""
    policy = guard.policy
    own = policy.threshold is not None or policy.false_below is not None
    calibrator = None if own else getattr(guard, "calibrator", None)
    return None if calibrator is None else calibrator.promise
