"""The figures of the FRANQ paper, shown next to ours; they are for other models."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from franq_bench.tables.method_names import order, title
from franq_guard.report.tables import Column, Table

__all__ = ["SOURCE", "means", "paper_tables"]

SOURCE = "arXiv 2505.21072"
NOTE = (
    f"Figures of the paper ({SOURCE}), for its own models, retriever, judge and questions: a frame "
    "of reference, not a target. Its text and its tables do not always agree on Mean and Max Token "
    "Entropy: the label is that of the table."
)
_METRICS = {"pr_auc": "PR-AUC", "prr": "PRR", "auroc": "ROC-AUC", "ece": "ECE"}

_AS_LIBRARY = {name: f"{name}:lm-polygraph" for name in ("semantic-entropy", "ccp", "p-true")}
"""The paper ran its library's form of these methods: its figures stand beside ours of that form."""

_OF_FAITHFULNESS = {
    "Max Claim Prob.": "max-probability",
    "P(True)": "p-true",
    "Perplexity": "perplexity",
    "Mean Token Entropy": "mean-token-entropy",
    "CCP": "ccp",
    "AlignScore": "faithfulness",
    "Parametric Knowledge": "parametric-knowledge",
}
"""Our names of the methods in the paper's table that has faithfulness as its target."""


def means(form: str, metric: str, target: str = "factuality") -> dict[str, dict[str, float]]:
    """The paper's mean over its data sets: by model, by our name of the method.

    The paper's own mean where it has a table of means; else the mean of its figures by data set.

    Args:
        form: short or long.
        metric: pr_auc, prr, auroc or ece.
        target: factuality, or faithfulness (one table of the long form); of others it has nothing.
    """
    of = {"factuality": _means, "faithfulness": _of_faithfulness}.get(target)
    found = of(form, metric) if of else {}
    return {
        model: {_AS_LIBRARY.get(name, name): value for name, value in figures.items()}
        for model, figures in found.items()
    }


def _of_faithfulness(form: str, metric: str) -> dict[str, dict[str, float]]:
    (table,) = (t for t in _read()["further"] if t["name"] == "faithfulness-target")
    if form != table["form"] or _METRICS[metric] not in table["columns"]:
        return {}
    at = table["columns"].index(_METRICS[metric])
    return {"Llama 3B": {_OF_FAITHFULNESS[row[0]]: row[at] for row in table["rows"]}}


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
    metrics = [name for name in next(iter(rows.values())) if name in _METRICS]
    columns = [
        Column(f"{name} {_METRICS[metric]}", "lower" if metric == "ece" else "higher")
        for name in block["datasets"]
        for metric in metrics
    ]
    at = range(len(block["datasets"]))

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


def _slug(words: str) -> str:
    return words.replace(",", "").replace(" ", "-").lower()


def _further(table: dict[str, Any], form: str) -> Table:
    """A table as it stands in the paper, with its own names of methods."""
    return Table(
        name=f"paper-{form}-{table['name']}",
        title=f"The paper: {table['title']}",
        columns=tuple(Column(name) for name in table["columns"]),
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
