"""Check a stream of JSON rows: one result per row, in order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from franq_guard.cli.console import fail
from franq_guard.records import GuardedAnswer, Passage, Trace
from franq_guard.report.counts import check_failed
from franq_guard.rows.lines import RowError
from franq_guard.rows.written import trace_to_dict

_BEGINNING = b'{"schema": "franq.'
"""How each row of a result begins."""


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


@dataclass(frozen=True, slots=True)
class Done:
    """A row that an earlier run wrote.

    Attributes:
        id: the row's id.
        original: the answer's text before the policy; None if the row could not be read.
        failed: whether the row counts as failed.
        digest: of the row, see :func:`digest_of`; None if it was not stored.
    """

    id: str | None
    original: str | None
    failed: bool
    digest: str | None = None


def digest_of(trace: Trace) -> str:
    """A digest of all that a row says, to tell whether a resumed run reads the same rows."""
    text = json.dumps(trace_to_dict(trace), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def check_rows(
    guard: ChecksMany, rows: Iterable[Trace | RowError], *, batch_size: int = 8
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


def done_in(out: Path) -> list[Done]:
    """The rows that an earlier run wrote; an unfinished last line is removed from the file.

    The program ends here, and the file stays as it is, if it was not written by ``franq check``.
    """
    text = out.read_bytes()
    end = text.rfind(b"\n") + 1
    try:
        done = [_done(json.loads(line)) for line in text[:end].splitlines() if line.strip()]
        if text[end:] and not done and not text[end:].startswith(_BEGINNING):
            raise ValueError("it has no row of ours, nor the beginning of one")
    except (ValueError, KeyError, TypeError):
        fail(f"{out} was not written by franq check --out: nothing to resume")
    if text[end:]:
        with out.open("r+b") as stream:
            stream.truncate(end)
    return done


def left(rows: Iterator[Trace | RowError], done: Sequence[Done]) -> Iterator[Trace | RowError]:
    """Skip the rows that are done; end the program if they do not match those in ``done``."""
    for number, before in enumerate(done, start=1):
        row = next(rows, None)
        answer = row.generation.text if isinstance(row, Trace) else None
        if row is None or (row.id, answer) != (before.id, before.original):
            fail(f"row {number} of --out is of another answer: nothing to resume")
        if isinstance(row, Trace) and before.digest not in (None, digest_of(row)):
            fail(
                f"row {number} of --out is of another question, other passages or claims: nothing "
                "to resume"
            )
    yield from rows


def _done(row: dict[str, Any]) -> Done:
    if row["schema"] == "franq.error/1":
        return Done(row.get("id"), None, True)
    if row["schema"] != "franq.answer/1":
        raise ValueError("it is another kind of row")
    claims = [v for v in row["verdicts"] if v["label"] != "not-a-claim"]
    failed = bool(claims) and all(_is_failure(v["label"], v["reason"]) for v in claims)
    return Done(row.get("id"), row["original"], failed, row.get("input"))


def _is_failure(label: str, reason: str | None) -> bool:
    return label == "unverified" and reason in ("error", "timeout")
