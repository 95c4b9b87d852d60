"""``franq dataset ...``: from documents to labelled answers; a file for each command."""

from __future__ import annotations

import typer

from franq_guard.cli.dataset.agree import agree
from franq_guard.cli.dataset.annotate import annotate
from franq_guard.cli.dataset.build import build
from franq_guard.cli.dataset.review import review
from franq_guard.cli.plugins import Commands

app = typer.Typer(
    cls=Commands,
    help="Make a labelled set to calibrate with: answers of your model, a judge, people.",
    no_args_is_help=True,
)
for command in (build, annotate, review, agree):
    app.command()(command)
