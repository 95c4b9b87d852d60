"""Calibrates each method alone, as FRANQ does in its branches: the effect of isotonic regression.

Isotonic regression maps wide ranges of a score to one value, so rows in such a range are tied and
no longer ranked; with fewer training rows the ranges are wider. Compare FRANQ's calibrated figures
with these, not only with those of raw scores.
"""

from __future__ import annotations

from collections.abc import Sequence

from franq_bench.fits.fitted import SIGNALS, matrix
from franq_bench.fits.variants import (
    Fit,
    Values,
    franq_model,
    judged,
    known,
    mean_rows,
    measured,
    raw,
)
from franq_bench.tables.layout import METRIC_TITLES, Figure, figures_table
from franq_bench.tables.method_names import order, title
from franq_bench.tables.results import Row
from franq_bench.tables.scores import Score, Scores
from franq_guard.report.tables import Column, Table

__all__ = ["calibrated_alone"]

_FRANQ = "franq-condition"
_RANKING = ("prr", "pr_auc")
_AFTER = (*_RANKING, "ece")


def calibrated_alone(
    whole: Scores, *, signals: Sequence[str] = SIGNALS, resamples: int = 200
) -> list[Table]:
    """Ranking of every method before and after isotonic regression, and its ECE after.

    Args:
        whole: raw and fitted methods, train and test rows.
        signals: the first is P_faithful; it has no weight here.
        resamples: of the bootstrap.

    Returns:
        One table; none if a test row lacks P_faithful or condition-calibrated FRANQ.
    """
    bare = raw(whole)
    if not measured(bare, signals[:1]) or not measured(whole, [_FRANQ]):
        return []
    methods = order(measured(bare, bare.methods))
    before = mean_rows(whole, resamples=resamples)
    after = judged(bare, {m: _isotonic(m, signals[0]) for m in methods}, resamples=resamples)
    figures = {m: _figures(before[m], after[m]) for m in methods}
    own = before[_FRANQ]
    figures[_FRANQ] = [*((None, None) for _ in _RANKING), *(own.figure(m) for m in _AFTER)]
    return [
        figures_table(
            "calibrated-alone",
            "Each method alone, before and after isotonic regression",
            [
                Column("method"),
                *(Column(METRIC_TITLES[m], "higher") for m in _RANKING),
                *(Column(f"{METRIC_TITLES[m]}, calibrated", "higher") for m in _RANKING),
                Column(f"{METRIC_TITLES['ece']}, calibrated", "lower"),
            ],
            figures,
            families=True,
            note=f"Fitted on all of each data set's training rows; means over the data sets' test "
            f"rows. {title(_FRANQ)} stands below for comparison. ± is a bootstrap standard error "
            "over test rows, with the fit held fixed.",
        )
    ]


def _isotonic(method: str, p_faithful: str) -> Fit:
    """A method's own curve, fitted on all training rows as FRANQ's branches are."""
    signals = (p_faithful, method, method)

    def fit(train: Sequence[Score], test: Sequence[Score]) -> Values:
        model = franq_model(train, signals, calibration="global")
        if model is None or not test:
            return [None] * len(test)
        # Take f itself: P * f + (1 - P) * f equals it, but rounding errors would break its ties.
        return known(model.calibrator_.apply(*matrix(test, signals).T)[1])

    return fit


def _figures(before: Row, after: Row) -> list[Figure]:
    return [*(before.figure(m) for m in _RANKING), *(after.figure(m) for m in _AFTER)]
