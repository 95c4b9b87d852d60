"""Refits the fitted methods from a score matrix, without models or texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from franq_bench.fits import long_form, short_form
from franq_bench.fits.fitted import with_fitted
from franq_bench.long.tables import unfaithful_of
from franq_bench.tables.results import Results, metric_rows
from franq_bench.tables.scores import Scores
from franq_bench.tables.summary import form_of

__all__ = ["refitted"]

_KEPT = ("claims", "p-faithful", "runtime", "unfaithful-")
"""How the names of tables begin that stay: most need more than scores (runtime, texts)."""


def refitted(results: Results, scores: Scores) -> tuple[Results, Scores]:
    """Refit FRANQ and XGBoost; recompute their figures, the ablations and the unfaithful claims'.

    Args:
        results: results of a benchmark, whose settings name the signals. Tables that cannot be
            computed from scores (runtime, counts of claims) are kept, other tables that no fit
            makes are not.
        scores: the score matrix of the same run.

    Raises:
        ValueError: if the settings name no signals.
    """
    signals = results.settings.get("signals")
    if not signals:
        raise ValueError("results.json names no signals: it is of no run that fits FRANQ")
    long = form_of(results) == "long"
    above = float(results.settings.get("threshold_faithful", 0.5))
    fitted = with_fitted(scores, signals=signals, log_space=long, faithful_above=above)
    samples = int(results.settings.get("generation.samples", 10))
    options: dict[str, Any] = {"signals": signals, "faithful_above": above}
    if long:
        made = long_form.ablation_tables(fitted, **options)
    else:
        made = short_form.ablation_tables(fitted, samples=samples, **options)
    tables = {table.name: table for table in made}
    seed = int(results.settings.get("seed", 0))
    # Unfaithful claims stay where they stand, among the tables that are kept.
    shown = unfaithful_of(_unfaithful(results), fitted, seed=seed, **options)
    again = {table.name: table for table in shown}
    kept = tuple(
        again.get(table.name, table)
        for table in results.tables
        if table.name not in tables and table.name.startswith(_KEPT)
    )
    rows = tuple(metric_rows(fitted, seed=seed))
    return replace(results, rows=rows, tables=(*tables.values(), *kept)), fitted


def _unfaithful(results: Results) -> dict[str, str]:
    """What a true claim is, by data set: those with a table of unfaithful claims."""
    said = str(results.settings.get("target", "")).split("; ")
    targets = {name: target for name, _, target in (part.rpartition(": ") for part in said)}
    there = {table.name for table in results.tables}
    return {name: of for name, of in targets.items() if f"unfaithful-{name}" in there}
