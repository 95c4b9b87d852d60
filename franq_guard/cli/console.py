"""Input and output of the command line: rows and tables out, messages and progress aside."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
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

from franq_guard.report.terminal import shown

_TELL_EVERY = 30.0  # seconds between lines of progress where there is no terminal
_PIPE_CLOSED = 141  # 128 + SIGPIPE, what a shell reports of a program that wrote to a closed pipe


class _Console(Console):
    def on_broken_pipe(self) -> None:
        _closed_pipe()


output = _Console()
"""Standard output, for people."""
_aside = _Console(stderr=True)  # one console, so that messages go above a live progress line


class _Said(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(f"{record.levelname.lower()}: {record.getMessage()}")


def listen() -> None:
    """Show the warnings that the package logs as plain lines on standard error."""
    # The handler's own level counts too: some libraries set their loggers to DEBUG.
    logging.basicConfig(handlers=[_Said(logging.WARNING)], level=logging.WARNING)


def say(message: str) -> None:
    """One line on standard error, as it is: unwrapped, without markup or control characters."""
    _line(_aside, message)


def tell(message: str) -> None:
    """The same on standard output."""
    _line(output, message)


def fail(message: str) -> NoReturn:
    """Say what is wrong with the use of the command and end it with exit code 2."""
    say(f"error: {message}")
    raise typer.Exit(2)


@contextmanager
def needing(install: str, *, what: str = "this command") -> Iterator[None]:
    """Where a module is missing inside, :func:`fail` with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as missing:
        fail(f"{what} needs {missing.name}: {install}")


def emit(row: Mapping[str, Any]) -> None:
    """One line of JSON on standard output."""
    try:
        sys.stdout.write(json.dumps(row, allow_nan=False) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _closed_pipe()


@contextmanager
def lines_of(file: Path) -> Iterator[Iterator[str]]:
    """The lines of a UTF-8 file, with or without byte order mark; ``-`` is standard input."""
    if str(file) == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")
        yield iter(sys.stdin)
        return
    try:
        stream = file.open(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}")
    with stream:
        yield iter(stream)


@contextmanager
def counter(
    what: str, *, total: int | None = None, beside_output: bool = False
) -> Iterator[Callable[[int], None]]:
    """A live count on standard error, where that is a terminal; with a total a :func:`bar`.

    Args:
        what: is counted.
        total: where it is known.
        beside_output: results are printed meanwhile; on a terminal they are progress enough and a
            live line would run into them.
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
    """A bar with the time left on standard error: called with (done, to do).

    Where that is no terminal, a line every half minute. ``hidden``: neither is shown.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    started, told = time.monotonic(), time.monotonic()
    times = TimeElapsedColumn(), TimeRemainingColumn()
    with _live(*columns, *times, hidden=hidden) as progress:
        task = progress.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            nonlocal told
            progress.update(task, completed=done, total=total)
            now = time.monotonic()
            if progress.disable and not hidden and done and now - told > _TELL_EVERY:
                told = now
                left = (now - started) / done * (total - done)
                say(f"{what}: {done} of {total}, about {left / 60:.0f} min left")

        yield show


@contextmanager
def quiet(what: str) -> Iterator[Callable[[int, int], None]]:
    """In a :func:`bar`'s place where nothing is to be shown."""
    yield lambda done, total: None


@contextmanager
def working(what: str) -> Iterator[None]:
    """A live line on standard error, where that is a terminal, for something that takes a while."""
    with _live(SpinnerColumn(), TextColumn("{task.description}", markup=False)) as progress:
        progress.add_task(shown(" ".join(what.split())), total=None)
        yield


def drop_output() -> None:
    """Discard what standard output still holds: flushing it at exit would fail once more."""
    with suppress(OSError):  # standard output may be no real file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _live(*columns: ProgressColumn, hidden: bool = False) -> Progress:
    # rich would send standard output to the progress line's console: rows would leave their file.
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
