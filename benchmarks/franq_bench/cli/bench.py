"""``franq bench``: the commands in the order of their help."""

from __future__ import annotations

import typer

from franq_bench.cli.long import claims_factuality, long_form
from franq_bench.cli.quality import claims, faithfulness
from franq_bench.cli.report import merge, report
from franq_bench.cli.robustness import robustness
from franq_bench.cli.short import short
from franq_bench.cli.verdicts import verdicts
from franq_guard.cli.plugins import Commands

__all__ = ["bench"]

bench = typer.Typer(
    cls=Commands,
    help="Run the paper's comparison and other benchmarks on your data.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for command in (
    report,
    merge,
    short,
    robustness,
    claims_factuality,
    long_form,
    claims,
    faithfulness,
    verdicts,
):
    bench.command()(command)
