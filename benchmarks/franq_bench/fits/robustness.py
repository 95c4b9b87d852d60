"""Compares the main methods with good and with failed retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from franq_bench.fits.fallback import fallback_note, fell_back
from franq_bench.fits.fitted import FITTED, SIGNALS, with_fitted
from franq_bench.fits.variants import franq, mean_rows, raw, with_variants
from franq_bench.tables.layout import METRIC_TITLES, figures_table
from franq_bench.tables.method_names import order, title
from franq_bench.tables.results import Row
from franq_bench.tables.scores import Score, Scores
from franq_guard.report.tables import Column, Table

__all__ = ["METHODS", "robustness"]

METHODS = (
    "max-probability",
    "max-token-entropy",
    "p-true",
    "semantic-entropy",
    "eigenvalues-entail",
    "sar",
    "parametric-knowledge",
    "faithfulness",
    *FITTED,
)
"""Methods whose figures are compared."""

_KNOWLEDGE = "parametric-knowledge"
_WITH_KNOWLEDGE = (SIGNALS[0], _KNOWLEDGE, SIGNALS[2])
_VARIANT = f"{title('franq-condition')}, {title(_KNOWLEDGE)} as UQ_faith"
_METRICS = ("prr", "pr_auc")


def robustness(named: Mapping[str, Scores], *, resamples: int = 200) -> list[Table]:
    """Mean PRR and PR-AUC of the main methods under each setting.

    FRANQ is listed twice: with the pair of methods in use, and with Parametric Knowledge as
    UQ_faith, which the paper uses for corrupted passages. Fitted methods are refitted on each
    setting's own training rows; the means are over the data sets that all settings have.

    Args:
        named: score matrices by setting ("original", "shuffled", "corrupted"), raw methods.
        resamples: of the bootstrap.

    Returns:
        Two tables (rows methods, columns settings); none where no data set is common to all.
    """
    common = _common(named)
    if not common:
        return []
    bare = {name: _only(raw(scores), common) for name, scores in named.items()}
    found = {name: _figures(scores, resamples) for name, scores in bare.items()}
    there = [m for m in _shown(found) if any(m in rows for rows in found.values())]
    note = (
        f"Means over the test rows of {', '.join(common)}; fitted again on each setting's own "
        f"training rows. {' '.join(_size(*item) for item in bare.items())} Answers differ between "
        "settings, and so do shares of true ones: PR-AUC of a random score is the share of false "
        "ones. ± is a bootstrap standard error over test rows. "
    ) + " ".join(f"{name}: {_fell_back(rows)}" for name, rows in bare.items())
    return [_table(metric, found, there, note) for metric in _METRICS]


def _common(named: Mapping[str, Scores]) -> list[str]:
    first = next(iter(named.values()), Scores(()))
    return [name for name in first.datasets if all(name in s.datasets for s in named.values())]


def _only(scores: Scores, datasets: Sequence[str]) -> Scores:
    return Scores(tuple(row for row in scores.rows if row.dataset in datasets))


def _figures(scores: Scores, resamples: int) -> dict[str, Row]:
    rows = {(r.dataset, r.id): r for r in with_fitted(scores, signals=SIGNALS).rows}
    both: list[Score] = []
    for row in with_variants(scores, {_VARIANT: franq(_WITH_KNOWLEDGE)}).rows:
        values = {**rows[row.dataset, row.id].scores, **row.scores}
        kept = {m: values.get(m) for m in (*METHODS, _VARIANT)}
        both.append(Score(row.id, row.dataset, row.split, row.is_true, kept, row.group))
    return mean_rows(Scores(tuple(both)), resamples=resamples)


def _fell_back(scores: Scores) -> str:
    pairs = {"the pair in use": SIGNALS, title(_KNOWLEDGE): _WITH_KNOWLEDGE}
    return fallback_note({name: fell_back(scores, pair) for name, pair in pairs.items()})


def _shown(found: Mapping[str, Mapping[str, Row]]) -> list[str]:
    """Methods with a figure under some setting, in the order of tables."""
    there = {
        method
        for rows in found.values()
        for method, row in rows.items()
        if any(row.figure(metric)[0] is not None for metric in _METRICS)
    }
    return [*order(m for m in METHODS if m in there), *({_VARIANT} & there)]


def _size(setting: str, scores: Scores) -> str:
    train = sum(row.split == "train" for row in scores.rows)
    test = [row.is_true for row in scores.rows if row.split == "test"]
    return f"{setting}: {train} training and {len(test)} test rows, {sum(test)} of them true."


def _table(
    metric: str, found: Mapping[str, Mapping[str, Row]], methods: Sequence[str], note: str
) -> Table:
    return figures_table(
        f"robustness-{metric.replace('_', '-')}",
        f"Failed retrieval: mean {METRIC_TITLES[metric]}",
        [Column("method"), *(Column(setting, "higher") for setting in found)],
        {m: [rows[m].figure(metric) for rows in found.values()] for m in methods},
        note=note,
    )
