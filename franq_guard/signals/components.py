"""Any method of the paper as UQ_faith or UQ_unfaith, by name (the paper's component grid)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from franq_guard.records import Claim, Reason, Signals, Trace
from franq_guard.signals.gather import Models, gather
from franq_guard.signals.long_form import Support, contrast
from franq_guard.uncertainty.methods import Level, compute, confidence, find, log_confidence


@dataclass(frozen=True, slots=True)
class Components:
    """Names of the two methods, as ``franq methods`` lists them."""

    uq_faith: str
    uq_unfaith: str

    @property
    def names(self) -> tuple[str, ...]:
        """Both, once each."""
        return tuple(dict.fromkeys((self.uq_faith, self.uq_unfaith)))


DEFAULTS = {
    "long": Components("max-probability", "parametric-knowledge"),
    "short": Components("semantic-entropy", "eigenvalues-entail"),
}
"""The paper's choice for each form (arXiv 2505.21072, section 3)."""


def components(form: str, uq_faith: str | None, uq_unfaith: str | None) -> Components:
    """The methods of a form, its default where none is named.

    Raises:
        ValueError: for an unknown name, or a method that does not exist at the form's level.
    """
    default = DEFAULTS[form]
    chosen = Components(uq_faith or default.uq_faith, uq_unfaith or default.uq_unfaith)
    for name in chosen.names:
        if _level(form) not in find(name).levels:
            raise ValueError(f"{name!r} does not apply to {form}-form answers; see `franq methods`")
    return chosen


def check_form(form: str, n_samples: int, *, chosen: bool) -> None:
    """Refuse a form that is none, or settings that do not go with it (``ValueError``).

    ``chosen``: whether methods or a calibrator were given.
    """
    if form not in ("long", "short", "auto"):
        raise ValueError(f"form must be 'long', 'short' or 'auto', not {form!r}")
    if form == "auto" and chosen:
        raise ValueError("form 'auto' takes the default methods and calibrators of both forms")
    if form != "long" and n_samples < 2:
        raise ValueError("the short form compares samples: n_samples must be at least 2")


def by_name(
    chosen: Components,
    trace: Trace,
    claims: Sequence[Claim],
    supports: Sequence[Support],
    models: Models,
    *,
    form: str,
) -> list[Signals]:
    """The signals of one answer's claims from the chosen methods.

    Uncertainties become confidences in [0, 1] and, in the long form, their logarithms, so that the
    default pair's values are the ones :mod:`franq_guard.signals.long_form` computes.
    """
    missing = _missing(chosen, trace, models)
    if missing is not None:
        return [Signals(s.p_faithful, evidence=s.evidence, reason=missing) for s in supports]
    level = _level(form)
    measured = gather(chosen.names, trace, models, claims=claims, level=level)
    values = compute(chosen.names, measured, level=level)
    n = len(measured.samples.texts) if measured.samples else models.n_samples
    pair = (chosen.uq_faith, chosen.uq_unfaith)
    return [
        _signals(found, *(_value(name, float(values[name][i]), form, n) for name in pair))
        for i, found in enumerate(supports)
    ]


def _missing(chosen: Components, trace: Trace, models: Models) -> Reason | None:
    """Why the chosen methods cannot be measured on this trace; None where they can."""
    if models.language_model is None:
        return "no_logprobs"
    if "parametric-knowledge" in chosen.names:
        return contrast(models.language_model, trace).reason
    return None


def _level(form: str) -> Level:
    return "claim" if form == "long" else "sequence"


def _value(name: str, uncertainty: float, form: str, samples: int) -> float | None:
    as_confidence = log_confidence if form == "long" else confidence
    value = as_confidence(name, uncertainty, samples=samples)
    return None if np.isnan(value) else value


def _signals(found: Support, uq_faith: float | None, uq_unfaith: float | None) -> Signals:
    unknown = uq_faith is None or uq_unfaith is None
    raw = {"faithfulness": found.p_faithful, "uq_faith": uq_faith, "uq_unfaith": uq_unfaith}
    return Signals(
        p_faithful=found.p_faithful,
        uq_faith=uq_faith,
        uq_unfaith=uq_unfaith,
        evidence=found.evidence,
        reason="no_logprobs" if unknown else found.reason,
        raw={name: value for name, value in raw.items() if value is not None},
    )
