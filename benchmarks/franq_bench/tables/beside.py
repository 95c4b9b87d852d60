"""Puts columns of the paper's further tables beside ours: the same methods, the same question.

Each of these tables is of one model, Llama 3B; they stand whole at the end of a report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from franq_bench.tables.layout import METRIC_TITLES
from franq_bench.tables.method_names import title
from franq_bench.tables.paper import LABELS, OURS, SOURCE, as_run, further, means, printed
from franq_guard.report.tables import Cell, Column, Table, is_heading

__all__ = ["CUT", "NO_FALLBACK", "beside", "beside_spoiled"]

MODEL = "Llama 3B"
CUT = ", T = 0.5"
"""How the rows end whose P_faithful is cut at one half."""
NO_FALLBACK = ", no fallback"
"""How the rows end that are fitted by the paper's rule, where the others have a fallback."""

_RANKING = ("PR-AUC", "PRR", "ROC-AUC")
_SETTINGS = ("original", "shuffled", "corrupted")
_ROWS = {
    "FRANQ condition-calibrated": f"as it is{NO_FALLBACK}",
    "FRANQ condition-, faithfulness-calibrated": (
        f"calibrated, branches by gold faithfulness{NO_FALLBACK}"
    ),
}
_OTHERS = "on other data and with other judges: a frame of reference, not a target"


@dataclass(frozen=True, slots=True)
class _Paper:
    """A further table of the paper.

    Args:
        name: in ``paper_figures.json``.
        columns: those that are shown.
        before: how their names begin in the paper's table.
        better: as of :class:`Column`.
        said: what a reader must know of them.
        ours: whether they stand beside our form of a method where the paper's was not measured.
    """

    name: str
    columns: tuple[str, ...] = _RANKING
    before: str = ""
    better: Any = "higher"
    said: str = _OTHERS
    ours: bool = False


_TABLES = {
    ("short", "p-faithful-above"): _Paper("above"),
    ("short", "p-faithful-below"): _Paper("below"),
    ("short", "thresholded"): _Paper("thresholded", before="short form, mean "),
    ("long", "thresholded"): _Paper("thresholded", before="long form "),
    ("long", "faithfulness-calibration"): _Paper("calibrated"),
    ("short", "runtime"): _Paper(
        "runtime",
        ("inference", "training", "size"),
        better=None,
        said="on its own hardware",
        ours=True,  # a form changes nothing of the cost
    ),
}
"""By the form of the answers and the name of our table."""


def beside(table: Table, form: str, target: str = "factuality") -> Table:
    """Our table with the paper's figures of the same question; as it is where the paper has none.

    Args:
        table: of a report.
        form: short or long.
        target: what is predicted; these tables of the paper are all of factuality.
    """
    paper = _TABLES.get((form, table.name))
    if paper is None or target != "factuality":
        return table
    firsts = _firsts(table)
    found = {
        _first(label, firsts, paper.ours): [row[f"{paper.before}{name}"] for name in paper.columns]
        for label, row in further(paper.name, form).items()
    }
    cells = zip(*found.values(), strict=True)
    columns = [
        printed(f"paper: {name}", of, paper.better)
        for name, of in zip(paper.columns, cells, strict=True)
    ]
    return _with(table, columns, found, paper.said)


def beside_spoiled(table: Table, metric: str) -> Table:
    """A table of settings (original, shuffled, corrupted) with the paper's means of each.

    Args:
        table: its columns but the first are settings; those of other names have none.
        metric: pr_auc or prr.
    """
    firsts, theirs = _firsts(table), further("spoiled", "short")
    of_original = means("short", metric, there=_methods(firsts))[MODEL]
    settings = [c.title for c in table.columns if c.title in _SETTINGS]
    if not settings:
        return table
    found: dict[str, list[Cell]] = {}
    for label, row in theirs.items():
        every = {name: row.get(f"{name} {METRIC_TITLES[metric]}") for name in settings}
        if "original" in every:
            every["original"] = of_original[as_run(LABELS[label], _methods(firsts))]
        found[_first(label, firsts)] = [*every.values()]
    cells = zip(*found.values(), strict=True)
    columns = [
        printed(f"paper: {name}", of, "higher") for name, of in zip(settings, cells, strict=True)
    ]
    return _with(table, columns, found, _OTHERS)


def _with(
    table: Table, columns: Sequence[Column], found: Mapping[str, Sequence[Cell]], said: str
) -> Table:
    none = (None,) * len(columns)
    rows = tuple(
        row if is_heading(row) else (*row, *found.get(str(row[0]), none)) for row in table.rows
    )
    errors = tuple(error if len(error) == 1 else (*error, *none) for error in table.errors)
    note = f"{table.note} The columns 'paper' are {SOURCE}'s for {MODEL}, {said}.".strip()
    return replace(table, columns=(*table.columns, *columns), rows=rows, errors=errors, note=note)


def _firsts(table: Table) -> list[str]:
    return [str(row[0]) for row in table.rows if not is_heading(row)]


def _methods(firsts: Sequence[str]) -> list[str]:
    return [method for method in OURS if title(method) in firsts]


def _first(label: str, firsts: Sequence[str], ours: bool = False) -> str:
    """The first cell of our row beside which the paper's row of that label stands."""
    if label in _ROWS and _ROWS[label] in firsts:
        return _ROWS[label]
    method, cut, _ = label.partition(" T=0.5")
    if method not in LABELS:
        return label
    there = _methods(firsts)
    own = as_run(LABELS[method], there)
    shown = LABELS[method] if ours and own not in there else own
    return f"{title(shown)}{CUT if cut else ''}"
