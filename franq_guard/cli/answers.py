"""Print checked answers on standard output, followed by an explanation of their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from franq_guard.cli.console import output
from franq_guard.records import GuardedAnswer, Label, Passage, Verdict

if TYPE_CHECKING:
    from franq_guard.guard import Guard


class Shown:
    """Prints answers one after the other and remembers what has to be explained at the end.

    Args:
        guard: checked the answers; its policy decides which claims count as flagged.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._seen: dict[tuple[Label, str | None], Verdict] = {}
        self._calibrators: dict[str, None] = {}

    def __call__(self, question: str, answer: GuardedAnswer, passages: Sequence[Passage]) -> None:
        """Print an answer, its claims, and what the passages say about each claim."""
        from franq_guard.report.terminal import print_answer

        print_answer(output, question, answer, passages, policy=self._guard.policy)
        if answer.calibrator is not None:
            self._calibrators[answer.calibrator] = None
        for verdict in answer.verdicts:
            # "not-a-claim" has free-text reasons (from the splitter or the user); the legend has
            # no explanation for them.
            reason = None if verdict.label == "not-a-claim" else verdict.reason
            self._seen[verdict.label, reason] = verdict

    def legend(self) -> None:
        """Explain the labels and reasons that were printed, and what their calibrators promise."""
        from franq_guard.report.terminal import print_legend

        print_legend(output, self._seen.values(), promises_of(self._guard, self._calibrators))


def promises_of(guard: Guard, names: Iterable[str] = ()) -> list[Mapping[str, Any]]:
    """What the user's calibrator promises, or the known ones of these names.

    Nothing if the policy has thresholds of its own.
    """
    choice = getattr(guard, "choice", None)
    if choice is None or (guard.policy.threshold, guard.policy.false_below) != (None, None):
        return []
    used = set(names)  # none: no answer was checked, and no model is loaded to look
    known = choice.known if used else ()
    made = [choice.franq] if choice.franq else [c for c in known if c.name in used]
    return [calibrator.promise for calibrator in made if calibrator.promise is not None]
