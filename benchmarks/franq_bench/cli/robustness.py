"""``franq bench robustness``: compare the same questions with good and with spoiled passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from franq_bench.cli.common import explained, show_table
from franq_guard.cli.console import fail, say, tell, working


def robustness(
    folders: Annotated[
        list[Path], typer.Argument(metavar="OUT...", help="What `franq bench short` wrote.")
    ],
    markdown: Annotated[Path | None, typer.Option(help="The tables as a Markdown file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines, a table each.")] = False,
) -> None:
    """Runs with different --retrieval side by side, each refitted with its own signals."""
    from franq_bench.fits.robustness import Setting
    from franq_bench.fits.robustness import robustness as side_by_side
    from franq_bench.tables.findings import titles_shown
    from franq_bench.tables.results import Results
    from franq_bench.tables.scores import Scores

    with explained(), working("fitting"):
        runs = [(folder, Results.read(folder)) for folder in folders]
        names = [str(of.settings.get("retrieval", folder.name)) for folder, of in runs]
        if len(set(names)) < len(names):
            fail(f"runs of the same kind: {', '.join(names)}; give one of each --retrieval")
        settings = [
            Setting(
                Scores.read(folder),
                of.settings["signals"],
                of.settings.get("threshold_faithful", 0.5),
                any(titles_shown(of)),
            )
            for folder, of in runs
        ]
        found = side_by_side(dict(zip(names, settings, strict=True)))
    if not found:
        fail("no data set is in all of these runs")
    for table in found:
        if as_json:
            typer.echo(json.dumps(table.to_dict()))
        else:
            tell(table.title)
            show_table(table)
    if markdown is not None:
        markdown.write_text("\n".join(t.markdown() for t in found), encoding="utf-8")
        say(f"wrote {markdown}")
