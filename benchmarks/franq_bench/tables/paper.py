"""The figures of the FRANQ paper, shown next to ours; they are for other models."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np

from franq_bench.tables.layout import METRIC_TITLES
from franq_bench.tables.method_names import AS_PAPER, PRIMARY, order, title
from franq_guard.report.tables import Better, Cell, Column, Table

__all__ = ["LABELS", "OURS", "SOURCE", "as_run", "further", "means", "paper_tables", "placed",
           "printed"]  # fmt: skip

_Of = TypeVar("_Of")

SOURCE = "arXiv 2505.21072"
NOTE = (
    f"Figures of the paper ({SOURCE}), for its own models, retriever, judge and questions: a frame "
    "of reference, not a target. Its text and its tables do not always agree on Mean and Max Token "
    "Entropy: the label is that of the table."
)
_AS_RUN = {
    PRIMARY: (AS_PAPER,),
    "semantic-entropy": ("semantic-entropy:lm-polygraph",),
    "ccp": ("ccp:lm-polygraph",),
    "p-true": ("p-true:lm-polygraph-prompt", "p-true:lm-polygraph"),
}
"""Where ours differs: the methods that are what the paper ran, the best first. It has no fallback
and its library's forms; of P(True) also its library's prompt."""

LABELS = {
    "Max Claim Prob.": "max-probability",
    "Max Claim Probability": "max-probability",
    "Max Sequence Prob.": "max-probability",
    "P(True)": "p-true",
    "Perplexity": "perplexity",
    "Mean Token Entropy": "mean-token-entropy",
    "Max Token Entropy": "max-token-entropy",
    "CCP": "ccp",
    "Lexical Similarity": "lexical-rougeL",
    "Degree Matrix": "degree-entail",
    "Sum of Eigenvalues": "eigenvalues-entail",
    "Semantic Entropy": "semantic-entropy",
    "SentenceSAR": "sentence-sar",
    "AlignScore": "faithfulness",
    "Parametric Knowledge": "parametric-knowledge",
    "XGBoost (all UQ features)": "xgboost-all",
    "XGBoost (FRANQ features)": "xgboost-franq",
    "FRANQ no calibration": "franq-none",
    "FRANQ (no calibration)": "franq-none",
    "FRANQ calibrated": "franq-global",
    "FRANQ (calibrated)": "franq-global",
    "FRANQ condition-calibrated": PRIMARY,
    "FRANQ (condition-calibrated)": PRIMARY,
}
"""Our names of the methods in the paper's further tables."""

OURS = tuple(dict.fromkeys(m for name in LABELS.values() for m in (*_AS_RUN.get(name, ()), name)))
"""The methods of ours beside which a figure of the paper may stand."""


def as_run(name: str, there: Collection[str] = ()) -> str:
    """The method of ours that is what the paper ran under a name: of several the first measured.

    Args:
        name: as in the paper's tables, by our name.
        there: the methods that were measured.
    """
    ours = _AS_RUN.get(name, (name,))
    return next((method for method in ours if method in there), ours[0])


def placed(figures: Mapping[str, _Of], there: Collection[str]) -> dict[str, _Of]:
    """The paper's figures by the method of ours beside which they stand: see :func:`as_run`."""
    return {as_run(name, there): figure for name, figure in figures.items()}


def means(
    form: str, metric: str, target: str = "factuality", there: Collection[str] = ()
) -> dict[str, dict[str, float]]:
    """The paper's mean over its data sets: by model, by the method of ours that it ran.

    The paper's own mean where it has a table of means; else the mean of its figures by data set.

    Args:
        form: short or long.
        metric: pr_auc, prr, auroc or ece.
        target: factuality, or faithfulness (one table of the long form); of others it has nothing.
        there: the methods that were measured, see :func:`as_run`.
    """
    of = {"factuality": _means, "faithfulness": _of_faithfulness}.get(target)
    found = of(form, metric) if of else {}
    return {model: placed(figures, there) for model, figures in found.items()}


def further(name: str, form: str) -> dict[str, dict[str, Cell]]:
    """One of the paper's further tables (Llama 3B): by the paper's label, by column."""
    (table,) = (t for t in _read()["further"] if t["name"] == name and t["form"] in (form, "both"))
    columns = table["columns"][1:]
    return {row[0]: dict(zip(columns, row[1:], strict=True)) for row in table["rows"]}


def _of_faithfulness(form: str, metric: str) -> dict[str, dict[str, float]]:
    column = METRIC_TITLES[metric]
    rows: dict[str, Any] = further("faithfulness-target", form) if form == "long" else {}
    found = {LABELS[label]: row[column] for label, row in rows.items() if column in row}
    return {"Llama 3B": found} if found else {}


def _means(form: str, metric: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for block in _blocks(form):  # the tables of means come first
        if metric in next(iter(block["rows"].values())):
            own = {n: float(np.mean(figures[metric])) for n, figures in block["rows"].items()}
            found.setdefault(block["model"], own)
    return found


def paper_tables(form: str) -> list[Table]:
    """The paper's own tables for a form: by method first, then its further ones."""
    there = (table for table in _read()["further"] if table["form"] in (form, "both"))
    further = [_further(table, form) for table in there]
    return [*map(_table, _blocks(form)), *further]


def _table(block: dict[str, Any]) -> Table:
    rows = block["rows"]
    metrics = [name for name in next(iter(rows.values())) if name in METRIC_TITLES]
    at = range(len(block["datasets"]))
    columns = [
        printed(
            f"{block['datasets'][i]} {METRIC_TITLES[metric]}",
            [row[metric][i] for row in rows.values()],
            "lower" if metric == "ece" else "higher",
        )
        for i in at
        for metric in metrics
    ]

    def figures(name: str, end: str = "") -> tuple[float | None, ...]:
        values = rows[name]
        return tuple(values[f"{m}{end}"][i] if f"{m}{end}" in values else None
                     for i in at for m in metrics)  # fmt: skip

    return Table(
        name=_slug(f"paper {block['form']} {block['table']} {block['model']}"),
        title=f"The paper, {block['table']}: {block['model']}",
        columns=(Column("method"), *columns),
        rows=tuple((title(name), *figures(name)) for name in order(rows)),
        errors=tuple((None, *figures(name, "_se")) for name in order(rows)),
        note=NOTE,
    )


def printed(name: str, cells: Iterable[Cell], better: Better | None = None) -> Column:
    """A column of the paper's figures with its decimals: three, or two where no figure has more."""
    more = any(isinstance(cell, float) and round(cell, 2) != cell for cell in cells)
    return Column(name, better, decimals=3 if more else 2)


def _slug(words: str) -> str:
    return words.replace(",", "").replace(" ", "-").lower()


def _further(table: dict[str, Any], form: str) -> Table:
    """A table as it stands in the paper, with its own names of methods."""
    cells = zip(*table["rows"], strict=True)
    return Table(
        name=f"paper-{form}-{table['name']}",
        title=f"The paper: {table['title']}",
        columns=tuple(map(printed, table["columns"], cells)),
        rows=tuple(tuple(row) for row in table["rows"]),
        note=NOTE,
    )


def _blocks(form: str) -> list[dict[str, Any]]:
    return [block for block in _read()["blocks"] if block["form"] == form]


@lru_cache(maxsize=1)
def _read() -> dict[str, Any]:
    text = files("franq_bench.tables").joinpath("paper_figures.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
