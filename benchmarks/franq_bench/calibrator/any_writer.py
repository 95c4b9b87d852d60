"""Refits the calibrators for answers by any writer, which use evidence alone and give a guarantee.

P(true) = P(faithful) * UQ_faith + (1 - P(faithful)) * .5 (arXiv 2505.21072, eq. 1). UQ_faith is one
number, the maximum-likelihood estimate on claims whose truth is known. UQ_unfaith is a fixed prior,
because nothing is known about the truth of a claim that the passages do not state. The labelling
rule keeps the guarantee of :mod:`franq_guard.calibration.promise`; it is tested on claims that
their passages state, from answers that were not used for training or fitting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from franq_bench.calibrator.known_truth import SOURCES as KNOWN_SOURCES
from franq_bench.calibrator.known_truth import Known, known_truth
from franq_bench.data.folds import Fold
from franq_bench.progress import Bar, Show
from franq_bench.verdicts.answers import Asked, Kind, clapnq, refchecker
from franq_bench.verdicts.rows import Row, rows_of
from franq_bench.verdicts.short_answers import short_answers
from franq_guard.calibration.promise import (
    Promise,
    PromiseRefusedError,
    at_most_flagged,
    one_an_answer,
)
from franq_guard.calibration.store import Calibrator, Knots
from franq_guard.faithfulness.base import FaithfulnessModel, PassageScorer
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.franq import FloatArray
from franq_guard.guard import Guard
from franq_guard.label_rule import RATHER, LabelRule
from franq_guard.policy import WEAK, Policy
from franq_guard.records import Form

PRIOR: Final = 0.5
#: Largest share of stated claims that may be flagged. With .05 the highest allowed cut is .02,
#: which catches one changed claim in five; with .1 it is .30, which catches four in five (on the
#: fitting fold).
ALPHA: Final = 0.1
DELTA: Final = 0.1
#: P(faithful) from which a claim counts as supported, from lenient to strict.
CUTS: Final = tuple(round(0.02 * i, 2) for i in range(1, 49))
_KNOWN: Final = 300
"""Claims of each source whose truth is known."""
_SHORT: Final = {"fitting": 40, "thresholds": 150}
"""Questions of each file, for the short form."""
_SOURCES: Final = {
    "long": (
        "CLAP-NQ: Apache 2.0, passages CC BY-SA",
        "RefChecker: CC BY 4.0",
        *KNOWN_SOURCES,
    ),
    "short": ("SQuAD 1.1 (XQuAD-en): CC BY-SA 4.0", "NQ-open: CC BY-SA 3.0", *KNOWN_SOURCES),
}
_PROMISED_ON: Final = {"long": ("CLAP-NQ", "RefChecker"), "short": ("SQuAD", "NQ-open")}
_SMALL: Final = "small faithfulness model"
_FALSE_ALARM: Final = 0.005
_FALSE_CONFLICT: Final = 0.01
_LEAST_CONFLICT: Final = 0.5
_PRECISION: Final = 0.95


def fit(
    form: Form,
    known: Sequence[Known],
    fitting: Sequence[Row],
    stated: Sequence[Row],
    *,
    fingerprint: dict[str, Any],
    sources: Sequence[str],
    promised_on: Sequence[str],
    model: str = _SMALL,
) -> Calibrator:
    """Fit the calibrator of a form.

    Args:
        form: long or short.
        known: claims whose truth is known, with P(faithful) of each (fitting fold).
        fitting: checked answers of the fitting fold; the cuts of contradiction, entailment and
            disagreement are chosen on them.
        stated: claims that their passages state (thresholds fold); the guarantee is based on them.
        fingerprint: fingerprint of the guard that checked them.
        sources: names and licences of the data.
        promised_on: names of the data of ``stated``.
        model: what the calibrator's name calls the faithfulness model.

    Raises:
        PromiseRefusedError: if there are too few claims, or no rule gives the guarantee.
    """
    truth = np.array([k.is_true for k in known], float)
    faithful = np.array([k.p_faithful for k in known], float)
    u = uq_faith(truth, faithful)
    contradiction = _contradiction_cut(fitting)
    rule = LabelRule(
        false_below=None,
        unsupported_true=False,
        contradiction=contradiction,
        entailment=_entailment_cut(fitting),
        disagreement=min(contradiction, _disagreement_cut(fitting)),
    )
    rules = [replace(rule, supported_from=cut, threshold=mixture(cut, u)) for cut in CUTS]
    drawn = [stated[i] for i in one_an_answer([r.group for r in stated], _names(stated))]
    flagged = _table(rules, drawn, u)
    promise = at_most_flagged(flagged, alpha=ALPHA, delta=DELTA)
    day = datetime.now(UTC).date().isoformat()
    return Calibrator(
        calibration="condition",
        form=form,
        log_space=False,
        faith=Knots((0.0,), (u,)),
        unfaith=Knots((0.0,), (PRIOR,)),
        labels=rules[promise.rule],
        promise=_told(promise, rules[promise.rule].threshold, promised_on, day),
        name=f"any writer + {model}, {form} form",
        figures={
            "uq_faith": u,
            "known_truth": _by_source(known),
            "uq_faith_without": _uq_faith_without(known),
            "flagged_of_a_source_left_out": _flagged_left_out(flagged, drawn),
        },
        fingerprint={**fingerprint, "n_train": len(known), "date": day, "sources": list(sources)},
    )


def mixture(p_faithful: float, u: float) -> float:
    """P(true) of a claim by the formula above."""
    return round(p_faithful * u + (1 - p_faithful) * PRIOR, 6)


def uq_faith(is_true: FloatArray, p_faithful: FloatArray) -> float:
    """The maximum-likelihood estimate of UQ_faith, from .5 to .99.

    Args:
        is_true: (n,) of 0/1.
        p_faithful: (n,) in [0, 1].
    """
    from scipy.optimize import minimize_scalar

    def loss(u: float) -> float:
        p = p_faithful * u + (1 - p_faithful) * PRIOR
        return -float(np.sum(np.log(np.where(is_true > 0, p, 1 - p))))

    found = minimize_scalar(loss, bounds=(0.5, 0.99), method="bounded")
    return round(float(found.x), 4)


def _contradiction_cut(rows: Sequence[Row]) -> float:
    """The contradiction score that one in 200 stated claims exceeds, but at least .5."""
    found = [r.contradiction or 0.0 for r in rows if r.kind in ("grounded", "entailed")]
    return round(min(0.999, max(0.5, float(np.quantile(found, 1 - _FALSE_ALARM)))), 3)


def _entailment_cut(rows: Sequence[Row]) -> float:
    """The lowest entailment score from which 95 % of the claims are stated; .9 if there is none."""
    good = np.array([r.kind in ("grounded", "entailed") for r in rows])
    scores = np.array([r.entailment or 0.0 for r in rows])
    for cut in np.arange(0.5, 0.9, 0.05):
        above = scores >= cut
        if above.any() and good[above].mean() >= _PRECISION:
            return round(float(cut), 2)
    return 0.9


def _disagreement_cut(rows: Sequence[Row]) -> float:
    """The contradiction score at which one in 100 stated claims is in conflict, but at least .5.

    The passages of these claims agree. It is lower than that of :func:`_contradiction_cut`, because
    it counts only where a passage rather states the claim.
    """
    stated = [r for r in rows if r.kind in ("grounded", "entailed")]
    found = [r.contradiction or 0.0 if (r.entailment or 0.0) >= RATHER else 0.0 for r in stated]
    cut = float(np.quantile(found, 1 - _FALSE_CONFLICT, method="higher"))
    return round(min(0.999, max(_LEAST_CONFLICT, cut)), 3)


def _names(rows: Sequence[Row]) -> list[str]:
    return [f"{row.passages}/{row.claim}" for row in rows]


def _table(rules: Sequence[LabelRule], rows: Sequence[Row], u: float) -> np.ndarray[Any, Any]:
    flagged: Callable[[LabelRule, Row], bool] = lambda rule, row: label(row, rule, u) in WEAK  # noqa: E731
    return np.array([[flagged(rule, row) for row in rows] for rule in rules], dtype=bool)


def label(row: Row, rule: LabelRule, u: float) -> str:
    """The label of a checked claim under another rule."""
    p = None if row.p_faithful is None else mixture(row.p_faithful, u)
    return Policy().label(
        p, row.p_faithful, contradiction=row.contradiction, entailment=row.entailment, rule=rule
    )


def _told(promise: Promise, threshold: float, sources: Sequence[str], day: str) -> dict[str, Any]:
    return {
        "of": "claims that the passages state",
        "at_most_flagged": promise.alpha,
        "confidence": round(1 - promise.delta, 6),
        "threshold": threshold,
        "n": promise.n,
        "flagged": promise.flagged,
        "bound": round(promise.bound, 6),
        "caught": 0,
        "others": 0,
        "data": ", ".join(sources),
        "date": day,
    }


def _by_source(known: Sequence[Known]) -> dict[str, Any]:
    names = sorted({k.source for k in known})
    return {
        name: {
            "n": len(own),
            "true": round(float(np.mean([k.is_true for k in own])), 3),
            "true_where_faithful": _share([k for k in own if k.p_faithful > 0.5]),
            "true_elsewhere": _share([k for k in own if k.p_faithful <= 0.5]),
        }
        for name in names
        for own in [[k for k in known if k.source == name]]
    }


def _uq_faith_without(known: Sequence[Known]) -> dict[str, float]:
    """UQ_faith fitted without each source in turn."""
    found = {}
    for name in sorted({k.source for k in known}):
        others = [k for k in known if k.source != name]
        if others:
            truth = np.array([k.is_true for k in others], float)
            found[name] = uq_faith(truth, np.array([k.p_faithful for k in others], float))
    return found


def _flagged_left_out(
    flagged: np.ndarray[Any, Any], rows: Sequence[Row]
) -> dict[str, list[int] | None]:
    """By source what a rule flags that was chosen without it: [flagged, number].

    Args:
        flagged: (rules, rows), in the order of the rules.
        rows: the claims of the promise.

    Returns:
        None for a source without which there are too few claims to choose a rule.
    """
    sources = np.array([_source(row) for row in rows])
    found: dict[str, list[int] | None] = {}
    for name in sorted(set(sources)):
        out = sources == name
        try:
            chosen = at_most_flagged(flagged[:, ~out], alpha=ALPHA, delta=DELTA).rule
        except PromiseRefusedError:
            found[name] = None
        else:
            found[name] = [int(flagged[chosen, out].sum()), int(out.sum())]
    return found


def _source(row: Row) -> str:
    """The data that a claim is of; RefChecker's questions have no ids that tell."""
    return "refchecker" if row.kind == "entailed" else row.group.partition("-")[0]


