"""Compares the signals that FRANQ can combine: pairs of uncertainties, and inputs of P_faithful.

The first comparison is the paper's grid. The second is ours: the paper's P_faithful is of question
and answer together. Most words of a question occur in the passages, which might raise the score of
an answer that does not follow from them; so P_faithful of the answer alone is tried too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from franq_bench.fits.fallback import fallback_note, fell_back
from franq_bench.fits.fitted import SIGNALS
from franq_bench.fits.variants import Fit, franq, judged, mean_rows, measured, raw
from franq_bench.tables.layout import (
    METRIC_TITLES,
    figures_table,
    metric_columns,
    metric_figures,
)
from franq_bench.tables.method_names import title
from franq_bench.tables.results import Row
from franq_bench.tables.scores import Scores
from franq_guard.calibration.store import Calibration
from franq_guard.report.tables import Cell, Column, Table, number

__all__ = ["GRID", "faithfulness_inputs", "uq_grid"]

GRID = (
    "max-probability",
    "perplexity",
    "mean-token-entropy",
    "p-true",
    "lexical-rougeL",
    "degree-entail",
    "eigenvalues-entail",
    "semantic-entropy",
    "normalized-monte-carlo-entropy",
    "max-nli",
    "parametric-knowledge",
)
"""Methods tried both as UQ_faith and as UQ_unfaith."""

_METRICS = ("prr", "pr_auc")
_ASKED = {"faithfulness": "question and answer", "faithfulness-answer": "answer alone"}


def uq_grid(
    scores: Scores,
    *,
    methods: Sequence[str] = GRID,
    signals: Sequence[str] = SIGNALS,
    log_space: bool = False,
) -> list[Table]:
    """Condition-calibrated FRANQ for each pair of methods: mean PRR and mean PR-AUC.

    Args:
        scores: raw methods, train and test rows.
        methods: tried as UQ_faith and as UQ_unfaith; those left out that some test row lacks.
        signals: the first is P_faithful; the others are the pair the note compares with.
        log_space: the methods' scores are log-probabilities (the long form).

    Returns:
        Two tables (rows UQ_faith, columns UQ_unfaith); none where no method is measured.
    """
    bare = raw(scores)
    there = measured(bare, methods)
    pairs = {f"{a}|{b}": (a, b) for a in there for b in there}
    options: Any = {"log_space": log_space}
    variants = {key: franq((signals[0], *pair), **options) for key, pair in pairs.items()}
    found = judged(bare, variants)
    rows = {pairs[key]: row for key, row in found.items()}
    own = (signals[1], signals[2])
    # A branch's curve depends on P_faithful and on its own method alone.
    fell = {title(m): fell_back(bare, (signals[0], m, m), **options) for m in there}
    return [_table(metric, there, rows, own, fallback_note(fell)) for metric in _METRICS if there]


def faithfulness_inputs(
    scores: Scores, *, signals: Sequence[str] = SIGNALS, resamples: int = 200
) -> list[Table]:
    """Compare P_faithful of question and answer with that of the answer alone, also within FRANQ.

    Args:
        scores: raw methods, train and test rows.
        signals: three methods; the second and third are used as UQ_faith and UQ_unfaith.
        resamples: of the bootstrap.

    Returns:
        One table; none where a test row lacks either.
    """
    bare = raw(scores)
    asked = measured(bare, _ASKED)
    if len(asked) < len(_ASKED):
        return []
    alone = mean_rows(bare, resamples=resamples)
    variants: dict[str, Fit] = {
        f"{title(f'franq-{name}')}: {_ASKED[p]}": franq((p, *signals[1:]), calibration=name)
        for name in get_args(Calibration)
        for p in asked
    }
    found = judged(bare, variants, resamples=resamples)
    fell = {f"P_faithful of {_ASKED[p]}": fell_back(bare, (p, *signals[1:])) for p in asked}
    found |= {f"P_faithful by itself: {_ASKED[p]}": alone[p] for p in asked}
    table = figures_table(
        "faithfulness-inputs",
        "What P_faithful is asked: question and answer, or the answer alone",
        metric_columns("variant"),
        metric_figures(found, sorted(found, key=lambda name: name in variants)),
        note="Fitted on each data set's training rows; means over the data sets' test rows. ± is a "
        "bootstrap standard error over test rows, with the fit held fixed. "
        f"{fallback_note(fell)}",
    )
    return [table]


def _table(
    metric: str,
    methods: Sequence[str],
    rows: dict[tuple[str, str], Row],
    own: tuple[str, str],
    fell: str,
) -> Table:
    values = {pair: row.figure(metric)[0] for pair, row in rows.items()}
    cells: list[tuple[Cell, ...]] = [
        (title(a), *(values.get((a, b)) for b in methods)) for a in methods
    ]
    return Table(
        name=f"uq-grid-{metric.replace('_', '-')}",
        title=f"FRANQ by UQ_faith (rows) and UQ_unfaith (columns): mean {METRIC_TITLES[metric]}",
        columns=(Column("UQ_faith"), *(Column(title(m), "higher") for m in methods)),
        rows=tuple(cells),
        note=f"{_note(values, own)} {fell}",
    )


def _note(values: dict[tuple[str, str], float | None], own: tuple[str, str]) -> str:
    text = (
        "Condition-calibrated FRANQ, fitted on each data set's training rows; means over the data "
        "sets' test rows. Methods that some test row lacks are left out."
    )
    known = {pair: value for pair, value in values.items() if value is not None}
    if not known:
        return text
    best = max(known, key=lambda pair: known[pair])
    text += (
        f" Highest: {title(best[0])} with {title(best[1])}, {number(known[best])}, found on the "
        "test rows, so it flatters itself."
    )
    if own in known:
        text += f" The pair in use, {title(own[0])} with {title(own[1])}: {number(known[own])}."
    return text
