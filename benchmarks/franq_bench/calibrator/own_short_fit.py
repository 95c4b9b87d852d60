"""Fits the calibrator for short answers that the bundled language model wrote itself.

There are too few graded ones to learn curves from and to keep some apart. So it reads the passages
alone, like those for any writer, and labels answers by the same rule. What differs is
P(true) = P(faithful) * u + (1 - P(faithful)) * v (arXiv 2505.21072, eq. 1): u and v are the most
likely ones on this model's own answers. How often an answer is true that the passages seem to
state, or do not state, depends on who wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from franq_bench.fits.fitted import matrix
from franq_bench.tables.scores import Score
from franq_guard.calibration.store import Calibrator, Knots
from franq_guard.franq import FloatArray
from franq_guard.metrics import auroc, bootstrap_se, ece

__all__ = ["Shares", "fit", "of_other_sets", "shares"]

_FOLDS: Final = 5
_BOUNDS: Final = (0.01, 0.99)


class Shares(NamedTuple):
    """UQ_faith and UQ_unfaith, each one number."""

    u: float
    v: float

    def p_true(self, p_faithful: FloatArray) -> FloatArray:
        """P(true) (n,) by the formula."""
        return p_faithful * self.u + (1 - p_faithful) * self.v


def shares(is_true: FloatArray, p_faithful: FloatArray) -> Shares:
    """The most likely u and v; the log-likelihood is concave in both, so there is one optimum.

    Args:
        is_true: (n,) of 0/1.
        p_faithful: (n,) in [0, 1].
    """
    from scipy.optimize import minimize

    def loss(found: FloatArray) -> float:
        p = Shares(*found.tolist()).p_true(p_faithful)
        return -float(np.mean(np.log(np.where(is_true > 0, p, 1 - p))))

    best = minimize(loss, np.array([0.6, 0.4]), method="L-BFGS-B", bounds=[_BOUNDS] * 2).x
    return Shares(round(float(best[0]), 4), round(float(best[1]), 4))


def fit(
    rows: Sequence[Score],
    any_writer: Calibrator,
    *,
    name: str,
    writer: str,
    sources: Sequence[str],
    labelled_by: str,
    test: Sequence[Score] = (),
    elsewhere: Sequence[Score] = (),
) -> Calibrator:
    """The calibrator for one writer.

    Args:
        rows: claims with ``faithfulness`` and their truth; ``group`` is the answer or the question.
        any_writer: for any writer, of the same form: its rule and promise are kept. Both are about
            P(faithful), so only the threshold on P(true) is computed anew.
        name: of the calibrator, as results show it.
        writer: fingerprint of the model that wrote the claims.
        sources: names and licences of the data.
        labelled_by: how the truth of the claims is known.
        test: further claims, of questions that nothing was fitted on, for figures.
        elsewhere: further claims, for a figure of how far the two numbers carry. Those of a data
            set that ``rows`` hold, too, by the first word of their ids, are left out.

    Raises:
        ValueError: claims that the passages state are not true more often than others.
    """
    truth = np.array([row.is_true for row in rows], float)
    faithful = matrix(rows, ["faithfulness"])[:, 0]
    found = shares(truth, faithful)
    if found.u <= found.v:
        raise ValueError(f"P(faithful) says nothing about the truth of these claims: {found}")
    cut = np.array([any_writer.labels.supported_from])
    threshold = round(float(found.p_true(cut)[0]), 6)
    promise = any_writer.promise
    figures = _figures(rows, truth, faithful, any_writer)
    if test:
        figures |= {"test": _elsewhere(test, found, any_writer)}
    if others := of_other_sets(elsewhere, rows):
        figures |= {"elsewhere": _elsewhere(others, found, any_writer)}
    return replace(
        any_writer,
        faith=Knots((0.0,), (found.u,)),
        unfaith=Knots((0.0,), (found.v,)),
        labels=replace(any_writer.labels, threshold=threshold),
        promise=None if promise is None else {**promise, "threshold": threshold},
        name=name,
        figures={"uq_faith": found.u, "uq_unfaith": found.v, "labels": labelled_by, **figures},
        fingerprint={
            **any_writer.fingerprint,
            "writer": writer,
            "n_train": len(rows),
            "sources": list(sources),
        },
    )


def _figures(
    rows: Sequence[Score], truth: FloatArray, faithful: FloatArray, any_writer: Calibrator
) -> dict[str, Any]:
    """AUROC and ECE over whole answers left out, beside those of the one for any writer."""
    groups = np.array([row.id if row.group is None else row.group for row in rows])
    answers = np.unique(groups)
    fold = np.random.default_rng(0).permutation(len(answers)) % _FOLDS
    fold_of = fold[np.searchsorted(answers, groups)]
    left_out = np.empty(len(truth))
    for held in range(_FOLDS):
        seen, out = fold_of != held, fold_of == held
        left_out[out] = shares(truth[seen], faithful[seen]).p_true(faithful[out])
    theirs = _by(any_writer, faithful)
    error: Callable[[Any, FloatArray], float] = lambda metric, p: round(  # noqa: E731
        bootstrap_se(metric, truth, p, groups=groups), 4
    )
    return {
        "n": len(truth),
        "answers": len(answers),
        "share_true": round(float(truth.mean()), 4),
        "auroc": round(auroc(truth, faithful), 4),
        "auroc_se": error(auroc, faithful),
        "ece": round(ece(truth, left_out), 4),
        "ece_se": error(ece, left_out),
        "ece_of_any_writer": round(ece(truth, theirs), 4),
        "cross_validation": f"{_FOLDS} folds of whole answers",
    }


def of_other_sets(elsewhere: Sequence[Score], fitted: Sequence[Score]) -> list[Score]:
    """Those of ``elsewhere`` whose data set, the first word of the id, has no claim in the fit."""
    sets = {row.id.partition("-")[0] for row in fitted}
    return [row for row in elsewhere if row.id.partition("-")[0] not in sets]


def _elsewhere(rows: Sequence[Score], found: Shares, any_writer: Calibrator) -> dict[str, Any]:
    truth = np.array([row.is_true for row in rows], float)
    faithful = matrix(rows, ["faithfulness"])[:, 0]
    return {
        "n": len(truth),
        "share_true": round(float(truth.mean()), 4),
        "auroc": round(auroc(truth, faithful), 4),
        "ece": round(ece(truth, found.p_true(faithful)), 4),
        "ece_of_any_writer": round(ece(truth, _by(any_writer, faithful)), 4),
    }


def _by(calibrator: Calibrator, p_faithful: FloatArray) -> FloatArray:
    nothing = np.zeros(len(p_faithful))  # it weighs no likelihoods
    return calibrator.apply(p_faithful, nothing, nothing)[0]
