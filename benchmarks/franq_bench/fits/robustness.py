"""Compares the main methods with good and with failed retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from franq_bench.fits.fallback import fallback_note, fell_back
from franq_bench.fits.fitted import FITTED, SIGNALS, with_fitted
from franq_bench.fits.paper_form import as_paper_said
from franq_bench.fits.variants import franq, mean_rows, raw, with_variants
from franq_bench.tables.beside import beside_spoiled
from franq_bench.tables.layout import METRIC_TITLES, figures_table
from franq_bench.tables.method_names import PRIMARY, order, title
from franq_bench.tables.results import Row
from franq_bench.tables.scores import Score, Scores
from franq_guard.report.tables import Column, Table

__all__ = ["METHODS", "Setting", "robustness"]

METHODS = (
    "max-probability",
    "mean-token-entropy",
    "max-token-entropy",
    "ccp:lm-polygraph",
    "p-true",
    "lexical-rougeL",
    "degree-entail",
    "eigenvalues-entail",
    "semantic-entropy",
    "semantic-entropy:lm-polygraph",
    "sentence-sar",
    "sar",
    "parametric-knowledge",
    "faithfulness",
    *FITTED,
)
"""Methods whose figures are compared: those of the paper's table, and the best of ours."""

_TRIED = ("semantic-entropy", "parametric-knowledge")
_METRICS = ("prr", "pr_auc")


@dataclass(frozen=True, slots=True)
class Setting:
    """A run under one setting.

    Args:
        scores: its matrix, raw methods.
        signals: its P_faithful, UQ_faith and UQ_unfaith.
        faithful_above: its P_faithful above which a row counts as faithful for the two curves.
        titles_shown: whether the prompt of Parametric Knowledge showed the passages' titles.
    """

    scores: Scores
    signals: Sequence[str] = SIGNALS
    faithful_above: float = 0.5
    titles_shown: bool = False

    def pairs(self) -> dict[str, tuple[str, ...]]:
        """The signals with each UQ_faith that is tried under every setting, by the row's name."""
        p_faithful, _, uq_unfaith = self.signals
        return {
            f"{title(PRIMARY)}, {title(m)} as UQ_faith": (p_faithful, m, uq_unfaith) for m in _TRIED
        }


def robustness(named: Mapping[str, Setting], *, resamples: int = 200) -> list[Table]:
    """Mean PRR and PR-AUC of the main methods under each setting, the paper's beside them.

    Fitted methods are refitted on each setting's own training rows with its own signals. FRANQ is
    there with the same UQ_faith everywhere, too: Semantic Entropy, and Parametric Knowledge, which
    the paper uses where passages are corrupted. The means are over the data sets that all have.

    Args:
        named: by setting ("original", "shuffled", "corrupted").
        resamples: of the bootstrap.

    Returns:
        Two tables (rows methods, columns settings); none where no data set is common to all.
    """
    common = _common(named)
    if not common:
        return []
    bare = {name: replace(s, scores=_only(raw(s.scores), common)) for name, s in named.items()}
    found = {name: _figures(setting, resamples) for name, setting in bare.items()}
    there = [m for m in _shown(found) if any(m in rows for rows in found.values())]
    note = (
        f"Means over the test rows of {', '.join(common)}; fitted again on each setting's own "
        f"training rows. {' '.join(_said(*item) for item in bare.items())} Answers differ between "
        "settings, and so do shares of true ones: PR-AUC of a random score is the share of false "
        "ones. ± is a bootstrap standard error over test rows."
    ) + _doubts(named)
    return [_table(metric, found, there, note) for metric in _METRICS]


def _common(named: Mapping[str, Setting]) -> list[str]:
    every = [setting.scores.datasets for setting in named.values()]
    return [name for name in every[0] if all(name in names for names in every)] if every else []


def _only(scores: Scores, datasets: Sequence[str]) -> Scores:
    return Scores(tuple(row for row in scores.rows if row.dataset in datasets))


def _figures(setting: Setting, resamples: int) -> dict[str, Row]:
    above = setting.faithful_above
    fitted = with_fitted(setting.scores, signals=setting.signals, faithful_above=above)
    rows = {(r.dataset, r.id): r for r in fitted.rows}
    variants = {
        name: franq(pair, faithful_threshold=above) for name, pair in setting.pairs().items()
    }
    both: list[Score] = []
    for row in with_variants(setting.scores, variants).rows:
        values = {**rows[row.dataset, row.id].scores, **row.scores}
        kept = {m: values.get(m) for m in (*METHODS, *variants)}
        both.append(Score(row.id, row.dataset, row.split, row.is_true, kept, row.group))
    return mean_rows(Scores(tuple(both)), resamples=resamples)


def _said(name: str, setting: Setting) -> str:
    """A setting's sizes, its signals, its fallback and what its row as in the paper is."""
    rows = setting.scores.rows
    train = sum(row.split == "train" for row in rows)
    test = [row.is_true for row in rows if row.split == "test"]
    named = {"the signals in use": tuple(setting.signals)}
    named |= {title(pair[1]): pair for pair in setting.pairs().values()}
    above = setting.faithful_above
    fell = {
        said: fell_back(setting.scores, pair, faithful_above=above) for said, pair in named.items()
    }
    return (
        f"{name}: {train} training and {len(test)} test rows, {sum(test)} of them true; UQ_faith "
        f"{title(setting.signals[1])}. {fallback_note(fell)} "
        f"{as_paper_said(setting.signals, rows, faithful_above=above)}"
    )


def _doubts(named: Mapping[str, Setting]) -> str:
    shown = [name for name, setting in named.items() if setting.titles_shown]
    if not shown:
        return ""
    return (
        " The prompt of Parametric Knowledge showed the passages' titles, which often are the "
        f"answer, in: {', '.join(shown)}. There its rows, and all rows made of it, are doubtful."
    )


def _shown(found: Mapping[str, Mapping[str, Row]]) -> list[str]:
    """Methods with a figure under some setting, in the order of tables; then the variants."""
    there = {
        method: None
        for rows in found.values()
        for method, row in rows.items()
        if any(row.figure(metric)[0] is not None for metric in _METRICS)
    }
    return [*order(m for m in METHODS if m in there), *(m for m in there if m not in METHODS)]


def _table(
    metric: str, found: Mapping[str, Mapping[str, Row]], methods: Sequence[str], note: str
) -> Table:
    table = figures_table(
        f"robustness-{metric.replace('_', '-')}",
        f"Failed retrieval: mean {METRIC_TITLES[metric]}",
        [Column("method"), *(Column(setting, "higher") for setting in found)],
        {m: [rows[m].figure(metric) for rows in found.values()] for m in methods},
        note=note,
    )
    return beside_spoiled(table, metric)
