"""Remembers what was measured for the claims of a growing answer, for later repetitions."""

from __future__ import annotations

from collections.abc import Mapping

from franq_guard.claims.repeats import Statement, statement
from franq_guard.records import Claim

__all__ = ["Stated"]


class Stated:
    """The uncertainties of an answer's claims by what they state; the first statement counts."""

    def __init__(self) -> None:
        self._known: dict[Statement, Mapping[str, float]] = {}

    def first(self, claim: Claim, uncertainties: Mapping[str, float]) -> Mapping[str, float]:
        """The uncertainties found where the answer states the claim first; else the given ones."""
        return self._known.setdefault(statement(claim), uncertainties)
