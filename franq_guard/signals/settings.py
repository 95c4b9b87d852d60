"""Settings of a guard that can never work, refused at once."""

from __future__ import annotations

from collections.abc import Mapping

from franq_guard.calibration.store import Calibrator
from franq_guard.signals.components import check_form
from franq_guard.signals.lazy import check_kind

__all__ = ["check_settings"]


def check_settings(
    parts: Mapping[str, tuple[object, str]],
    *,
    form: str,
    franq: Calibrator | None,
    n_samples: int,
    deadline: float | None,
    chosen: bool,
) -> None:
    """Refuse what does not fit.

    Args:
        parts: by name, the object and the method it must have; a function may load a model.
        form: ``long``, ``short`` or ``auto``.
        franq: the user's calibrator.
        n_samples: of the short form.
        deadline: in seconds.
        chosen: whether methods or a calibrator were given.

    Raises:
        TypeError, ValueError: saying what is wanted.
    """
    check_form(form, n_samples, chosen=chosen)
    if deadline is not None and not deadline > 0:
        raise ValueError("deadline must be a positive number of seconds")
    for name, (part, method) in parts.items():
        if part is not None or name == "faithfulness":
            check_kind(name, part, method, loader=method == "score")
    if franq is not None and franq.form != form:
        raise ValueError(f"the calibrator is for form {franq.form!r}, the guard's is {form!r}")
