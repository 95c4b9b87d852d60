"""``franq compare``: two benchmark folders side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from franq_guard.cli.console import emit, fail, output, say, working
from franq_guard.report.terminal import shown

if TYPE_CHECKING:
    from franq_bench.tables.compare import Difference
    from franq_bench.tables.results import Results


def compare(
    a: Annotated[Path, typer.Argument(help="A folder that `franq bench` wrote.")],
    b: Annotated[Path, typer.Argument(help="Another, of the same test questions.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON Lines instead of tables, every data set.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with every data set.")] = None,
    dataset: Annotated[str, typer.Option(help="Shown in the tables.")] = "mean",
    shared: Annotated[
        bool, typer.Option("--shared", help="Only questions that both contain.")
    ] = False,
    train: Annotated[
        bool, typer.Option("--train", help="The training rows, to choose settings on.")
    ] = False,
    resamples: Annotated[int, typer.Option(min=2, help="Bootstrap resamples.")] = 1000,
) -> None:
    """Compare two runs of franq bench: B minus A, with paired bootstrap intervals."""
    from franq_bench.tables.compare import compare as differences_of
    from franq_bench.tables.compare import pair, training_rows
    from franq_bench.tables.scores import Scores

    try:
        with working("comparing"):
            one, other = Scores.read(a), Scores.read(b)
            if train:
                one, other = training_rows(one), training_rows(other)
            if shared:
                one, other = pair(one, other)
            rows = differences_of(one, other, resamples=resamples)
    except (OSError, ValueError) as error:
        fail(str(error))
    if missing := sorted(set(one.methods) ^ set(other.methods)):
        say(f"only in one of them, left out: {', '.join(missing)}")
    runs = [] if as_json and html is None else _results(a, b)
    if html is not None:
        _write(html, rows, a, b, runs)
    if as_json:
        for row in rows:
            emit(row.to_dict())
        return
    if dataset not in {row.dataset for row in rows}:
        fail(f"no data set {dataset!r}; there are: {', '.join(one.datasets)}, mean")
    _tables([row for row in rows if row.dataset == dataset], runs)


def _write(
    file: Path, rows: Sequence[Difference], a: Path, b: Path, runs: Sequence[Results]
) -> None:
    from franq_bench.tables.compare import comparison_sections
    from franq_guard.report.page import page

    names = ("A", "B") if a.name == b.name else (a.name or "A", b.name or "B")
    made = list(comparison_sections(rows, names, runs))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        text = page(f"{names[1]} against {names[0]}", made)
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        fail(f"cannot write {file}: {error.strerror}")
    say(f"wrote {file}")


def _results(a: Path, b: Path) -> list[Results]:
    """The results of both runs, if they can be read; the comparison itself needs only scores."""
    from franq_bench.tables.results import Results

    try:
        return [Results.read(a), Results.read(b)]
    except (OSError, ValueError) as error:
        say(f"warning: settings not compared, fallbacks not known: {error}")
        return []


def _tables(rows: Sequence[Difference], runs: Sequence[Results]) -> None:
    from franq_bench.tables.fallback_note import fallback_said
    from franq_bench.tables.results import METRICS
    from franq_bench.tables.summary import PRIMARY

    for metric in METRICS:
        _show([row for row in rows if row.metric == metric])
    notes = ["95 % intervals of the paired bootstrap; * leaves zero out"]
    if any(row.method == PRIMARY for row in rows):
        told = zip("AB", map(fallback_said, runs), strict=False)  # no results: nothing is known
        notes += [f"{name}: {said}" for name, said in told if said]
    for note in notes:
        output.print(Text(shown(note), style="dim"))


def _show(rows: Sequence[Difference]) -> None:
    from franq_bench.tables.compare import difference_text
    from franq_bench.tables.method_names import title
    from franq_bench.tables.summary import TITLES
    from franq_guard.report.tables import number

    known = [row for row in rows if row.difference is not None]
    if not known:
        return
    table = Table(box=None, title=f"{TITLES[known[0].metric]}, {shown(known[0].dataset)}")
    table.add_column("method")
    for name in ("A", "B", "B - A"):
        table.add_column(name, justify="right")
    for row in known:
        cells = (title(row.method), number(row.a), number(row.b), difference_text(row))
        table.add_row(*(Text(shown(cell)) for cell in cells))
    output.print(table)
