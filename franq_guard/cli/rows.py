"""Check a stream of JSON rows: one result per row, in order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Protocol

from franq_guard.records import GuardedAnswer, Passage, Trace
from franq_guard.report.counts import check_failed
from franq_guard.rows.lines import RowError
from franq_guard.rows.written import trace_to_dict


class ChecksMany(Protocol):
    """The part of :class:`~franq_guard.Guard` that is used here."""

    def check_many(self, traces: Iterable[Trace], *, batch_size: int) -> Iterator[GuardedAnswer]:
        """The checked answer of each trace, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of one row: the checked answer, or why the row could not be read.

    ``digest``: of the row, see :func:`digest_of`.
    """

    outcome: GuardedAnswer | RowError
    question: str = ""
    passages: tuple[Passage, ...] = ()
    digest: str | None = None

    @property
    def failed(self) -> bool:
        """Whether there is no result: the row was unreadable, or no claim could be checked."""
        return isinstance(self.outcome, RowError) or check_failed(self.outcome)


def digest_of(trace: Trace) -> str:
    """A digest of all that a row says, to tell whether a resumed run reads the same rows."""
    text = json.dumps(trace_to_dict(trace), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def check_rows(
    guard: ChecksMany, rows: Iterable[Trace | RowError], *, batch_size: int
) -> Iterator[Checked]:
    """Check the rows in batches and yield the results in order; read errors are passed through."""
    rows = iter(rows)
    while batch := list(islice(rows, batch_size)):
        answers = guard.check_many(
            [row for row in batch if isinstance(row, Trace)], batch_size=batch_size
        )
        for row in batch:
            if isinstance(row, RowError):
                yield Checked(row)
            else:
                yield Checked(next(answers), row.question, row.passages, digest_of(row))
