"""P_faithful of the test rows: figures of the methods above and below 0.5, and a histogram."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from franq_bench.fits.fitted import SIGNALS
from franq_bench.fits.variants import fitted, mean_rows
from franq_bench.tables.layout import figures_table, metric_columns, metric_figures
from franq_bench.tables.method_names import order
from franq_bench.tables.scores import GOLD, Scores
from franq_guard.franq import FloatArray
from franq_guard.metrics.measures import ece, reliability
from franq_guard.report.tables import Cell, Column, Table, number

__all__ = ["by_faithfulness", "p_faithful_table", "part_table"]

_THRESHOLD = 0.5
_BINS = 10


def by_faithfulness(
    scores: Scores, *, signals: Sequence[str] = SIGNALS, resamples: int = 200
) -> list[Table]:
    """Every method's metrics on the test rows with P_faithful above 0.5, and on the others.

    Args:
        scores: raw methods, train and test rows; fitted ones that are there are taken.
        signals: P_faithful, UQ_faith and UQ_unfaith.
        resamples: of the bootstrap.

    Returns:
        Two tables, above and up to 0.5; a part without rows has none.
    """
    whole = fitted(scores, signals)
    known = [r for r in whole.rows if r.split == "test" and r.scores.get(signals[0]) is not None]
    above = Scores(tuple(r for r in known if float(r.scores[signals[0]] or 0) > _THRESHOLD))
    below = Scores(tuple(r for r in known if float(r.scores[signals[0]] or 0) <= _THRESHOLD))
    parts = (("above", "above 0.5", above), ("below", "up to 0.5", below))
    return [
        part_table(f"p-faithful-{name}", f"Test rows with P_faithful {words}", part, resamples)
        for name, words, part in parts
        if part.rows
    ]


def p_faithful_table(scores: Scores, *, faithfulness: str = SIGNALS[0]) -> Table:
    """Histogram of P_faithful on the test rows, with the share of true answers in each bin.

    Args:
        scores: the matrix; where test rows carry gold faithfulness
            (:data:`~franq_bench.tables.scores.GOLD`), its share and the ECE of
            P_faithful against it are given too.
        faithfulness: the method that is P_faithful, in [0, 1]; rows without it are left out.
    """
    test = (row for row in scores.rows if row.split == "test")
    rows = Scores(tuple(row for row in test if row.scores.get(faithfulness) is not None))
    p, gold = rows.of_method(faithfulness), rows.of_method(GOLD)
    labelled = ~np.isnan(gold)
    true = reliability(rows.is_true(), p, bins=_BINS)
    cells: list[tuple[Cell, ...]] = [
        (f"{i / _BINS:.1f} to {(i + 1) / _BINS:.1f}", int(n), n / len(p) if len(p) else None, share)
        for i, (n, share) in enumerate(zip(true.claims, true.share_true, strict=True))
    ]
    columns = [Column("P_faithful"), Column("rows"), Column("share of rows"), Column("share true")]
    note = "Test rows of all data sets together; a bin holds its upper end, the first also 0."
    if labelled.any():
        faithful = reliability(gold[labelled], p[labelled], bins=_BINS)
        cells = [
            (*row, int(n), share)
            for row, n, share in zip(cells, faithful.claims, faithful.share_true, strict=True)
        ]
        columns += [Column("rows with gold"), Column("share faithful (gold)")]
        gaps = [ece(g, q) for g, q in _by_dataset(rows, faithfulness)]
        note += (
            f" ECE of P_faithful against gold faithfulness: {number(float(np.mean(gaps)))} (mean "
            f"over the data sets), {number(ece(gold[labelled], p[labelled]))} (together)."
        )
    return Table(
        "p-faithful", "P_faithful: histogram and share true", tuple(columns), tuple(cells), note
    )


def _by_dataset(rows: Scores, faithfulness: str) -> list[tuple[FloatArray, FloatArray]]:
    """Gold faithfulness and P_faithful of each data set that has both."""
    found = []
    for name in rows.datasets:
        part = rows.part(name)
        gold = part.of_method(GOLD)
        labelled = ~np.isnan(gold)
        if labelled.any():
            found.append((gold[labelled], part.of_method(faithfulness)[labelled]))
    return found


def part_table(name: str, heading: str, part: Scores, resamples: int) -> Table:
    """Every method's metrics on some of the test rows, fitted on the whole training part."""
    both = [d for d in part.datasets if 0 < part.part(d).is_true().mean() < 1]
    judged = Scores(tuple(row for row in part.rows if row.dataset in both))
    found = mean_rows(judged, resamples=resamples)
    figures = metric_figures(found, order(found))
    return figures_table(
        name,
        heading,
        metric_columns("method"),
        {m: own for m, own in figures.items() if any(value is not None for value, _ in own)},
        families=True,
        note=f"{_counts(part)} Fitted on each data set's whole training part; means over the data "
        "sets where these rows hold both classes. ± is a bootstrap standard error over test rows.",
    )


def _counts(part: Scores) -> str:
    """How many rows of each data set are there, and how many of them are true."""
    of = []
    for name in part.datasets:
        true = part.part(name).is_true()
        of.append(f"{name} {len(true)} ({int(true.sum())} true)")
    return f"{len(part.rows)} rows: {', '.join(of)}."
