"""Checked answers as rows of numbers, one per claim, to compute thresholds and figures from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from franq_bench.verdicts.answers import Asked, Kind, fact_of
from franq_guard.guard import Guard
from franq_guard.records import Label


@dataclass(frozen=True, slots=True)
class Row:
    """One claim of one checked answer; the three scores are None where nothing was read."""

    kind: Kind
    group: str
    passages: int
    claim: str
    fact: str
    p_true: float | None
    p_faithful: float | None
    contradiction: float | None
    entailment: float | None
    label: Label


def rows_of(
    guard: Guard, asked: Sequence[Asked], progress: Callable[[int], None] | None = None
) -> list[Row]:
    """Check the answers; return a row for each claim that counts under the answer's kind."""
    found: list[Row] = []
    checked = guard.check_many([one.trace for one in asked], progress=progress)
    for one, answer in zip(asked, checked, strict=True):
        for verdict in answer.verdicts:
            claim = verdict.claim.text
            if verdict.label == "not-a-claim" or claim in one.left_out:
                continue
            found.append(
                Row(
                    one.kind,
                    one.group,
                    one.passages,
                    claim,
                    one.change or fact_of(claim),
                    verdict.p_true,
                    verdict.p_faithful,
                    verdict.raw.get("contradiction"),
                    verdict.raw.get("entailment"),
                    verdict.label,
                )
            )
    return found
