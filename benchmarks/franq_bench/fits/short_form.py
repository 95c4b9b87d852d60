"""The paper's ablations (arXiv 2505.21072) as tables, from the score matrix alone.

Every data set is fitted on its own training rows, figures are means over the data sets' test rows,
seeds are fixed: the same matrix gives the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from franq_bench.fits.alone import calibrated_alone
from franq_bench.fits.by_faithfulness import by_faithfulness, p_faithful_table
from franq_bench.fits.calibrations import (
    faithfulness_calibration,
    has_gold,
    pooled,
    thresholded,
)
from franq_bench.fits.chosen import chosen_table
from franq_bench.fits.fallback import fallback_table
from franq_bench.fits.first_tree import first_tree
from franq_bench.fits.fitted import SIGNALS
from franq_bench.fits.grid import faithfulness_inputs, uq_grid
from franq_bench.fits.held_out import held_out
from franq_bench.fits.one_change import one_change
from franq_bench.fits.own_signals import own_signals_table
from franq_bench.fits.training_size import training_sizes
from franq_bench.fits.variants import fitted
from franq_bench.tables.scores import Scores
from franq_guard.report.tables import Table

__all__ = ["ablation_tables"]


def ablation_tables(
    scores: Scores,
    *,
    signals: Sequence[str] = SIGNALS,
    draws: int = 10,
    resamples: int = 200,
    faithful_above: float = 0.5,
    samples: int = 10,
) -> list[Table]:
    """Every ablation that applies to a score matrix; :mod:`.robustness` takes several of them.

    Args:
        scores: raw methods, train and test rows; gold faithfulness where there is some.
        signals: methods that serve as P_faithful, UQ_faith and UQ_unfaith.
        draws: of training rows, for each training size.
        resamples: of the bootstrap.
        faithful_above: the run's P_faithful above which a row is faithful, for the table of
            fallbacks; the ablations themselves have 0.5, each changing one thing.
        samples: of each question.

    Returns:
        Tables in the order of a report; without training rows only the histogram of P_faithful,
        without test rows none.
    """
    splits = {row.split for row in scores.rows}
    if "test" not in splits:
        return []
    histogram = p_faithful_table(scores, faithfulness=signals[0])
    if "train" not in splits:
        return [histogram]
    whole = fitted(scores, signals)
    options: Any = {"signals": signals, "resamples": resamples}
    tables = [fallback_table(scores, signals=signals, faithful_above=faithful_above)]
    tables += one_change(scores, samples=samples, **options)
    tables += [*uq_grid(scores, signals=signals), *faithfulness_inputs(scores, **options)]
    tables += own_signals_table(scores, resamples=resamples)
    tables += [*chosen_table(scores, **options), *calibrated_alone(whole, **options)]
    tables.append(thresholded(scores, **options))
    if has_gold(scores):
        tables.append(faithfulness_calibration(scores, **options))
    tables += training_sizes(scores, draws=draws, signals=signals)
    tables += [*by_faithfulness(whole, **options), histogram]
    tables += held_out(scores, whole, resamples=resamples)
    if len(scores.datasets) > 1:
        tables.append(pooled(scores, **options))
    return [*tables, first_tree(scores), first_tree(scores, features=signals)]
