"""Writes the results of ``franq check``: as tables, as JSON Lines, as an HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from franq_guard.cli.answers import Shown
from franq_guard.cli.console import emit, json_line, say, tell
from franq_guard.cli.resuming import Done, Lines, renewed
from franq_guard.cli.rows import Checked
from franq_guard.rows.lines import RowError

if TYPE_CHECKING:
    from franq_guard.guard import Guard
    from franq_guard.report.answers_page import AnswersPage


@dataclass(frozen=True, slots=True)
class Wishes:
    """The output options that the user chose.

    Attributes:
        as_json: write JSON Lines to standard output.
        out: write JSON Lines to this file.
        html: write an HTML page to this file.
        with_passages: include question and passages in the JSON.
    """

    as_json: bool = False
    out: Path | None = None
    html: Path | None = None
    with_passages: bool = False

    @property
    def tables(self) -> bool:
        """Whether to print tables: the default if no other output is chosen."""
        return not (self.as_json or self.out or self.html)

    @property
    def on_output(self) -> bool:
        """Whether results go to standard output."""
        return self.tables or (self.as_json and self.out is None)


class Outlet(Protocol):
    """Receives results one after the other."""

    def take(self, result: Checked) -> None:
        """Write one result."""

    def end(self) -> None:
        """Finish after the last result."""


class Tables:
    """Prints tables on standard output, and at the end an explanation of their labels."""

    def __init__(self, guard: Guard) -> None:
        self._show = Shown(guard)

    def take(self, result: Checked) -> None:
        """Print the answer, or the error of the row."""
        if isinstance(result.outcome, RowError):
            tell(str(result.outcome))
        else:
            self._show(result.question, result.outcome, result.passages)

    def end(self) -> None:
        """Explain the labels that were printed."""
        self._show.legend()


class JsonLines:
    """Writes JSON Lines to a file or to standard output."""

    def __init__(self, stream: Lines | None, *, with_passages: bool) -> None:
        self._stream, self._with_passages = stream, with_passages

    def take(self, result: Checked) -> None:
        """Write one line and flush it, so that a run that is interrupted can be resumed."""
        outcome = result.outcome
        if isinstance(outcome, RowError):
            row = outcome.to_dict()
        else:
            row = outcome.to_dict(passages=self._with_passages)
        if self._stream is None:
            emit(row)
        else:
            row |= {"input": result.digest} if result.digest else {}  # for --resume
            self._stream.write(json_line(row))
            self._stream.flush()

    def end(self) -> None:
        """Do nothing: every line is written already."""


class Page:
    """Writes one HTML page with all answers."""

    def __init__(self, page: AnswersPage, file: Path) -> None:
        self._page, self._file = page, file

    def take(self, result: Checked) -> None:
        """Add the answer, or the error of the row, to the page."""
        if isinstance(result.outcome, RowError):
            self._page.add_error(str(result.outcome))
        else:
            self._page.add(result.outcome)

    def end(self) -> None:
        """Print the path of the page."""
        say(f"page: {self._file}")


def outlets(
    guard: Guard, file: Path, wishes: Wishes, stack: ExitStack, done: Sequence[Done]
) -> list[Outlet]:
    """The outlets for the user's output options.

    Args:
        guard: the guard that checks the answers.
        file: the file that is checked; its name is in the page's title.
        wishes: the output options.
        stack: closes the files that are opened here.
        done: the rows of the earlier run that goes on.
    """
    made: list[Outlet] = []
    if wishes.tables:
        made.append(Tables(guard))
    if wishes.out:
        new = wishes.out.open("w", encoding="utf-8") if not done else renewed(wishes.out, done)
        opened: Lines = stack.enter_context(new)
        made.append(JsonLines(opened, with_passages=wishes.with_passages))
    elif wishes.as_json:
        made.append(JsonLines(None, with_passages=wishes.with_passages))
    if wishes.html:
        from franq_guard.report.answers_page import AnswersPage

        title = f"Checked answers: {'standard input' if str(file) == '-' else file.name}"
        page = AnswersPage(wishes.html, title=title, policy=guard.policy)
        made.append(Page(stack.enter_context(page), wishes.html))
    return made
