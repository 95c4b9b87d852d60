"""The command ``franq``: ask, calibrate, check, check-dataset, config and others.

Each command has a file of its own with the same name; ``demo``, ``bench`` and ``compare`` come from
other distributions (see :mod:`franq_guard.cli.plugins`).

Results go to standard output, progress and errors to standard error. Exit codes: 0 success; 1 a row
could not be read, checked or written, no calibrator could be fitted, or the service cannot listen;
2 wrong usage, or a command that is not installed; 130 Ctrl-C; 141 the program reading
our output closed the pipe.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated

import typer

from franq_guard.basics.threads import set_up_torch
from franq_guard.cli.ask import ask
from franq_guard.cli.calibrate import calibrate
from franq_guard.cli.check import check
from franq_guard.cli.check_dataset import check_dataset
from franq_guard.cli.config import config
from franq_guard.cli.console import drop_output, listen, prepare, reason, say, tell
from franq_guard.cli.convert import convert_alignscore
from franq_guard.cli.dataset import app as dataset
from franq_guard.cli.methods import methods
from franq_guard.cli.plugins import GROUP, commands_with
from franq_guard.cli.serve import serve


def _version(wanted: bool) -> None:
    if wanted:
        from franq_guard import __version__

        tell(f"franq {__version__}")
        raise typer.Exit


def make_app(found: Iterable[EntryPoint]) -> typer.Typer:
    """Build the command line from this package's commands and those of other distributions.

    Args:
        found: entry points of the commands of other distributions.
    """
    made = typer.Typer(
        cls=commands_with(found),
        help="Tell true from false in RAG answers: is a claim in the passages, and is it true?",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        # Plain help: in rich's, what an option does has 20 columns of a terminal of 80.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_program)
    for command in (
        ask,
        check,
        check_dataset,
        calibrate,
        config,
        convert_alignscore,
        methods,
        serve,
    ):
        made.command()(command)
    made.add_typer(dataset, name="dataset")
    return made


def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


app = make_app(entry_points(group=GROUP))


def main() -> None:
    """Run the command named on the command line."""
    prepare()
    listen()
    set_up_torch()
    try:
        app()
    except OSError as error:  # e.g. a full disk: a traceback would not help the user
        say(f"error: {reason(error)}")
        drop_output()
        raise SystemExit(1) from None
