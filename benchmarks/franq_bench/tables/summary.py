"""The tables of a benchmark report, in the paper's layout: methods by family, data sets beside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from franq_bench.tables import paper
from franq_bench.tables.layout import figures_table, metric_columns, metric_figures
from franq_bench.tables.method_names import AS_PAPER, PRIMARY, family, order, title
from franq_bench.tables.results import MEAN, METRICS, Results, figures_of, firsts, of_all, place
from franq_bench.tables.scores import Scores
from franq_guard.report.tables import Cell, Column, Table, number

__all__ = [
    "PRIMARY",
    "TITLES",
    "datasets_table",
    "form_of",
    "main_table",
    "methods_table",
    "settings_table",
    "summary_table",
    "target_of",
    "unmeasured",
]

TITLES = {
    "pr_auc": "PR-AUC",
    "prr": "PRR (at most half rejected)",
    "auroc": "ROC-AUC",
    "ece": "Expected calibration error",
}
_NOTES = {
    "pr_auc": "False answers are the positive class: a random score gives the share of them.",
    "prr": "1: the false are rejected first; 0: no better than chance; below 0: worse.",
    "auroc": "A random score gives .50.",
    "ece": "Ten equal bins; only scores within [0, 1]; lower is better. Only the fitted methods "
    "and the probabilities of the model are meant as P(true): the others are squashed into [0, 1].",
}


def form_of(results: Results) -> str:
    """The form of the answers, from the settings; it decides which of the paper's tables apply."""
    return "long" if results.settings.get("form") == "long" else "short"


def target_of(results: Results) -> str:
    """What is predicted, factuality or faithfulness; empty where the data sets differ in it."""
    said = str(results.settings.get("target") or "x: factuality")
    targets = {part.rpartition(": ")[2] for part in said.split("; ")}
    return targets.pop() if len(targets) == 1 else ""


def main_table(results: Results, metric: str) -> Table:
    """One metric: methods by family, our data sets, their mean, the paper's means.

    Columns of the paper say what they are; the mean is left out where there is one data set.
    """
    found = {(row.dataset, row.method): row.figure(metric) for row in results.rows}
    names = [d.name for d in results.datasets]
    shown = names if len(names) == 1 else [*names, MEAN]
    there = {row.method for row in results.rows}
    theirs = paper.means(form_of(results), metric, target_of(results), there)
    better: Any = "lower" if metric == "ece" else "higher"
    rows: list[tuple[Cell, ...]] = []
    errors: list[tuple[Cell, ...]] = []
    methods = order(m for (d, m), figure in found.items() if d in shown and figure[0] is not None)
    for heading, members in groupby(methods, family):
        rows.append((heading,))
        errors.append((None,))
        for method in members:
            own = [found.get((name, method), (None, None)) for name in shown]
            beside = [figures.get(method) for figures in theirs.values()]
            rows.append((title(method), *(figure for figure, _ in own), *beside))
            errors.append((None, *(error for _, error in own), *(None for _ in beside)))
    return Table(
        name=metric.replace("_", "-"),
        title=f"{TITLES[metric]} on the test parts",
        columns=(
            Column("method"),
            *(Column(name, better) for name in shown),
            *(paper.printed(f"paper: {m}", of.values(), better) for m, of in theirs.items()),
        ),
        rows=tuple(rows),
        errors=tuple(errors),
        note=f"{_NOTES[metric]} {_BESIDE}" if theirs else _NOTES[metric],
    )


_BESIDE = (
    f"± is a bootstrap standard error. The columns 'paper' are the means that {paper.SOURCE} "
    "reports for other models, data and judges: a frame of reference, not a target. It ran its "
    "library's forms of Semantic Entropy, Claim-Conditioned Probability and P(True): its figures "
    f"stand in the rows of those (lm-polygraph), and in that of {title(AS_PAPER)}."
)


def summary_table(results: Results) -> Table:
    """By metric, over the data sets: which method comes first, and where FRANQ stands.

    FRANQ stands twice: by the paper's rule, with its place in the paper, and as it is by default.
    """
    form, target = form_of(results), target_of(results)
    rows: list[tuple[Cell, ...]] = []
    for metric in METRICS:
        figures = figures_of(of_all(results), metric)
        if best := firsts(figures, metric):
            rows.append((
                TITLES[metric],
                " and ".join(map(title, best)),
                figures[best[0]],
                figures.get(AS_PAPER),
                _place(figures, AS_PAPER, metric),
                _place_in_paper(form, metric, target),
                figures.get(PRIMARY),
                _place(figures, PRIMARY, metric),
            ))  # fmt: skip
    return Table(
        name="summary",
        title="First in the mean over the data sets",
        columns=(
            Column("metric"),
            Column("first"),
            Column("its mean"),
            Column(title(AS_PAPER)),
            Column("its place"),
            Column("its place in the paper"),
            Column(title(PRIMARY)),
            Column("the place of that"),
        ),
        rows=tuple(rows),
        note="Places by the mean alone, one more than the methods that are better; many "
        "differences are within a standard error. "
        f"The paper: {paper.SOURCE}, other models and data, its own set of methods.",
    )


def methods_table(results: Results) -> Table:
    """Every method with every metric, over the data sets: the tables by metric on one screen."""
    rows = {row.method: row for row in of_all(results)}
    judged = [
        m for m in order(rows) if any(rows[m].figure(metric)[0] is not None for metric in METRICS)
    ]
    return figures_table(
        "methods",
        "All methods, mean over the data sets",
        metric_columns("method"),
        metric_figures(rows, judged),
        note="Standard errors, data sets and the paper's figures: REPORT.md.",
    )


def datasets_table(results: Results) -> Table:
    """Sizes, accuracy and refusals of the data sets."""
    return Table(
        name="datasets",
        title="Data sets",
        columns=(
            Column("data set"),
            Column("train"),
            Column("test"),
            Column("share true (test)"),
            Column("not attempted"),
        ),
        rows=tuple(
            (d.name, d.n_train, d.n_test, d.accuracy, d.not_attempted) for d in results.datasets
        ),
        note="What was not attempted (refusals) is left out of everything else.",
    )


def settings_table(values: Mapping[str, Any], name: str, heading: str) -> Table:
    """Settings or versions, one a row."""
    rows = tuple((key, _plain(value)) for key, value in values.items())
    return Table(name, heading, (Column("setting"), Column("value")), rows)


def unmeasured(scores: Scores) -> str:
    """Lists methods without figures because some test rows lack their scores; may be empty."""
    parts = []
    for name in scores.datasets:
        test = scores.part(name).rows
        for method in scores.methods:
            lacking = sum(row.scores.get(method) is None for row in test)
            if 0 < lacking < len(test):
                parts.append(f"{title(method)} on {name} ({lacking} of {len(test)})")
    return f"Not judged, because some test rows lack them: {'; '.join(parts)}." if parts else ""


def _place_in_paper(form: str, metric: str, target: str) -> str:
    """Where the paper's primary method stands for each of its models."""
    places = [
        f"{_place(figures, AS_PAPER, metric)} ({model})"
        for model, figures in paper.means(form, metric, target).items()
        if AS_PAPER in figures  # with faithfulness as the target the paper has no FRANQ
    ]
    return ", ".join(places) or "-"


def _place(figures: Mapping[str, float], method: str, metric: str) -> str:
    """Such as "3 of 44"; "-" where the method has no figure."""
    found = method in figures
    return f"{place(figures, method, metric)} of {len(figures)}" if found else "-"


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return number(value) if value is None else f"{value:g}"
    return json.dumps(value, ensure_ascii=False)
