"""Measures how many labelled questions the fitted methods need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from franq_bench.fits.fallback import UNFITTED, fallback_of
from franq_bench.fits.fitted import FITTED, SIGNALS, fitted_scores
from franq_bench.fits.paper_form import as_paper_said
from franq_bench.fits.variants import Values, mean_rows, raw
from franq_bench.tables.layout import METRIC_TITLES, Figure, figures_table
from franq_bench.tables.method_names import title
from franq_bench.tables.results import Row
from franq_bench.tables.scores import Score, Scores
from franq_guard.report.tables import Column, Table

__all__ = ["SIZES", "training_sizes"]

SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000)
"""Training sizes tried, as far as every data set has more rows; then all rows."""

_METRICS = ("pr_auc", "prr", "ece")
_REDRAWS = 20


def training_sizes(
    scores: Scores,
    *,
    sizes: Sequence[int] = SIZES,
    draws: int = 10,
    signals: Sequence[str] = SIGNALS,
    log_space: bool = False,
) -> list[Table]:
    """FRANQ's three calibrations and both XGBoosts on 20, 50, 100 ... of the training rows.

    A draw takes the same rows for every method. One that holds a single class is drawn again, up
    to 20 times; where both classes never meet the data set has no figure, as in all tables here.

    Args:
        scores: raw methods, train and test rows.
        sizes: training rows per data set; those no smaller than the smallest training part are
            left out, because "all" follows.
        draws: seeded draws of each size.
        signals: P_faithful, UQ_faith and UQ_unfaith.
        log_space: the latter two are log-probabilities (the long form).

    Returns:
        A table each for mean PR-AUC, PRR and ECE; standard deviations over draws as errors. None
        where there are no training rows.
    """
    bare = raw(scores)
    parts = {name: bare.part(name, "train").rows for name in bare.datasets}
    counts = [len(rows) for rows in parts.values()]
    if not any(counts):
        return []
    fit = partial(fitted_scores, signals=signals, log_space=log_space)
    found: dict[str, list[dict[str, Row]]] = {}
    for size in sorted(s for s in set(sizes) if s < min(counts)):
        found[str(size)] = [_figures(bare, size, seed, fit) for seed in range(draws)]
    low, high = min(counts), max(counts)
    found[f"all ({low})" if low == high else f"all ({low} to {high})"] = [
        _figures(bare, None, 0, fit)
    ]
    fell = _fallbacks(parts, [size for size in found if size.isdigit()], draws, signals, log_space)
    said = f"{fell} {as_paper_said(signals, bare.rows)}"
    return [_table(metric, found, draws, said) for metric in _METRICS]


def drawn(rows: Sequence[Score], size: int, seed: int) -> tuple[Score, ...]:
    """A seeded draw of rows with both classes; the last attempt if no draw has both."""
    chosen: tuple[Score, ...] = ()
    for attempt in range(_REDRAWS):
        order = np.random.default_rng([seed, attempt]).permutation(len(rows))
        # The first rows of one order: larger draws include smaller ones, so sizes are comparable.
        chosen = tuple(rows[i] for i in order[:size])
        if len({row.is_true for row in chosen}) == 2:
            break
    return chosen


def _figures(
    scores: Scores, size: int | None, seed: int, fit: Callable[..., Values]
) -> dict[str, Row]:
    """Mean figures by method after one draw per data set; None: all rows."""
    made: list[Score] = []
    for name in scores.datasets:
        train, test = scores.part(name, "train").rows, scores.part(name).rows
        chosen = train if size is None else drawn(train, size, seed)
        values = {method: fit(method, chosen, test) for method in FITTED}
        for i, row in enumerate(test):
            made.append(replace(row, scores={method: values[method][i] for method in FITTED}))
    return mean_rows(Scores(tuple(made)))


def _fallbacks(
    parts: dict[str, tuple[Score, ...]],
    sizes: Sequence[str],
    draws: int,
    signals: Sequence[str],
    log_space: bool,
) -> str:
    """How often each branch of condition-calibrated FRANQ took the global curve, by size."""
    said = []
    for size in (*sizes, "all"):
        chosen = [
            rows if size == "all" else drawn(rows, int(size), seed)
            for rows in parts.values()
            for seed in range(1 if size == "all" else draws)
        ]
        fell = [fallback_of(rows, signals, log_space=log_space) for rows in chosen]
        fell = [one for one in fell if one != UNFITTED]
        faith, unfaith = (sum(branch in one for one in fell) for branch in ("faith", "unfaith"))
        said.append(f"{size}: {faith} and {unfaith} of {len(fell)}")
    return (
        "Fits of condition-calibrated FRANQ in which UQ_faith and UQ_unfaith took the curve of all "
        f"rows for want of labels, by number of training rows: {'; '.join(said)}."
    )


def _table(metric: str, found: dict[str, list[dict[str, Row]]], draws: int, said: str) -> Table:
    better: Literal["higher", "lower"] = "lower" if metric == "ece" else "higher"
    return figures_table(
        f"training-size-{metric.replace('_', '-')}",
        f"By number of training rows: mean {METRIC_TITLES[metric]}",
        [Column("training rows"), *(Column(title(method), better) for method in FITTED)],
        {size: [_spread(rows, m, metric) for m in FITTED] for size, rows in found.items()},
        note=f"Means over the data sets' test rows and over {draws} draws of that many training "
        "rows per data set (the same for all methods; a draw of one class is drawn again); ± is "
        "the standard deviation over draws. All: every training row, once. FRANQ without "
        f"calibration learns nothing from them. {said}",
    )


def _spread(figures: Sequence[dict[str, Row]], method: str, metric: str) -> Figure:
    """Mean and standard deviation over the draws that have a figure."""
    values = [row.figure(metric)[0] for by_method in figures if (row := by_method.get(method))]
    there = [value for value in values if value is not None]
    if not there:
        return None, None
    return float(np.mean(there)), float(np.std(there, ddof=1)) if len(there) > 1 else None
