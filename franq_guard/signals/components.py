"""Which methods serve as UQ_faith and UQ_unfaith: any of the paper's, by name."""

from __future__ import annotations

from dataclasses import dataclass

from franq_guard.records import Form
from franq_guard.signals.request import OF_DEFAULT_METHODS, OF_NAMED_METHODS, TokenRule
from franq_guard.uncertainty.method import Level
from franq_guard.uncertainty.methods import find


@dataclass(frozen=True, slots=True)
class Components:
    """Names of the two methods, as ``franq methods`` lists them."""

    uq_faith: str
    uq_unfaith: str

    @property
    def token_rule(self) -> TokenRule:
        """Which tokens state a claim."""
        return OF_DEFAULT_METHODS if self in DEFAULTS.values() else OF_NAMED_METHODS

    @property
    def methods(self) -> str:
        """Both names, as a calibrator's fingerprint has them."""
        return f"{self.uq_faith} + {self.uq_unfaith}"

    @property
    def names(self) -> tuple[str, ...]:
        """Both, once each."""
        return tuple(dict.fromkeys((self.uq_faith, self.uq_unfaith)))


DEFAULTS: dict[Form, Components] = {
    "long": Components("max-probability", "parametric-knowledge"),
    "short": Components("semantic-entropy", "eigenvalues-entail"),
}
"""The paper's choice for each form (arXiv 2505.21072, section 3)."""

EVIDENCE = Components("evidence", "prior")
"""In place of two methods: what the passages say, and no language model.

UQ_faith is Max NLI, the passages' highest e / (e + c), with e = P(entailment) and c =
P(contradiction); UQ_unfaith is the calibrator's prior, for without the writer's own probabilities
nobody knows whether a claim is true that the passages do not state.
"""


def components(form: Form, uq_faith: str | None, uq_unfaith: str | None) -> Components:
    """The methods of a form, its default where none is named.

    Raises:
        ValueError: for an unknown name, or a method that does not exist at the form's level.
    """
    default = DEFAULTS[form]
    chosen = Components(uq_faith or default.uq_faith, uq_unfaith or default.uq_unfaith)
    for name in chosen.names:
        if level_of(form) not in find(name).levels:
            raise ValueError(f"{name!r} does not apply to {form}-form answers; see `franq methods`")
    return chosen


def level_of(form: Form) -> Level:
    """Long answers have a value for each claim, short ones one value."""
    return "claim" if form == "long" else "sequence"


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
