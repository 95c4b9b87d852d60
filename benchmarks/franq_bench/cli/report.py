"""``franq bench report`` and ``merge``: make tables from score matrices, without a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franq_guard.cli.console import fail, say, tell, working

if TYPE_CHECKING:
    from franq_guard.report.tables import Table

_PRINTED = ("summary", "significance", "one-change", "own-signals")
"""The tables of the report that are printed, too, with that of all methods behind the first."""


def report(
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="What `franq bench` wrote.")],
    text: Annotated[
        bool, typer.Option("--text/--no-text", help="Questions and answers in OUT's own page.")
    ] = True,
    html: Annotated[
        Path | None,
        typer.Option(help="The HTML page; outside OUT it never contains text of the data."),
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Default: REPORT.md in OUT.")] = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Refit FRANQ and XGBoost; rewrites the results in OUT.")
    ] = False,
    resamples: Annotated[int, typer.Option(min=2, help="Bootstrap resamples.")] = 1000,
) -> None:
    """Tables and page of a benchmark again, the figures of all methods from its scores.jsonl.

    Ablations and further tables are those that the run stored, unless --fit makes them again.
    Printed are the summary, all methods, FRANQ against the best other method, what decides, and
    learned FRANQ with signals of its own.
    """
    from franq_bench.cli.common import show_table
    from franq_bench.fits.refit import refitted
    from franq_bench.tables.report import load, named, sections, write_report
    from franq_bench.tables.results import Results
    from franq_bench.tables.scores import Scores
    from franq_bench.tables.summary import methods_table
    from franq_guard.report.tables import Table

    try:
        if fit:
            with working("fitting"):
                results, scores = refitted(Results.read(folder), Scores.read(folder))
                results.write(folder)
                scores.write(folder)
        with working("rendering"):
            loaded = load(folder, resamples=resamples)
            made = list(sections(*loaded, resamples=resamples))
            files = write_report(
                folder,
                html=html,
                markdown_file=markdown,
                with_text=text,
                resamples=resamples,
                loaded=loaded,
                made=made,
            )
    except (OSError, ValueError) as error:
        fail(str(error))
    blocks = [block for section in made for block in section.blocks if isinstance(block, Table)]
    found = {table.name: table for table in blocks}
    [methods] = named(loaded[0], methods_table(loaded[0]))
    summary, *others = [found[name] for name in _PRINTED if name in found]
    for table in (summary, methods, *others):
        tell(table.title)
        show_table(_flat(table))
    for file in files:
        say(f"wrote {file}")


def _flat(table: Table) -> Table:
    """The table with its headings as rows, which a terminal's table shows."""
    from franq_guard.report.tables import is_heading

    empty = ("",) * (len(table.columns) - 1)
    rows = tuple((*row, *empty) if is_heading(row) else row for row in table.rows)
    return replace(table, rows=rows, errors=())


def merge(
    folders: Annotated[list[Path], typer.Argument(metavar="OUT...", help="What was written.")],
    out: Annotated[Path, typer.Option(help="Folder for results, scores and the report.")],
    resamples: Annotated[int, typer.Option(min=2, help="Bootstrap resamples.")] = 1000,
) -> None:
    """Merge `franq bench short` runs of different data sets: means, ablations, report."""
    from franq_bench.fits.merge import merged
    from franq_bench.tables.report import write_report
    from franq_bench.tables.results import Results
    from franq_bench.tables.scores import Scores

    try:
        with working("fitting"):
            results, scores = merged([(Results.read(f), Scores.read(f)) for f in folders])
            results.write(out)
            scores.write(out)
            files = write_report(out, resamples=resamples)
    except (OSError, ValueError) as error:
        fail(str(error))
    for file in files:
        say(f"wrote {file}")
