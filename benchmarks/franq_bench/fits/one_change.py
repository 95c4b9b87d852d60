"""What decides: FRANQ as the paper has it, then with one thing changed in each row.

The first row is the method ``franq-condition-alone``. The paper's Semantic Entropy keeps the
duplicates among the samples, as its library does: that row has this form where it was measured, and
ours, which counts each once, is one of the changes.

Every row is fitted on each data set's own training rows and judged on its test rows, beside the
first row on the same bootstrap resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from franq_bench.fits.fallback import fallback_note, fell_back
from franq_bench.fits.fitted import SIGNALS, matrix
from franq_bench.fits.paper_form import as_paper, whose
from franq_bench.fits.reciprocal import has_reciprocal, reciprocal
from franq_bench.fits.variants import (
    LOGARITHMS,
    Fit,
    Values,
    fitted_on,
    franq,
    in_logarithms,
    known,
    mean_rows,
    of_method,
    raw,
    with_variants,
)
from franq_bench.fits.xgboost import xgboost_classifier
from franq_bench.tables.layout import METRIC_TITLES
from franq_bench.tables.method_names import title
from franq_bench.tables.results import Row
from franq_bench.tables.scores import Score, Scores
from franq_bench.tables.significance import difference_with_interval, drawn_means
from franq_guard.report.tables import Cell, Column, Table
from franq_guard.signals.components import OWN

__all__ = ["changed_line", "changes", "one_change"]

_METRICS = ("prr", "pr_auc", "ece")
_OTHER_SPLITS = (0.3, 0.7)
"""P(faithful) above which a claim counts as faithful, in place of 0.5."""

_OWN = OWN.uq_faith
"""What the calibrator shipped for long answers of the bundled model weighs, in both branches."""

_OTHER_TREES: Mapping[str, Mapping[str, Any]] = {
    "50 of depth 2": {"n_estimators": 50, "max_depth": 2},
    "XGBoost's own settings": dict.fromkeys(
        ("n_estimators", "max_depth", "learning_rate", "subsample")
    ),
}
"""Settings of XGBoost in place of ours; None is its own default (100 trees of depth 6, rate .3)."""


def one_change(
    scores: Scores,
    *,
    signals: Sequence[str] = SIGNALS,
    resamples: int = 200,
    log_space: bool = False,
    samples: int = 10,
) -> list[Table]:
    """FRANQ by the paper's rule, and what one change does to its figures.

    Args:
        scores: raw methods, train and test rows.
        signals: P_faithful, UQ_faith and UQ_unfaith.
        resamples: of the paired bootstrap.
        log_space: the latter two are log-probabilities (the long form).
        samples: of each question (the short form).

    Returns:
        One table; none where the paper's rule cannot be fitted.
    """
    bare = raw(scores)
    signals = as_paper(signals, bare.rows)
    variants = changes(bare, signals, log_space, samples)
    made = with_variants(bare, variants)
    rows = mean_rows(made)
    base = next(iter(variants))
    if rows[base].prr is None:
        return []
    there = [name for name in variants if rows[name].prr is not None]
    means = drawn_means(made, resamples=resamples)
    lines = [changed_line(name, base, rows, means, _METRICS) for name in there]
    fell = fallback_note({"": fell_back(bare, signals, log_space=log_space)})
    return [_table(lines, fell)]


def changes(
    scores: Scores, signals: Sequence[str], log_space: bool, samples: int = 10
) -> dict[str, Fit]:
    """The variants by what is changed; the first one is what they are compared with.

    Fewer training rows are not among them: one draw says little, and the tables by number of
    training rows have ten.
    """
    options: Any = {"log_space": log_space}
    alone: Any = {"min_per_class": 0, **options}
    there = set(scores.methods)
    base = f"as {whose(signals)} has it: condition-calibrated, no fallback"
    made: dict[str, Fit] = {base: franq(signals, **alone)}
    for method, words in (
        ("franq-condition", "calibration: the global curve where a condition has few labels"),
        ("franq-global", "calibration: one curve for all rows (global)"),
        ("franq-none", "calibration: none"),
        ("franq-learned", "calibration: learned, a logistic function in each branch"),
        ("logistic-franq", "no formula: the three signals added up (logistic regression)"),
        ("xgboost-franq", "no formula: trees of the three signals (XGBoost)"),
    ):
        made[words] = of_method(method, signals, log_space=log_space)
    for words, settings in _OTHER_TREES.items():
        made[f"the same trees, {words}"] = _trees(signals, settings)
    made["no uncertainty: P(faithful) alone"] = _unchanged(signals[0])
    if not log_space and _OWN in there:
        words = f"calibration: learned, and both uncertainties {title(_OWN)}"
        made[words] = of_method("franq-learned", (signals[0], _OWN, _OWN))
    if not log_space and any(map(has_reciprocal, signals)):
        in_use = f"exp(-SE), 1 - (V - 1) / {samples - 1}"
        made[f"calibration: none, and 1 / (1 + SE), 1 / V instead of {in_use}"] = _mapped(
            samples, of_method("franq-none", signals)
        )
    made["P_faithful: cut at 0.5"] = franq(signals, hard_faithfulness=True, **alone)
    for above in _OTHER_SPLITS:
        split = franq(signals, faithful_threshold=above, **alone)
        made[f"claims that count as faithful for the two curves: above {above}"] = split
    if "faithfulness-answer" in there:
        asked = ("faithfulness-answer", *signals[1:])
        made["P_faithful: of the answer alone"] = franq(asked, **alone)
    for place, method in _other_signals(signals, there, log_space):
        changed = [*signals]
        changed[place] = method
        name = ("P_faithful", "UQ_faith", "UQ_unfaith")[place]
        fit = franq(changed, **alone)
        confidences = log_space and place > 0 and method not in {*LOGARITHMS, *signals}
        made[f"{name}: {title(method)}"] = _logged(method, fit) if confidences else fit
    every = tuple(row for row in scores.rows if row.split == "train")
    if len(scores.datasets) > 1:
        made["training rows: those of all data sets together"] = fitted_on(
            every, franq(signals, **alone)
        )
    return made


def _other_signals(
    signals: Sequence[str], there: set[str], log_space: bool
) -> list[tuple[int, str]]:
    """(place, method) of the other signals that are tried, as far as they were measured."""
    wanted: tuple[tuple[int, str], ...] = (
        (0, "max-nli"),
        (1, "max-token-entropy"),
        (2, "max-token-entropy"),
    )
    if log_space:
        wanted += ((1, "max-nli"), (1, "ccp"), (2, "max-probability"))
    else:
        wanted += (
            (1, "semantic-entropy"),
            (1, "parametric-knowledge"),
            (2, "parametric-knowledge"),
            (2, "degree-entail"),
        )
    return [
        (at, method)
        for at, method in sorted(wanted, key=lambda pair: pair[0])
        if method in there and signals[at] != method
    ]


def _trees(signals: Sequence[str], settings: Mapping[str, Any]) -> Fit:
    """XGBoost on the three signals with other settings than ours."""

    def of(train: Sequence[Score], test: Sequence[Score]) -> Values:
        labels = np.array([row.is_true for row in train], int)
        if not test or len(set(labels.tolist())) < 2:
            return [None] * len(test)
        model = xgboost_classifier(**settings).fit(matrix(train, signals), labels)
        return known(model.predict_proba(matrix(test, signals))[:, 1])

    return of


def _unchanged(method: str) -> Fit:
    """A method's scores as they are: nothing is fitted."""

    def of(_: Sequence[Score], test: Sequence[Score]) -> Values:
        return [row.scores.get(method) for row in test]

    return of


