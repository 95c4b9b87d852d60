"""The one layout of the ablations' tables: methods or variants down, figures with errors across."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from franq_bench.tables.method_names import family, title
from franq_bench.tables.results import METRICS, Row
from franq_guard.report.tables import Cell, Column, Table, number

__all__ = ["METRIC_TITLES", "Figure", "figures_table", "interval", "metric_columns",
           "metric_figures", "signed"]  # fmt: skip

Figure = tuple[float | None, float | None]
"""A value and its error."""

METRIC_TITLES = {"pr_auc": "PR-AUC", "prr": "PRR", "auroc": "ROC-AUC", "ece": "ECE"}


def figures_table(
    name: str,
    heading: str,
    columns: Sequence[Column],
    figures: Mapping[str, Sequence[Figure]],
    *,
    note: str,
    families: bool = False,
) -> Table:
    """A table of figures with their errors.

    Args:
        name: of the table.
        heading: its title.
        columns: the first is that of the names.
        figures: by method or variant, one per further column; methods are shown by their titles.
        note: how it was made.
        families: whether headings tell families of methods apart.
    """
    cells: list[tuple[Cell, ...]] = []
    errors: list[tuple[Cell, ...]] = []
    for group, members in groupby(figures, family) if families else [("", iter(figures))]:
        if families:
            cells.append((group,))
            errors.append((None,))
        for member in members:
            cells.append((title(member), *(value for value, _ in figures[member])))
            errors.append((None, *(error for _, error in figures[member])))
    return Table(name, heading, tuple(columns), tuple(cells), note, tuple(errors))


def metric_columns(first: str) -> list[Column]:
    """A column of names, then one per metric."""
    return [
        Column(first),
        *(Column(METRIC_TITLES[m], "lower" if m == "ece" else "higher") for m in METRICS),
    ]


def metric_figures(rows: Mapping[str, Row], names: Iterable[str]) -> dict[str, list[Figure]]:
    """Every metric of some methods or variants, for :func:`metric_columns`."""
    return {name: [rows[name].figure(metric) for metric in METRICS] for name in names}


def signed(difference: float, low: float | None, high: float | None) -> str:
    """A difference with its 95 % interval, and a star where that leaves zero out.

    What is shown as zero has no sign: its last digits differ between processors.

    >>> signed(0.05, 0.01, 0.09), signed(-0.05, -0.1, 0.0), signed(-0.001, None, None)
    ('+.05 [.01, .09] *', '-.05 [-.10, .00]', '.00')
    """
    shown = number(difference)
    plus = "+" if difference > 0 and float(shown) else ""
    ends = interval(low, high)
    star = " *" if ends and low is not None and high is not None and low * high > 0 else ""
    return f"{plus}{shown} {ends}{star}".strip()


def interval(low: float | None, high: float | None) -> str:
    """An interval as text; empty where there is none."""
    return "" if low is None or high is None else f"[{number(low)}, {number(high)}]"