def _share(known: Sequence[Known]) -> list[float]:
    """[number, share that is true]."""
    return [len(known), round(float(np.mean([k.is_true for k in known])), 3) if known else 0.0]


def build(
    folder: Path, form: Form, *, seed: int, progress: Bar, other: FaithfulnessModel | None = None
) -> Calibrator:
    """Check, fit and test for one form.

    Args:
        folder: folder with the data.
        form: long or short.
        seed: seed of every random draw.
        progress: shows the progress of each stage.
        other: the model that the calibrator is for; None: the small one.

    Raises:
        TypeError: the model does not score several passages at once.
    """
    model = other or SmallFaithfulness.bundled()
    if not isinstance(model, PassageScorer):
        raise TypeError(f"{model.fingerprint} does not score several passages at once")
    guard = Guard(faithfulness=model, franq=Calibrator.evidence(form=form), form=form)
    fitting = _checked(guard, _asked(folder, "fitting", form, seed), progress("fitting"))
    stated = [
        row
        for row in _checked(guard, _asked(folder, "thresholds", form, seed), progress("thresholds"))
        if row.kind in ("grounded", "entailed")
    ]
    known = known_truth(folder, "fitting", model, limit=_KNOWN, seed=seed)
    setting = {k: v for k, v in guard.fingerprint.items() if k in ("faithfulness", "claims")}
    return fit(
        form,
        known,
        fitting,
        stated,
        fingerprint={**Calibrator.evidence(form=form).fingerprint, **setting},
        sources=_SOURCES[form],
        promised_on=_PROMISED_ON[form],
        model=model.fingerprint.partition("/")[0] if other else _SMALL,
    )


def _asked(folder: Path, fold: Fold, form: Form, seed: int) -> list[Asked]:
    if form == "short":
        return short_answers(folder, fold, limit=_SHORT[fold], seed=seed)
    kinds: tuple[Kind, ...] = ("grounded", "changed", "unfounded")
    if fold == "thresholds":
        kinds = ("grounded",)  # the promise is about these alone
    return [*clapnq(folder, fold, kinds=kinds, seed=seed), *refchecker(folder, fold)]


def _checked(guard: Guard, asked: Sequence[Asked], bar: AbstractContextManager[Show]) -> list[Row]:
    with bar as show:
        return rows_of(guard, asked, lambda done: show(done, len(asked)))
