"""Goes on with a file of results: which rows are done, and where new results are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shutil import copymode
from typing import IO, Any, Protocol

from franq_guard.basics.text import in_utf8
from franq_guard.cli.console import fail
from franq_guard.cli.rows import digest_of
from franq_guard.records import Trace
from franq_guard.rows.lines import RowError

__all__ = ["Done", "Lines", "done_in", "left", "renewed"]

_BEGINNING = b'{"schema": "franq.'
"""How each row of a result begins."""


class Lines(Protocol):
    """Where lines of results are written."""

    def write(self, line: str, /) -> object:
        """Write one line, with its end."""

    def flush(self) -> None:
        """Hand it to the operating system."""


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

    @property
    def readable(self) -> bool:
        """Whether the row could be read."""
        return self.original is not None


def done_in(out: Path) -> list[Done]:
    """The rows that earlier runs wrote; an unfinished last line is removed from the file.

    The program ends here, and the file stays as it is, if it was not written by ``franq check``.
    """
    if (part := _part(out)).exists():
        if not _is_ours(part):
            fail(f"{part} is in the way: it was not written by franq check; give it another name")
        _complete(out)
    done: list[Done] = []
    end = 0
    try:
        with out.open("rb") as lines:  # one by one: there may be gigabytes of them
            for line in lines:
                if line.endswith(b"\n"):
                    end += len(line)
                    done += [_done(json.loads(line))] if line.strip() else []
        if not (done or _is_ours(out, end)):
            raise ValueError("it has no row of ours, nor the beginning of one")
    except (ValueError, KeyError, TypeError):
        fail(f"{out} was not written by franq check --out: nothing to resume")
    if end < out.stat().st_size:
        with out.open("r+b") as stream:
            stream.truncate(end)
    return done


def left(rows: Iterator[Trace | RowError], done: Sequence[Done]) -> Iterator[Trace | RowError]:
    """The rows that failed or are not done; the program ends if those done are not the same rows.

    A row that could not be read may be another one now.
    """
    for number, before in enumerate(done, start=1):
        row = next(rows, None)
        answer = row.generation.text if isinstance(row, Trace) else None
        same = in_utf8((row and row.id, answer)) == in_utf8((before.id, before.original))
        if row is None or (before.readable and not same):
            fail(f"row {number} of --out is of another answer: nothing to resume")
        if isinstance(row, Trace) and before.digest not in (None, digest_of(row)):
            fail(
                f"row {number} of --out is of another question, other passages or claims: nothing "
                "to resume"
            )
        if before.failed:
            yield row
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


def _is_ours(file: Path, at: int = 0) -> bool:
    """Whether a row of ours begins at this byte, or the file ends there."""
    with file.open("rb") as stream:
        stream.seek(at)
        return stream.read(len(_BEGINNING)) in (b"", _BEGINNING)


@contextmanager
def renewed(out: Path, done: Sequence[Done]) -> Iterator[Lines]:
    """Write new results into the file of an earlier run: those of failed rows in their places.

    They go to a file beside it (its name ends with ``.part``), which takes its place when the block
    ends. If the program is killed, :func:`done_in` does that.
    """
    if not any(row.failed for row in done):
        with out.open("a", encoding="utf-8") as stream:
            yield stream
        return
    try:
        with out.open(encoding="utf-8") as old, _part(out).open("w", encoding="utf-8") as part:
            copymode(out, part.name)  # it holds users' text, too, and may be for few to read
            yield _Renewed(old, part, done)
    finally:
        _complete(out)


class _Renewed:
    """Copies the lines of an earlier run up to the next failed one, which a new line replaces."""

    def __init__(self, old: IO[str], new: IO[str], done: Sequence[Done]) -> None:
        before = (line for line in old if line.strip())
        self._pairs, self._new = zip(before, done, strict=True), new

    def write(self, line: str, /) -> None:
        """Write a line behind those that stay before it."""
        for before, row in self._pairs:
            if row.failed:
                break
            self._new.write(before)
        self._new.write(line)

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._new.flush()


def _part(out: Path) -> Path:
    real = out.resolve()  # a link stays one
    return real.with_name(f"{real.name}.part")


def _complete(out: Path) -> None:
    """Give the new file the old lines that it has none for yet, and put it in the old one's place.

    An unfinished last line of it is dropped.
    """
    part = _part(out)
    with out.open("rb") as old, part.open("r+b") as new:
        lines = end = 0
        for line in new:
            if line.endswith(b"\n"):
                lines, end = lines + 1, end + len(line)
        new.seek(end)
        new.truncate()
        new.writelines(islice((line for line in old if line.strip()), lines, None))
    part.replace(out.resolve())
