"""The summary at the end of a run of ``franq check``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from franq_guard.cli.resuming import Done
from franq_guard.cli.rows import Checked
from franq_guard.policy import Policy
from franq_guard.report.counts import Counts
from franq_guard.rows.lines import RowError


class Tally:
    """Counts results.

    Args:
        policy: decides which claims count as flagged.
        done: rows of the earlier run that is resumed; those that failed are checked again.

    Attributes:
        failed: rows without a result.
        before: rows that the earlier run has results of.
    """

    def __init__(self, policy: Policy, done: Sequence[Done] = ()) -> None:
        self.failed, self.before = 0, sum(not row.failed for row in done)
        self._counts, self._started = Counts(policy), time.monotonic()
        self._weak = set(policy.weak)  # what could not be checked is counted apart
        self._answers = self._flagged = self._empty = 0
        self._unread: RowError | None = None

    def add(self, result: Checked) -> None:
        """Count one result."""
        self.failed += result.failed
        if isinstance(result.outcome, RowError):
            self._unread = self._unread or result.outcome
        else:
            self._answers += 1
            self._flagged += any(v.label in self._weak for v in result.outcome.claims)
            self._empty += not result.outcome.original.strip()
            self._counts.add(result.outcome)

    def lines(self) -> Iterator[str]:
        """The number of answers and the time they took, then the number of claims by label.

        Where no row could be read, why the first one could not: the others mostly fail alike.
        """
        if self._unread is not None and not self._answers:
            yield f"no {'other ' if self.before else ''}row could be read: {self._unread}"
        if self.before:
            yield f"{self.before} row(s) were done before; the counts are of the others"
        seconds = time.monotonic() - self._started
        each = f", {seconds / self._answers:.2f} s each" if self._answers > 1 else ""
        said = [f"{_count(self._answers, 'answer')} in {seconds:.1f} s{each}"]
        said += [f"{self._flagged} with a flagged claim"] if self._flagged else []
        said += [f"{self._empty} empty"] if self._empty else []
        yield "; ".join(said)
        yield str(self._counts)


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
