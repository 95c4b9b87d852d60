"""Print checked answers on standard output, followed by an explanation of their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from franq_guard.cli.console import output
from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Label, Passage, Verdict

if TYPE_CHECKING:
    from franq_guard.guard import Guard


class Shown:
    """Prints answers one after the other and remembers which labels appeared.

    Args:
        policy: decides which claims count as flagged.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._seen: dict[tuple[Label, str | None], Verdict] = {}

    def __call__(self, question: str, answer: GuardedAnswer, passages: Sequence[Passage]) -> None:
        """Print an answer, its claims, and what the passages say about each claim."""
        from franq_guard.report.terminal import print_answer

        print_answer(output, question, answer, passages, policy=self._policy)
        for verdict in answer.verdicts:
            # "not-a-claim" has free-text reasons (from the splitter or the user); the legend has
            # no explanation for them.
            reason = None if verdict.label == "not-a-claim" else verdict.reason
            self._seen[verdict.label, reason] = verdict

    def legend(self, promise: Mapping[str, Any] | None = None) -> None:
        """Explain the labels and reasons that were printed, and the calibrator's guarantee.

        Args:
            promise: the calibrator's guarantee if the labels depend on it; see :func:`promise_of`.
        """
        from franq_guard.report.terminal import print_legend

        print_legend(output, self._seen.values(), promise)


def promise_of(guard: Guard) -> Mapping[str, Any] | None:
    """The guarantee of the guard's calibrator; None if the policy sets its own thresholds."""
    policy = guard.policy
    own = policy.threshold is not None or policy.false_below is not None
    calibrator = None if own else getattr(guard, "calibrator", None)
    return None if calibrator is None else calibrator.promise
