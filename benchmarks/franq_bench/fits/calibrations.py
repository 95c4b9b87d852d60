"""Ablations of FRANQ's calibration: T = 0.5, gold faithfulness, one fit for all data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from franq_bench.fits.fallback import UNFITTED, Fell, fallback_note, fallback_of, fell_back
from franq_bench.fits.fitted import FRANQ, SIGNALS, features_of, matrix
from franq_bench.fits.paper_form import as_paper, as_paper_said
from franq_bench.fits.variants import (
    Fit,
    Values,
    fitted_on,
    franq,
    franq_model,
    judged,
    predicted,
    raw,
)
from franq_bench.tables.beside import CUT, NO_FALLBACK
from franq_bench.tables.layout import figures_table, metric_columns, metric_figures
from franq_bench.tables.method_names import title
from franq_bench.tables.scores import GOLD, Score, Scores
from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.metrics.measures import ece
from franq_guard.report.tables import Column, Table

__all__ = ["faithfulness_calibration", "has_gold", "pooled", "thresholded"]

_ERRORS = "± is a bootstrap standard error over test rows, with the fit held fixed."
_FITTED = "Fitted on each data set's training rows; means over the data sets' test rows."


def thresholded(
    scores: Scores,
    *,
    signals: Sequence[str] = SIGNALS,
    resamples: int = 200,
    log_space: bool = False,
) -> Table:
    """Compare P_faithful as it is with P_faithful cut at T = 0.5, for every calibration.

    Args:
        scores: raw methods, train and test rows.
        signals: P_faithful, UQ_faith and UQ_unfaith.
        resamples: of the bootstrap.
        log_space: the latter two are log-probabilities (the long form).
    """
    bare = raw(scores)
    variants: dict[str, Fit] = {}
    for name, own in FRANQ.items():
        options: dict[str, Any] = {**own, "log_space": log_space}
        given = features_of(name, bare.rows, signals)
        variants[title(name)] = franq(given, **options)
        variants[f"{title(name)}{CUT}"] = franq(given, hard_faithfulness=True, **options)
    found = judged(bare, variants, resamples=resamples)
    fell = fallback_note({"": fell_back(bare, signals, log_space=log_space)})
    return figures_table(
        "thresholded",
        "Faithfulness thresholded at T = 0.5 against P_faithful as it is",
        metric_columns("variant"),
        metric_figures(found, found),
        note=f"With T, P_faithful enters the formula as 1 above 0.5 and 0 up to it. {_FITTED} "
        f"{_ERRORS} {fell} {as_paper_said(signals, bare.rows)}",
    )


def pooled(scores: Scores, *, signals: Sequence[str] = SIGNALS, resamples: int = 200) -> Table:
    """One FRANQ fitted on all data sets' training rows together, against one per data set.

    Args:
        scores: raw methods, train and test rows.
        signals: P_faithful, UQ_faith and UQ_unfaith.
        resamples: of the bootstrap.
    """
    bare = raw(scores)
    every = [row for row in bare.rows if row.split == "train"]
    variants: dict[str, Fit] = {}
    for name in ("condition", "global"):
        own = franq(signals, calibration=name)
        variants[f"{title(f'franq-{name}')}: a fit per data set"] = own
        variants[f"{title(f'franq-{name}')}: one fit for all"] = fitted_on(every, own)
    found = judged(bare, variants, resamples=resamples)
    fell = {
        "a fit per data set": fell_back(bare, signals),
        "one fit for all": {"all data sets together": fallback_of(every, signals)},
    }
    return figures_table(
        "pooled",
        "One fit for all data sets against one per data set",
        metric_columns("variant"),
        metric_figures(found, found),
        note=f"One fit: on the training rows of all data sets together ({len(every)} rows). Each "
        f"is judged per data set; means over the data sets' test rows. {_ERRORS} "
        f"{fallback_note(fell)}",
    )


def has_gold(scores: Scores) -> bool:
    """Whether train and test rows carry gold faithfulness."""
    return {"train", "test"} <= {r.split for r in scores.rows if r.scores.get(GOLD) is not None}


def faithfulness_calibration(
    scores: Scores,
    *,
    signals: Sequence[str] = SIGNALS,
    resamples: int = 200,
    log_space: bool = False,
) -> Table:
    """P_faithful calibrated to gold faithfulness against P_faithful as it is (condition FRANQ).

    One thing changes at a time: first, gold labels decide which rows count as faithful when the two
    branches are fitted; then P_faithful is calibrated to the gold labels too. Each stands twice:
    with the fallback of condition-calibrated FRANQ, and by the paper's rule, without one.

    Args:
        scores: raw methods and, as :data:`~franq_bench.tables.scores.GOLD`, gold
            faithfulness; rows without it are left out.
        signals: P_faithful, UQ_faith and UQ_unfaith.
        resamples: of the bootstrap.
        log_space: the latter two are log-probabilities (the long form).

    Raises:
        ValueError: where no training or no test row carries gold faithfulness.
    """
    if not has_gold(scores):
        raise ValueError(f"no gold faithfulness: train and test rows need the score {GOLD!r}")
    rows = Scores(tuple(row for row in scores.rows if row.scores.get(GOLD) is not None))
    papers = as_paper(signals, rows.rows)
    models: dict[str, _Fitter] = {}
    for rule, given, alone in (("", signals, False), (NO_FALLBACK, papers, True)):
        own: Any = {"log_space": log_space, "alone": alone}
        by_gold = "branches by gold faithfulness"
        models[f"as it is{rule}"] = _Fitter(given, **own)
        models[f"as it is, {by_gold}{rule}"] = _Fitter(given, **own, gold=True)
        models[f"calibrated, {by_gold}{rule}"] = _Fitter(given, **own, gold=True, calibrate=True)
    variants = {name: model.values for name, model in models.items()}
    found = judged(rows, variants, resamples=resamples)
    fell = {
        f"branches by {'gold faithfulness' if model.gold else 'P_faithful'}": model.fell_back(rows)
        for model in models.values()
        if not model.alone
    }
    figures = metric_figures(found, found)
    for name, model in models.items():
        figures[name].append((_faithful_ece(rows, model), None))
    return figures_table(
        "faithfulness-calibration",
        "P_faithful calibrated to gold faithfulness against P_faithful as it is",
        [*metric_columns("P_faithful"), Column("ECE of P_faithful", "lower")],
        figures,
        note="Condition-calibrated FRANQ on the rows with gold faithfulness. Last column: ECE of "
        f"P_faithful against gold faithfulness, mean over the data sets. {_FITTED} {_ERRORS} "
        f"{fallback_note(fell)}",
    )


@dataclass(frozen=True, slots=True)
class _Fitter:
    """Condition-calibrated FRANQ; ``gold``: branches by gold labels; ``alone``: no fallback."""

    signals: Sequence[str]
    log_space: bool
    gold: bool = False
    calibrate: bool = False
    alone: bool = False

    def model(self, train: Sequence[Score]) -> FranqClassifier | None:
        return franq_model(
            train,
            self.signals,
            faithful=matrix(train, [GOLD])[:, 0] if self.gold else None,
            log_space=self.log_space,
            calibrate_faithfulness=self.calibrate,
            **({"min_per_class": 0} if self.alone else {}),
        )

    def fell_back(self, rows: Scores) -> Fell:
        made = {name: self.model(rows.part(name, "train").rows) for name in rows.datasets}
        return {name: model.fallback_ if model else UNFITTED for name, model in made.items()}

    def values(self, train: Sequence[Score], test: Sequence[Score]) -> Values:
        return predicted(self.model(train), test, self.signals)


def _faithful_ece(rows: Scores, fitter: _Fitter) -> float | None:
    """Mean over the data sets with a fit; None if there are none, or a row lacks P_faithful."""
    gaps = []
    for name in rows.datasets:
        train, test = rows.part(name, "train"), rows.part(name)
        model = fitter.model(train.rows)
        p = test.of_method(fitter.signals[0])
        if model is None or not len(p):
            continue
        if np.isnan(p).any():
            return None
        gaps.append(ece(test.of_method(GOLD), model.calibrator_.weight(p)))
    return float(np.mean(gaps)) if gaps else None
