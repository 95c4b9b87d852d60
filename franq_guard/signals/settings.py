"""The options of a guard; those that can never work are rejected at once."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Literal, TypedDict

from franq_guard.calibration.store import Calibrator
from franq_guard.claims import ClaimSplitter
from franq_guard.policy import Policy
from franq_guard.records import Form
from franq_guard.signals.components import check_form
from franq_guard.signals.lazy import check_kind

__all__ = ["Options", "check_settings"]


class Options(TypedDict, total=False):
    """The options of a guard besides its two models; see :class:`~franq_guard.guard.Guard`."""

    policy: Policy | None
    claims: ClaimSplitter | None
    franq: Calibrator | None
    form: Form | Literal["auto"]
    uq_faith: str | None
    uq_unfaith: str | None
    n_samples: int
    temperature: float
    deadline: float | None
    strict: bool
    evidence: bool


def check_settings(
    parts: Mapping[str, tuple[object, str]],
    *,
    form: str,
    franq: Calibrator | None,
    policy: object,
    n_samples: int,
    temperature: float,
    deadline: float | None,
    chosen: bool,
) -> None:
    """Reject settings that cannot work, alone or together.

    Args:
        parts: by name, the object and the method it must have, or a function that loads a model.
        form: ``long``, ``short`` or ``auto``.
        franq: the user's calibrator.
        policy: None for the default.
        n_samples: how many samples the short form draws.
        temperature: of these samples.
        deadline: in seconds.
        chosen: whether methods or a calibrator were given.

    Raises:
        TypeError, ValueError: the message says what is expected.
    """
    if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < 1:
        raise ValueError(f"n_samples must be a whole number, 1 or more, not {n_samples!r}")
    check_form(form, n_samples, chosen=chosen)
    for name, value in (("temperature", temperature), ("deadline", deadline)):
        if isinstance(value, bool) or not isinstance(value, Real | None):
            raise TypeError(f"{name} must be a number, not {value!r}")
    if not 0 < temperature < float("inf"):
        raise ValueError("temperature must be a number above 0")
    if deadline is not None and not deadline > 0:
        raise ValueError("deadline must be a positive number of seconds")
    if policy is not None and not isinstance(policy, Policy):
        raise TypeError(f"policy must be a Policy, or of a class made from it, not {policy!r}")
    for name, (part, method) in parts.items():
        if part is not None or name == "faithfulness":
            check_kind(name, part, method, loader=method == "score")
    if franq is not None and franq.form != form:
        raise ValueError(
            f"the calibrator is for form {franq.form!r}, the guard's is {form!r}: give the guard "
            f"that form (--form {franq.form}), or another calibrator"
        )
