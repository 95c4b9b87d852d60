"""The report of a benchmark: one list of sections, written as Markdown and as one HTML page.

Figures are recomputed from the score matrix; text of the data enters only the HTML page, and only
where it is asked for and ``answers.jsonl`` is there.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from franq_bench.tables import paper
from franq_bench.tables.beside import beside
from franq_bench.tables.fallback_note import fallback_named, fallback_said
from franq_bench.tables.findings import EXPLAINED, findings, heading, titles_shown, too_few
from franq_bench.tables.method_names import main, title
from franq_bench.tables.mistakes import read_answers, worst
from franq_bench.tables.mistakes_html import WorstMistakes, style
from franq_bench.tables.results import METRICS, Results, Row, metric_rows
from franq_bench.tables.scores import Scores
from franq_bench.tables.significance import significance
from franq_bench.tables.summary import (
    TITLES,
    datasets_table,
    form_of,
    main_table,
    settings_table,
    summary_table,
    target_of,
    unmeasured,
)
from franq_guard.metrics.plots import rejection_plot, reliability_plot
from franq_guard.report.page import page
from franq_guard.report.sections import Curves, Note, Section, markdown
from franq_guard.report.tables import Table

__all__ = ["HTML", "MARKDOWN", "load", "named", "sections", "write_report"]

_log = logging.getLogger(__name__)
HTML, MARKDOWN = "report.html", "REPORT.md"


def load(folder: Path, *, resamples: int = 1000) -> tuple[Results, Scores]:
    """A benchmark's folder, its rows recomputed from the score matrix.

    Figures of ``results.json`` that the scores do not give are named in a warning.

    Raises:
        FileNotFoundError: where a file is missing.
        ValueError: where one does not fit.
    """
    results, scores = Results.read(folder), Scores.read(folder)
    rows = tuple(metric_rows(scores, resamples=resamples))
    if other := _other_figures(results.rows, rows):
        _log.warning("results.json has other figures than scores.jsonl gives: %s", ", ".join(other))
    return replace(results, rows=rows), scores


def write_report(
    folder: Path,
    *,
    html: Path | None = None,
    markdown_file: Path | None = None,
    with_text: bool = True,
    resamples: int = 1000,
    loaded: tuple[Results, Scores] | None = None,
    made: Sequence[Section] | None = None,
) -> tuple[Path, Path]:
    """Render a benchmark's folder again.

    Args:
        folder: as ``franq bench`` wrote it.
        html: the page; default ``report.html`` in the folder.
        markdown_file: default ``REPORT.md`` in the folder.
        with_text: whether the page may show questions, passages and answers. A page outside the
            folder never does: it may be published.
        resamples: of the bootstrap.
        loaded: what :func:`load` gave of the folder, where that was done already.
        made: what :func:`sections` gave, likewise.

    Returns:
        The two files.

    Raises:
        FileNotFoundError: where ``results.json`` or ``scores.jsonl`` is missing.
        ValueError: where a file does not fit.
    """
    page_file, text_file = html or folder / HTML, markdown_file or folder / MARKDOWN
    results, scores = loaded or load(folder, resamples=resamples)
    inside = page_file.resolve().is_relative_to(folder.resolve())
    made = list(made or sections(results, scores, resamples=resamples))
    text = list(_mistakes(scores, folder)) if with_text and inside else []
    # Halves of UTF-16 pairs cannot be encoded; models do write them.
    for file, content in (
        (page_file, page(heading(results), [*made, *text], style=style())),
        (text_file, markdown(heading(results), made)),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8", errors="replace")
    return page_file, text_file


def _other_figures(stored: Sequence[Row], computed: Sequence[Row]) -> list[str]:
    """Which stored figures were not found again, at most five of them."""
    found = {(row.dataset, row.method): row for row in computed}
    names = []
    for row in stored:
        again = found.get((row.dataset, row.method))
        for metric in METRICS:
            old, new = row.figure(metric)[0], again.figure(metric)[0] if again else None
            if old != new and (old is None or new is None or abs(old - new) > 1e-6):
                names.append(f"{metric} of {row.method} on {row.dataset}")
    return [*names[:5], "..."] if len(names) > 5 else names


def named(results: Results, *tables: Table) -> tuple[Table, ...]:
    """Tables of the run's own fits, with the fallback named where they show it."""
    said = fallback_said(results)
    return tuple(fallback_named(table, said) for table in tables)


def sections(results: Results, scores: Scores, *, resamples: int = 1000) -> Iterator[Section]:
    """The report without the data's text; ``resamples``: of the comparisons' bootstrap."""
    tables = named(results, summary_table(results), datasets_table(results))
    minded = (*too_few(results), *titles_shown(results))
    yield Section("Summary", (Note(findings(results), main=True), *minded, *tables, *EXPLAINED))
    note = unmeasured(scores)
    for metric in METRICS:
        made = named(results, main_table(results, metric))
        yield Section(TITLES[metric], (*made, note) if note else made)
    if compared := significance(results, scores, resamples=resamples):
        yield Section("Is it more than chance?", named(results, *compared))
    curves = tuple(_curves(scores))
    if curves:
        yield Section("Curves", curves)
    if results.tables:
        form, target = form_of(results), target_of(results)
        tables = tuple(beside(table, form, target) for table in results.tables)
        yield Section("Ablations and further tables", named(results, *tables))
    yield Section("The paper's own figures", tuple(paper.paper_tables(form_of(results))), True)
    yield Section(
        "Settings",
        (
            settings_table(results.settings, "settings", "Settings"),
            settings_table(results.versions, "versions", "Versions"),
        ),
    )


def _curves(scores: Scores) -> Iterator[Curves]:
    """By data set: rejection, and reliability of what calls itself a probability."""
    for name in scores.datasets:
        part = scores.part(name)
        drawn = {
            title(method): part.of_method(method)
            for method in main(scores.methods)
            if not np.isnan(part.of_method(method)).any()
        }
        if part.rows and drawn:
            true = part.is_true()
            rejection = replace(rejection_plot(true, drawn), title=f"{name}: rejection")
            honest = {k: v for k, v in drawn.items() if v.min() >= 0 and v.max() <= 1}
            reliable = replace(reliability_plot(true, honest), title=f"{name}: reliability")
            yield Curves((rejection, reliable) if honest else (rejection,))


def _mistakes(scores: Scores, folder: Path) -> Iterator[Section]:
    answers = read_answers(folder)
    found = [worst(scores, answers, method) for method in main(scores.methods)]
    shown = tuple(WorstMistakes(m) for m in found if m.sure or m.doubted)
    if shown:
        yield Section("Worst mistakes", (_EXPLAINED, *shown))


_EXPLAINED = (
    "By method: the false answers it was surest of, then the true ones it doubted most. Test rows "
    "of all data sets. Text of the data: not for publication."
)
