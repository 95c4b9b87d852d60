"""Where ``franq check`` puts its results: tables, JSON Lines, a page."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from franq_guard.cli.answers import Shown, promise_of
from franq_guard.cli.console import emit, say, tell
from franq_guard.cli.rows import Checked
from franq_guard.rows.lines import RowError

if TYPE_CHECKING:
    from franq_guard.guard import Guard
    from franq_guard.report.answers_page import AnswersPage


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants to have.

    Attributes:
        as_json: JSON Lines on standard output.
        out: a file for the JSON Lines.
        html: a file for a page.
        with_passages: question and passages in the JSON, too.
    """

    as_json: bool = False
    out: Path | None = None
    html: Path | None = None
    with_passages: bool = False

    @property
    def tables(self) -> bool:
        """Whether tables are shown: where nothing else is wanted."""
        return not (self.as_json or self.out or self.html)

    @property
    def on_output(self) -> bool:
        """Whether results go to standard output."""
        return self.tables or (self.as_json and self.out is None)


class Outlet(Protocol):
    """Takes results one after the other."""

    def take(self, result: Checked) -> None:
        """One more result."""

    def end(self) -> None:
        """That was the last one."""


class Tables:
    """Tables on standard output, and what their labels mean."""

    def __init__(self, guard: Guard) -> None:
        self._guard, self._show = guard, Shown(guard.policy)

    def take(self, result: Checked) -> None:
        """Show the answer, or why there is none."""
        if isinstance(result.outcome, RowError):
            tell(f"line {result.outcome.line}: {result.outcome.error}")
        else:
            self._show(result.question, result.outcome, result.passages)

    def end(self) -> None:
        """Say what was shown means."""
        self._show.legend(promise_of(self._guard))


class JsonLines:
    """JSON Lines, in a file or on standard output."""

    def __init__(self, stream: IO[str] | None, *, with_passages: bool) -> None:
        self._stream, self._with_passages = stream, with_passages

    def take(self, result: Checked) -> None:
        """Write one line and have it on the disk: a run that ends early can be resumed."""
        outcome = result.outcome
        if isinstance(outcome, RowError):
            row = outcome.to_dict()
        else:
            row = outcome.to_dict(passages=self._with_passages)
        if self._stream is None:
            emit(row)
        else:
            self._stream.write(json.dumps(row, allow_nan=False) + "\n")
            self._stream.flush()

    def end(self) -> None:
        """Nothing is left to do."""


class Page:
    """One page of all answers."""

    def __init__(self, page: AnswersPage, file: Path) -> None:
        self._page, self._file = page, file

    def take(self, result: Checked) -> None:
        """Put the answer on the page."""
        if isinstance(result.outcome, RowError):
            self._page.add_error(result.outcome.line, result.outcome.error)
        else:
            self._page.add(result.outcome)

    def end(self) -> None:
        """Say where the page is."""
        say(f"page: {self._file}")


def outlets(
    guard: Guard, file: Path, wishes: Wishes, stack: ExitStack, *, resumed: bool
) -> list[Outlet]:
    """All that the user wants to have; files are closed by ``stack``.

    Args:
        guard: that checks.
        file: that is checked; names the page.
        wishes: what is wanted.
        stack: closes files.
        resumed: whether ``out`` is added to.
    """
    made: list[Outlet] = []
    if wishes.tables:
        made.append(Tables(guard))
    if wishes.out:
        opened = stack.enter_context(wishes.out.open("a" if resumed else "w", encoding="utf-8"))
        made.append(JsonLines(opened, with_passages=wishes.with_passages))
    elif wishes.as_json:
        made.append(JsonLines(None, with_passages=wishes.with_passages))
    if wishes.html:
        from franq_guard.report.answers_page import AnswersPage

        title = f"Checked answers: {'standard input' if str(file) == '-' else file.name}"
        page = AnswersPage(wishes.html, title=title, policy=guard.policy)
        made.append(Page(stack.enter_context(page), wishes.html))
    return made
