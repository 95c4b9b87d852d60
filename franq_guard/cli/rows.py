"""Rows of JSON in, one outcome a row out, as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from franq_guard.records import GuardedAnswer, Passage, Trace
from franq_guard.rows.lines import RowError, read_traces


class ChecksMany(Protocol):
    """What is asked of a :class:`~franq_guard.Guard`."""

    def check_many(self, traces: Iterable[Trace], *, batch_size: int) -> Iterator[GuardedAnswer]:
        """The checked answer of each trace, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one row."""

    outcome: GuardedAnswer | RowError
    question: str = ""
    passages: tuple[Passage, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether nothing was found out: the row was unreadable, or no claim could be checked."""
        if isinstance(self.outcome, RowError):
            return True
        claims = [v for v in self.outcome.verdicts if v.label != "not-a-claim"]
        return bool(claims) and all(
            v.label == "unverified" and v.reason in ("error", "timeout") for v in claims
        )


def check_rows(
    guard: ChecksMany, lines: Iterable[str], *, batch_size: int = 8
) -> Iterator[Checked]:
    """Each ``franq.trace/1`` line checked, in order; a bad one becomes a :class:`RowError`."""
    rows = read_traces(lines)
    while batch := list(islice(rows, batch_size)):
        answers = guard.check_many(
            [row for row in batch if isinstance(row, Trace)], batch_size=batch_size
        )
        for row in batch:
            if isinstance(row, RowError):
                yield Checked(row)
            else:
                yield Checked(next(answers), row.question, row.passages)
