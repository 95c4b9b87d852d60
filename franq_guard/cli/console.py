"""Input and output of the command line.

Results go to standard output; messages and progress go to standard error.
"""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from franq_guard.basics.text import in_utf8
from franq_guard.report.text import shown

_TELL_EVERY = 30.0  # seconds between progress messages if standard error is not a terminal
_PIPE_CLOSED = 141  # 128 + SIGPIPE: the exit code shells report for a write to a closed pipe


class _Console(Console):
    def on_broken_pipe(self) -> None:
        _closed_pipe()


output = _Console()
"""Standard output, for output that people read."""
# One console for messages and progress: rich then prints messages above a live progress line.
_aside = _Console(stderr=True)


class _Closed(io.TextIOBase):
    """Stands in for a standard output that the shell has closed (``>&-``)."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed: nothing can be written to it")


def prepare() -> None:
    """Let standard output and standard error take any text, whatever the terminal or shell is."""
    if sys.stdout is None:
        os.open(os.devnull, os.O_WRONLY)  # takes its number, which the next file would get
        sys.stdout = _Closed()
    for stream in (sys.stdout, sys.stderr):
        # A terminal's or a pipe's encoding may lack a character: "?" is shown for it then.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


class _Said(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(f"{record.levelname.lower()}: {record.getMessage()}")


def listen() -> None:
    """Show the warnings that the package logs as plain lines on standard error."""
    # The handler's own level counts too: some libraries set their loggers to DEBUG.
    logging.basicConfig(handlers=[_Said(logging.WARNING)], level=logging.WARNING)


def say(message: str) -> None:
    """Print one line on standard error: not wrapped, no markup, control characters removed."""
    _line(_aside, message)


def tell(message: str) -> None:
    """Like :func:`say`, on standard output."""
    _line(output, message)


def reason(error: OSError) -> str:
    """What the operating system says, and of which file, without its number."""
    said = error.strerror or str(error)
    return said if error.filename is None else f"{error.filename}: {said}"


def message_of(error: Exception) -> str:
    """What an error says to a user: of the operating system's, what and of which file."""
    return reason(error) if isinstance(error, OSError) else str(error)


def fail(message: str) -> NoReturn:
    """Print an error about how the command was used and exit with code 2."""
    say(f"error: {message}")
    raise typer.Exit(2)


@contextmanager
def needing(install: str, *, what: str = "this command") -> Iterator[None]:
    """If the block raises ``ModuleNotFoundError``, :func:`fail` with the install command."""
    try:
        yield
    except ModuleNotFoundError as missing:
        fail(f"{what} needs {missing.name}: {install}")


def json_line(row: Mapping[str, Any]) -> str:
    """One line of JSON, with its end, in ASCII."""
    return json.dumps(in_utf8(row), allow_nan=False) + "\n"


def emit(row: Mapping[str, Any]) -> None:
    """Print one line of JSON on standard output."""
    try:
        sys.stdout.write(json_line(row))
        sys.stdout.flush()
    except BrokenPipeError:
        _closed_pipe()


@contextmanager
def counter(
    what: str, *, total: int | None = None, beside_output: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show a live count on standard error if it is a terminal, or a :func:`bar` given a total.

    Args:
        what: what is counted.
        total: the final count, if known.
        beside_output: results are printed to standard output meanwhile. If that is a terminal, no
            count is shown: the results show the progress, and a live line would mix with them.
    """
    hidden = beside_output and sys.stdout.isatty()
    if total is not None:
        with bar(what, hidden=hidden) as show:
            show(0, total)
            yield _adding_up(show, total)
        return
    columns = (SpinnerColumn(), TextColumn("{task.completed} {task.description}"))
    with _live(*columns, TimeElapsedColumn(), hidden=hidden) as progress:
        task = progress.add_task(what, total=None)
        yield lambda n: progress.advance(task, n)


def _adding_up(show: Callable[[int, int], None], total: int) -> Callable[[int], None]:
    done = 0

    def advance(n: int) -> None:
        nonlocal done
        done += n
        show(done, total)

    return advance


@contextmanager
def bar(what: str, *, hidden: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar with the remaining time on standard error.

    If standard error is not a terminal, a line of text is printed every half minute instead.

    Args:
        what: what is counted.
        hidden: show nothing.

    Yields:
        A function to call with (number done, total number).
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    started, message_of = time.monotonic(), time.monotonic()
    times = TimeElapsedColumn(), TimeRemainingColumn()
    with _live(*columns, *times, hidden=hidden) as progress:
        task = progress.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            nonlocal message_of
            progress.update(task, completed=done, total=total)
            now = time.monotonic()
            if progress.disable and not hidden and done and now - message_of > _TELL_EVERY:
                message_of = now
                left = (now - started) / done * (total - done)
                say(f"{what}: {done} of {total}, about {left / 60:.0f} min left")

        yield show


@contextmanager
def quiet(what: str) -> Iterator[Callable[[int, int], None]]:
    """Stands in for :func:`bar` and shows nothing."""
    yield lambda done, total: None


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner on standard error, if it is a terminal, while the block runs."""
    with _live(SpinnerColumn(), TextColumn("{task.description}", markup=False)) as progress:
        progress.add_task(shown(" ".join(what.split())), total=None)
        yield


def drop_output() -> None:
    """Discard buffered standard output: flushing it when Python exits would fail again."""
    with suppress(OSError):  # standard output may have been replaced by an object without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _live(*columns: ProgressColumn, hidden: bool = False) -> Progress:
    # By default rich redirects standard output to the progress console (standard error here), so
    # rows would not reach a file or pipe.
    return Progress(
        *columns,
        console=_aside,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        disable=hidden or not _aside.is_terminal,
    )


def _line(console: Console, message: str) -> None:
    console.print(shown(message), soft_wrap=True, markup=False, emoji=False, highlight=False)


def _closed_pipe() -> NoReturn:
    drop_output()
    raise SystemExit(_PIPE_CLOSED)
