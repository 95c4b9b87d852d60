"""The paper's ablations (arXiv 2505.21072) for claims, from the score matrix alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from franq_bench.fits.calibrations import faithfulness_calibration, has_gold, thresholded
from franq_bench.fits.fallback import fallback_table
from franq_bench.fits.first_tree import first_tree
from franq_bench.fits.grid import uq_grid
from franq_bench.fits.one_change import one_change
from franq_bench.fits.training_size import training_sizes
from franq_bench.fits.variants import LOGARITHMS, LOWEST, in_logarithms
from franq_bench.tables.scores import Scores
from franq_guard.report.tables import Table

__all__ = ["GRID", "LOGARITHMS", "LOWEST", "SIGNALS", "ablation_tables"]

SIGNALS = ("faithfulness", *LOGARITHMS)
"""FRANQ's P_faithful, UQ_faith and UQ_unfaith in the long form (arXiv 2505.21072, section 3)."""

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
    confidences = {*GRID} - {*LOGARITHMS, *signals}
    logs = Scores(tuple(in_logarithms(scores.rows, confidences)))
    tables += uq_grid(logs, methods=GRID, **options)
    tables.append(thresholded(scores, resamples=resamples, **options))
    if has_gold(scores):
        tables.append(faithfulness_calibration(scores, resamples=resamples, **options))
    trees = (first_tree(scores), first_tree(scores, features=signals))
    return [*tables, *training_sizes(scores, draws=draws, **options), *trees]
