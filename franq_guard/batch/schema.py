"""The columns of checked answers as a pyarrow table, one row for each answer.

:data:`RESULTS` is what :func:`~franq_guard.batch.check_batch` returns, whatever the rows are. Its
names mean the same as in ``franq.answer/1``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from franq_guard.basics.text import in_utf8
from franq_guard.records import GuardedAnswer
from franq_guard.report.counts import check_failed
from franq_guard.rows.lines import RowError

__all__ = ["PLACE", "RESULTS", "results_table"]

_SPAN = [("start", pa.int32()), ("end", pa.int32())]
_STRETCH = pa.struct([("passage", pa.int32()), *_SPAN, ("text", pa.string())])
_CITATION = pa.struct(
    [
        ("name", pa.string()),
        *_SPAN,
        ("passage", pa.int32()),
        ("p_faithful", pa.float64()),
        ("finding", pa.string()),
    ]
)
_DIFFERENCE = pa.struct([("claim", pa.string()), ("passage", pa.string())])
_VERDICT = pa.struct(
    [
        ("claim", pa.string()),
        ("spans", pa.list_(pa.struct(_SPAN))),
        ("context", pa.string()),
        ("not_a_claim", pa.string()),
        ("label", pa.string()),
        ("reason", pa.string()),
        ("p_true", pa.float64()),
        ("p_faithful", pa.float64()),
        ("uq_faith", pa.float64()),
        ("uq_unfaith", pa.float64()),
        ("raw", pa.map_(pa.string(), pa.float64())),
        ("evidence", _STRETCH),
        ("against", _STRETCH),
        ("differs", pa.list_(_DIFFERENCE)),
        ("citations", pa.list_(_CITATION)),
        ("flagged", pa.bool_()),
    ]
)
RESULTS = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("original", pa.string()),
        ("status", pa.string()),
        ("score", pa.float64()),
        ("flagged", pa.int32()),
        ("verdicts", pa.list_(_VERDICT)),
        ("calibrator", pa.string()),
        ("likelihoods", pa.string()),
        ("timings", pa.map_(pa.string(), pa.float64())),
        ("error", pa.string()),
    ]
)
"""The columns of a checked answer.

``score`` is the lowest P(true) of its claims, ``flagged`` the number of claims that the policy
acts against (of a verdict: whether it does), ``timings`` seconds by stage, positions are
characters. ``error`` says why there is no result: the row could not be read (then all other columns
but ``id`` are null), or every claim's check failed.
"""
PLACE = pa.schema([("key", pa.int64()), ("file", pa.string()), ("row", pa.int64())])
"""The columns before :data:`RESULTS` in a data set: where the row came from.

``key`` is a number that no other row of the data set has; ``row`` counts from 1: the number of the
row in a Parquet file, of the line in JSON Lines.
"""


def results_table(results: Iterable[GuardedAnswer | RowError]) -> pa.Table:
    """The results as a table with the columns :data:`RESULTS`, in the same order.

    Half of a character outside the BMP, as JSON may escape it, is U+FFFD there: pyarrow's strings
    are UTF-8, which has no halves. One such row would otherwise cost all others of its table.
    """
    rows = [in_utf8(_row(result)) for result in results]
    return pa.Table.from_pylist(rows, schema=RESULTS)


def _row(result: GuardedAnswer | RowError) -> dict[str, Any]:
    if isinstance(result, RowError):
        return {"id": result.id, "error": result.error}
    return {
        "id": result.id,
        "text": result.text,
        "original": result.original,
        "status": result.status,
        "score": result.score,
        "flagged": len(result.flagged),
        "verdicts": list(map(_verdict, result.to_dict()["verdicts"])),
        "calibrator": result.calibrator,
        "likelihoods": result.likelihoods,
        "timings": [(stage, float(spent)) for stage, spent in result.timings.items()],
        "error": "the check failed: no claim could be checked" if check_failed(result) else None,
    }


def _verdict(row: dict[str, Any]) -> dict[str, Any]:
    """A verdict as :meth:`.GuardedAnswer.to_dict` has it, in the columns of a table."""
    claim = row["claim"]
    return {
        **row,
        "claim": claim["text"],
        "spans": [_span(span) for span in claim["spans"]],
        "context": claim.get("context"),
        "not_a_claim": claim.get("not_a_claim"),
        "raw": list(row["raw"].items()),
        "differs": row.get("differs", []),
        "citations": [{**one, **_span(one["span"])} for one in row.get("citations", ())],
    }


def _span(span: list[int]) -> dict[str, int]:
    return {"start": span[0], "end": span[1]}
