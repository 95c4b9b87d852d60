"""FRANQ against the best other method, and ranks: how much of a difference may be chance.

Every method is judged on the same bootstrap resamples of the test rows, so that the difficulty of
the rows cancels out of a difference. Data sets are drawn independently; what is compared is the
mean over them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from franq_bench.tables.layout import METRIC_TITLES, interval, signed
from franq_bench.tables.method_names import order, title
from franq_bench.tables.resampling import METRICS, bootstrap, ends
from franq_bench.tables.results import Results, Row, figures_of, of_all, place, rounded
from franq_bench.tables.scores import Scores
from franq_guard.franq import FloatArray
from franq_guard.report.tables import Cell, Column, Table, number

__all__ = ["difference_with_interval", "drawn_means", "significance"]

_OWN = "franq-"


def significance(
    results: Results, scores: Scores, *, resamples: int = 1000, seed: int = 0
) -> tuple[Table, ...]:
    """By metric: each variant of FRANQ minus the best other method, and its rank, with intervals.

    Args:
        results: the figures, computed from ``scores``.
        scores: the matrix with the fitted methods.
        resamples: of the bootstrap.
        seed: of the bootstrap.

    Returns:
        One table; none where there is no variant of FRANQ, or nothing to compare it with.
    """
    rows = of_all(results)
    drawn = drawn_means(scores, resamples=resamples, seed=seed)
    lines = [line for metric in METRICS for line in _lines(metric, rows, drawn[metric])]
    if not lines:
        return ()
    return (_table(lines, resamples),)


def drawn_means(
    scores: Scores, *, resamples: int = 1000, seed: int = 0
) -> dict[str, dict[str, FloatArray]]:
    """By metric, by method: the mean over the data sets in every resample (B,), NaN if undefined.

    The mean is over the data sets where some method has the metric, as in the tables.
    """
    parts = []
    for at, name in enumerate(scores.datasets):
        part = scores.part(name)
        if part.rows:
            values = {method: part.of_method(method) for method in scores.methods}
            options = {"groups": part.groups(), "resamples": resamples, "seed": (seed, at)}
            parts.append(bootstrap(part.is_true(), values, **options))  # type: ignore[arg-type]
    found: dict[str, dict[str, FloatArray]] = {metric: {} for metric in METRICS}
    for metric in METRICS:
        judged = [p[metric] for p in parts if any(np.isfinite(v).any() for v in p[metric].values())]
        for method in scores.methods if judged else ():
            found[metric][method] = np.mean([part[method] for part in judged], axis=0)
    return found


def _lines(
    metric: str, rows: Sequence[Row], drawn: Mapping[str, FloatArray]
) -> list[tuple[Cell, ...]]:
    """A heading that names the best other method, then a line for each variant of FRANQ."""
    figures = figures_of(rows, metric)
    own = [method for method in order(figures) if method.startswith(_OWN)]
    others = [method for method in figures if method not in own]
    if not own or not others or not drawn:
        return []
    best = min(others, key=lambda method: place(figures, method, metric))
    ranks = _ranks({m: drawn[m] for m in figures}, metric)
    heading = f"{METRIC_TITLES[metric]}; best other: {title(best)}, {number(figures[best])}"
    lines: list[tuple[Cell, ...]] = [(heading,)]
    for method in own:
        gap = figures[method] - figures[best]
        lines.append((
            title(method),
            figures[method],
            difference_with_interval(gap, drawn[method] - drawn[best]),
            f"{place(figures, method, metric)} of {len(figures)} {_whole(ranks[method])}".strip(),
        ))  # fmt: skip
    return lines


def _ranks(drawn: Mapping[str, FloatArray], metric: str) -> dict[str, FloatArray]:
    """The places in every resample; NaN where one is undefined."""
    values = rounded(np.array(list(drawn.values())), metric)
    with np.errstate(invalid="ignore"):
        better = (values[None, :, :] > values[:, None, :]).sum(axis=1) + 1.0
    better[:, np.isnan(values).any(axis=0)] = math.nan
    return dict(zip(drawn, better, strict=True))


def difference_with_interval(gap: float, drawn: FloatArray) -> str:
    """A difference and the 95 % interval of its resamples (B,), as :func:`signed` has it."""
    return signed(gap, *ends(drawn))


def _whole(ranks: FloatArray) -> str:
    low, high = ends(ranks)
    return "" if low is None or high is None else interval(round(low), round(high))


def _table(lines: Sequence[tuple[Cell, ...]], resamples: int) -> Table:
    return Table(
        name="significance",
        title="FRANQ minus the best other method, and its rank",
        columns=(
            Column("variant of FRANQ"),
            Column("figure"),
            Column("minus the best other"),
            Column("rank"),
        ),
        rows=tuple(lines),
        note=f"Means over the data sets' test rows. In brackets 95 % intervals of {resamples} "
        "paired bootstrap resamples of the test rows, the fits held fixed; * where the interval "
        "leaves zero out. The best other method was found on the same rows, which favours it; no "
        "correction for the number of comparisons.",
    )
