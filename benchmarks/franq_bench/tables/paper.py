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

SOURCE = "arXiv 2505.21072v2"
NOTE = (
    f"Figures of the paper ({SOURCE}), for its own models, retriever, judge and questions: a frame "
    "of reference, not a target."
)
_METRICS = {"pr_auc": "PR-AUC", "prr": "PRR", "auroc": "ROC-AUC", "ece": "ECE"}


def means(form: str, metric: str) -> dict[str, dict[str, float]]:
    """The paper's mean over its data sets: by model, by our name of the method.

    Args:
        form: short (tables 4, 5 and 14b) or long (tables 2 and 14a, factuality).
        metric: pr_auc, prr, auroc or ece.
    """
    return {
        block["model"]: {
            name: float(np.mean(figures[metric])) for name, figures in block["rows"].items()
        }
        for block in _blocks(form)
        if metric in next(iter(block["rows"].values()))
    }


def paper_tables(form: str) -> list[Table]:
    """The paper's own tables for a form, all metrics and data sets."""
    return [_table(block) for block in _blocks(form)]


def _table(block: dict[str, Any]) -> Table:
    rows, metrics = block["rows"], list(next(iter(block["rows"].values())))
    columns = [
        Column(f"{name} {_METRICS[metric]}", "lower" if metric == "ece" else "higher")
        for name in block["datasets"]
        for metric in metrics
    ]
    at = range(len(block["datasets"]))
    return Table(
        name=f"paper-{block['table']}-{block['model'].replace(' ', '-').lower()}",
        title=f"The paper's table {block['table']}: {block['model']}",
        columns=(Column("method"), *columns),
        rows=tuple(
            (title(name), *(rows[name][metric][i] for i in at for metric in metrics))
            for name in order(rows)
        ),
        note=NOTE,
    )


def _blocks(form: str) -> list[dict[str, Any]]:
    return [block for block in _read()["blocks"] if block["form"] == form]


@lru_cache(maxsize=1)
def _read() -> dict[str, Any]:
    text = files("franq_bench.tables").joinpath("paper_figures.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
