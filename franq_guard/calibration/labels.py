"""Labelled claims as arrays, read from rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from franq_guard.calibration.store import Calibrator
from franq_guard.franq import FloatArray

MADE, PUBLIC = "edit", "public"
"""Sources of labels that are not of the model's own answers: statements that were made for the fit,
and answers of other data."""

__all__ = ["MADE", "PUBLIC", "Labelled", "labelled", "p_true_of"]


class Labelled(NamedTuple):
    """Labelled claims: signals (n, 3), the others (n,); ``faithful`` None where not labelled.

    ``groups`` are the numbers of the answers, ``answers`` their names. ``nli`` (n, 2) is the
    highest P(contradiction) and P(entailment) of any passage, NaN where unknown. ``trusted``:
    whether a promise may be based on the label. ``sources``: who gave the label, "" where that is
    not known; ``weights``: how much the claim counts in a fit; ``stated``: whether the claim is
    true and the passages state it, NaN where that is not known.
    """

    signals: FloatArray
    is_true: FloatArray
    faithful: FloatArray | None
    groups: NDArray[np.int64]
    answers: NDArray[np.str_]
    nli: FloatArray
    trusted: NDArray[np.bool_]
    sources: NDArray[np.str_]
    weights: FloatArray
    stated: FloatArray

    @property
    def real(self) -> NDArray[np.bool_]:
        """Claims (n,) of the model's own answers, not of edits or of public data."""
        written: NDArray[np.bool_] = ~np.isin(self.sources, (MADE, PUBLIC))
        return written

    @property
    def judged(self) -> NDArray[np.bool_]:
        """The claims (n,) that figures are about: those of real answers; all if there are none."""
        return self.real if self.real.any() else np.ones(len(self.is_true), bool)

    def only(self, chosen: NDArray[np.bool_]) -> Labelled:
        """The chosen claims (n,)."""
        return Labelled._make(None if part is None else part[chosen] for part in self)


def p_true_of(data: Labelled, calibrator: Calibrator) -> FloatArray:
    """P(true) of each claim (n,) by a calibrator; NaN where a signal that it weighs is unknown."""
    p_faithful, uq_faith, uq_unfaith = data.signals.T
    return calibrator.apply(p_faithful, uq_faith, uq_unfaith, data.nli)[0]


def labelled(
    rows: Iterable[Mapping[str, Any]], weights: Mapping[str, float] | None = None
) -> Labelled:
    """Rows as arrays.

    Args:
        rows: one per claim: ``p_faithful``, ``uq_faith``, ``uq_unfaith`` (numbers; None or absent
            where unknown), ``is_true`` (0/1), ``is_faithful`` (0/1, in all rows or in none),
            ``group`` (the answer it is from; absent: an answer of its own); ``contradiction`` and
            ``entailment`` (numbers; absent where unknown); ``trusted`` (0/1; 0: no promise is based
            on the label; absent: 1); ``source`` (who gave the label, such as "judge:NAME");
            ``stated`` (0/1, true and stated by the passages; absent where unknown). None (JSON's
            null) and NaN (an empty cell of pandas) are as good as absent.
        weights: of sources, or of their kinds (the part before a colon); absent ones count 1.

    Raises:
        ValueError: naming the row (from 1) and what is wrong with it, or a weight that is no number
            from 0 on.
    """
    for name, weight in (weights or {}).items():
        if not 0 <= weight < float("inf"):
            raise ValueError(f"the weight of {name} must be a number from 0 on, not {weight!r}")
    table = list(map(_given, rows))
    signals = np.full((len(table), 3), np.nan)
    labels, nli = np.empty((len(table), 4)), np.full((len(table), 2), np.nan)
    for i, row in enumerate(table):
        try:
            signals[i] = [_number(row.get(k)) for k in ("p_faithful", "uq_faith", "uq_unfaith")]
            nli[i] = [_number(row.get(k)) for k in ("contradiction", "entailment")]
            others = ("is_faithful", "stated", "trusted")
            labels[i] = [_label(row, "is_true"), *(_label(row, k, optional=True) for k in others)]
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"row {i + 1}: {error}") from error
    is_true, is_faithful, stated, trusted = labels.T
    unknown = np.isnan(is_faithful)
    if unknown.any() and not unknown.all():
        raise ValueError(f"row {int(np.argmax(unknown)) + 1}: is_faithful is in some rows only")
    given = [row.get("group") for row in table]
    # The "=" keeps a group that is called "row 3" apart from row 3 without a group.
    answers = [f"row {i}" if group is None else f"={group}" for i, group in enumerate(given)]
    # By name, not by place: folds are drawn by these numbers, and rows may come in any order.
    numbers = {answer: k for k, answer in enumerate(sorted(set(answers)))}
    sources = [str(row.get("source", "")) for row in table]
    return Labelled(
        signals=signals,
        is_true=is_true,
        faithful=None if unknown.all() else is_faithful,
        groups=np.array([numbers[answer] for answer in answers], np.int64),
        answers=np.array(answers, np.str_),
        nli=nli,
        trusted=trusted != 0,  # NaN, where nothing is said of it, is not 0
        sources=np.array(sources, np.str_),
        weights=np.array([_weight(source, weights or {}) for source in sources], float),
        stated=stated,
    )


def _given(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row without what is not known in it."""
    return {k: v for k, v in row.items() if v is not None and not (isinstance(v, float) and v != v)}


def _weight(source: str, weights: Mapping[str, float]) -> float:
    return weights.get(source, weights.get(source.partition(":")[0], 1.0))


def _number(value: object) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, Real):  # numpy's numbers are Real, too
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _label(row: Mapping[str, Any], key: str, *, optional: bool = False) -> float:
    value = row.get(key)
    if value is None and optional:
        return float("nan")
    if value not in (0, 1):
        raise ValueError(f"{key} must be 0 or 1 (or false, true), not {value!r}")
    return float(value)