def _logged(method: str, fit: Fit) -> Fit:
    """The variant with the method's confidences as log-probabilities, as the long form has them."""
    return lambda train, test: fit(*(in_logarithms(rows, [method]) for rows in (train, test)))


def _mapped(samples: int, fit: Fit) -> Fit:
    """The variant with the other mapping of Semantic Entropy and the Sum of Eigenvalues."""

    def of(rows: Sequence[Any]) -> list[Any]:
        return [
            replace(
                row,
                scores={
                    m: None if v is None else reciprocal(m, v, samples=samples)
                    for m, v in row.scores.items()
                },
            )
            for row in rows
        ]

    return lambda train, test: fit(of(train), of(test))


def changed_line(
    name: str,
    base: str,
    rows: Mapping[str, Row],
    means: Mapping[str, Mapping[str, Any]],
    metrics: Sequence[str],
) -> tuple[Cell, ...]:
    """A row of a table: a variant's figures, each beside how it differs from the first variant's.

    Args:
        name: the variant.
        base: the first one.
        rows: mean figures by variant.
        means: those of each resample, :func:`~franq_bench.tables.significance.drawn_means`.
        metrics: the columns.
    """
    cells: list[Cell] = [name]
    for metric in metrics:
        own, first = rows[name].figure(metric)[0], rows[base].figure(metric)[0]
        cells.append(own)
        if own is None or first is None or name == base:
            cells.append(None)
        else:
            drawn = means[metric]
            spread = drawn[name] - drawn[base] if drawn else np.empty(0)
            cells.append(difference_with_interval(own - first, spread))
    return tuple(cells)


def _table(lines: Sequence[tuple[Cell, ...]], fell: str) -> Table:
    columns = [Column("what is changed")]
    for metric in _METRICS:
        columns.append(Column(METRIC_TITLES[metric], "lower" if metric == "ece" else "higher"))
        columns.append(Column(f"change of {METRIC_TITLES[metric]}"))
    return Table(
        name="one-change",
        title="What decides: one thing changed at a time",
        columns=tuple(columns),
        rows=tuple(lines),
        note="Each fitted on the data sets' own training rows; means over their test rows. Changes "
        "are against the first row, in brackets 95 % intervals of the paired bootstrap, * where "
        "they leave zero out; no correction for the number of comparisons. Only the row that says "
        "so takes the global curve for want of labels; the others take it where a condition has no "
        f"row at all. {fell}",
    )
