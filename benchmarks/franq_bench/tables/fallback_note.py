"""Puts the fallback of the run's condition-calibrated FRANQ under every table that shows it."""

from __future__ import annotations

from dataclasses import replace

from franq_bench.tables.method_names import PRIMARY, title
from franq_bench.tables.results import Results
from franq_guard.report.tables import Table

__all__ = ["FALLBACK", "fallback_named", "fallback_said"]

FALLBACK = "fallback"
"""The name of the run's table that says which curve each branch takes."""
_OWN_FITS = (
    "chosen-signals",
    "faithfulness-calibration",
    "faithfulness-inputs",
    "one-change",
    "pooled",
    "thresholded",
    "training-size-",
    "uq-grid-",
)
"""How the names of tables begin that fit by themselves, on other rows, signals or labels: their
notes name the fallback of these fits, and the run's would be false there."""
_SHOWN = title(PRIMARY).lower()
_NAMED = (f"Fallback of {title(PRIMARY)}", f"{title(PRIMARY)}: not fitted")
"""One of these is in a note that names the fallback of its own fits."""


def fallback_said(results: Results) -> str:
    """What the run says of its fallback; empty: it has no such table."""
    return next((made.note for made in results.tables if made.name == FALLBACK), "")


def fallback_named(table: Table, said: str) -> Table:
    """The table, its note ending with ``said`` where it shows the run's condition-calibrated FRANQ.

    A note that already names a fallback stays as it is.

    Args:
        table: of a report.
        said: see :func:`fallback_said`.
    """
    shown = [table.title, table.note, *(column.title for column in table.columns)]
    shown += [str(cell) for row in table.rows for cell in row[:1]]
    if (
        table.name.startswith(_OWN_FITS)
        or any(words in table.note for words in _NAMED)
        or not any(_SHOWN in text.lower() for text in shown)
    ):
        return table
    return replace(table, note=f"{table.note} {said}".strip())
