"""The paper's ablations (arXiv 2505.21072) for claims, from the score matrix alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from franq_bench.fits.calibrations import faithfulness_calibration, has_gold, thresholded
from franq_bench.fits.fallback import fallback_table
from franq_bench.fits.first_tree import first_tree
from franq_bench.fits.grid import uq_grid
from franq_bench.fits.one_change import one_change
from franq_bench.fits.training_size import training_sizes
from franq_bench.fits.variants import LOWEST, logarithm
from franq_bench.tables.scores import Score, Scores
from franq_guard.report.tables import Table

__all__ = ["GRID", "LOGARITHMS", "LOWEST", "SIGNALS", "ablation_tables"]

SIGNALS = ("faithfulness", "max-probability", "parametric-knowledge")
"""FRANQ's P_faithful, UQ_faith and UQ_unfaith in the long form (arXiv 2505.21072, section 3)."""

LOGARITHMS = SIGNALS[1:]
"""Methods scored by log-probability: probabilities of long claims are too close to 0."""

GRID = (
    "max-probability",
    "perplexity",
    "mean-token-entropy",
    "ccp",
    "p-true",
    "max-nli",
    "parametric-knowledge",
)
"""Methods tried as UQ_faith and as UQ_unfaith."""


def ablation_tables(
    scores: Scores,
    *,
    signals: Sequence[str] = SIGNALS,
    draws: int = 10,
    resamples: int = 200,
    faithful_above: float = 0.5,
) -> list[Table]:
    """Every ablation that applies; none without training and test rows.

    Args:
        scores: raw methods, train and test rows; gold faithfulness where there is some.
        signals: methods that serve as P_faithful, UQ_faith and UQ_unfaith.
        draws: of training rows, for each training size.
        resamples: of the bootstrap.
        faithful_above: as for the short form.
    """
    if {row.split for row in scores.rows} != {"train", "test"}:
        return []
    options: Any = {"signals": signals, "log_space": True}
    tables = [fallback_table(scores, faithful_above=faithful_above, **options)]
    tables += one_change(scores, resamples=resamples, **options)
    tables += uq_grid(_in_logarithms(scores, signals), methods=GRID, **options)
    tables.append(thresholded(scores, resamples=resamples, **options))
    if has_gold(scores):
        tables.append(faithfulness_calibration(scores, resamples=resamples, **options))
    trees = (first_tree(scores), first_tree(scores, features=signals))
    return [*tables, *training_sizes(scores, draws=draws, **options), *trees]


def _in_logarithms(scores: Scores, signals: Sequence[str]) -> Scores:
    """The matrix with the grid's methods all in log-space."""
    confidences = {*GRID} - {*LOGARITHMS, *signals}
    return Scores(tuple(replace(row, scores=_logs(row, confidences)) for row in scores.rows))


def _logs(row: Score, confidences: Collection[str]) -> dict[str, float | None]:
    return {
        name: value if value is None or name not in confidences else logarithm(value)
        for name, value in row.scores.items()
    }
