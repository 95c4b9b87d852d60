"""JSON in and out: ``franq.trace/1`` rows to :class:`Trace`, answers to ``franq.answer/1``.

A row that cannot be read becomes a :class:`RowError` in its place, so that one broken line costs
one line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from franq_guard.records import GuardedAnswer, Trace, Verdict
from franq_guard.rows.traces import passages_from, row_id, trace_from_dict

__all__ = ["RowError", "answer_to_dict", "passages_from", "read_traces", "trace_from_dict"]


@dataclass(frozen=True, slots=True)
class RowError:
    """A row that could not be read or checked; ``line`` counts from 1."""

    line: int
    error: str
    id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values, schema ``franq.error/1``."""
        row: dict[str, Any] = {"schema": "franq.error/1", "line": self.line}
        return {**row, **({"id": self.id} if self.id else {}), "error": self.error}


def read_traces(lines: Iterable[str]) -> Iterator[Trace | RowError]:
    """Each non-blank line as a trace, or the reason why it is none; a byte order mark is ignored.

    The values that a row may hold: :func:`~franq_guard.rows.traces.trace_from_dict`.
    """
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if text.strip():
            yield _read(number, text)


def _read(number: int, line: str) -> Trace | RowError:
    identifier = None
    try:
        row = json.loads(line)
        identifier = row_id(row) if isinstance(row, dict) else None
        return trace_from_dict(row)
    except ValueError as error:  # json.JSONDecodeError is one
        return RowError(number, str(error), identifier)
    except RecursionError:
        return RowError(number, "the row is nested too deep", identifier)


def answer_to_dict(answer: GuardedAnswer) -> dict[str, Any]:
    """``answer`` as JSON-ready values, ``franq.answer/1``; numbers not finite become null."""
    return {
        "schema": "franq.answer/1",
        **({"id": answer.id} if answer.id is not None else {}),
        "text": answer.text,
        "original": answer.original,
        "status": answer.status,
        "verdicts": [_verdict_to_dict(verdict) for verdict in answer.verdicts],
        "calibrator": answer.calibrator,
        "timings": {stage: round(float(seconds), 4) for stage, seconds in answer.timings.items()},
    }


def _verdict_to_dict(verdict: Verdict) -> dict[str, Any]:
    found, claim = verdict.evidence, verdict.claim
    return {
        "claim": {
            "text": claim.text,
            "spans": [[int(start), int(end)] for start, end in claim.spans],
            **({"context": claim.context} if claim.context else {}),
            **({"not_a_claim": claim.not_a_claim} if claim.not_a_claim else {}),
        },
        "p_true": _finite(verdict.p_true),
        "p_faithful": _finite(verdict.p_faithful),
        "uq_faith": _finite(verdict.uq_faith),
        "uq_unfaith": _finite(verdict.uq_unfaith),
        "raw": {name: _finite(value) for name, value in verdict.raw.items()},
        "label": verdict.label,
        "reason": verdict.reason,
        "evidence": found
        and {"passage": int(found.passage), "start": int(found.start), "end": int(found.end)},
    }


def _finite(value: float | None) -> float | None:
    # float(): a numpy number is no JSON
    return float(value) if value is not None and math.isfinite(value) else None
