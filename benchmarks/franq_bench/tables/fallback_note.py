"""Puts the fallback of condition-calibrated FRANQ under every table that shows it."""

from __future__ import annotations

from dataclasses import replace

from franq_bench.tables.method_names import title
from franq_bench.tables.results import Results
from franq_guard.report.tables import Table

__all__ = ["fallback_named"]

_TABLE = "fallback"
_OWN_FITS = ("training-size-pr-auc", "training-size-prr", "training-size-ece")
_SHOWN = title("franq-condition").lower()


def fallback_named(table: Table, results: Results) -> Table:
    """The table, its note ending with the run's fallback where condition-calibrated FRANQ is in it.

    A table whose rows are fitted on other rows or by other labels than the main tables (training
    sizes, one fit for all, gold faithfulness) says so in its own note.
    """
    said = next((made.note for made in results.tables if made.name == _TABLE), "")
    shown = [table.title, table.note, *(column.title for column in table.columns)]
    shown += [str(cell) for row in table.rows for cell in row[:1]]
    if (
        not said
        or table.name in _OWN_FITS
        or said in table.note
        or not any(_SHOWN in text.lower() for text in shown)
    ):
        return table
    return replace(table, note=f"{table.note} {said}".strip())
