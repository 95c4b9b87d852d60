"""Reads one table of a benchmark's folder: by name from ``results.json``, by title from a report.

Pages quote figures of committed runs; with these two their tests look the figures up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from franq_bench.tables.results import METRICS, Results
from franq_bench.tables.summary import datasets_table, main_table, methods_table, summary_table
from franq_guard.report.tables import Table

__all__ = ["report_table", "table_of"]

Rows = list[dict[str, str]]


def table_of(folder: Path, name: str) -> Table:
    """A table of a run by its name, with the figures in full.

    Args:
        folder: as ``franq bench`` wrote it.
        name: of a stored table ("one-change", "thresholded", "runtime", ...), or "methods",
            "summary", "datasets", "pr-auc", "prr", "auroc" or "ece", which are made of the rows.

    Raises:
        FileNotFoundError: where there is no ``results.json``.
        ValueError: where it has no such table; the message lists the names.
    """
    results = Results.read(folder)
    makers = (summary_table, methods_table, datasets_table)
    made = [make(results) for make in makers] + [main_table(results, m) for m in METRICS]
    found = {table.name: table for table in (*made, *results.tables)}
    if name not in found:
        raise ValueError(f"{folder} has no table {name!r}; there are: {', '.join(found)}")
    return found[name]


def report_table(file: Path, title: str) -> Rows:
    """A table of a report in Markdown by its title, as it is shown: ".40 ±.06", "10 of 44 [3, 22]".

    Args:
        file: ``REPORT.md`` of a folder.
        title: the line above the table, without the marks of bold type.

    Returns:
        A row as text by column; of the headings between rows the last one stands under "".

    Raises:
        ValueError: where the report has no such table.
    """
    text = file.read_text(encoding="utf-8")
    for found in re.finditer(r"^\*\*(.+)\*\*\n\n((?:\|.*\n)+)", text, re.M):
        if _plain(found[1]) == title:
            head, _, *lines = [_cells(line) for line in found[2].splitlines()]
            return list(_rows(head, lines))
    raise ValueError(f"{file} has no table with the title {title!r}")


def _rows(head: list[str], lines: list[list[str]]) -> Iterator[dict[str, str]]:
    heading = ""
    for cells in lines:
        if any(cells[1:]):
            yield {"": heading} | dict(zip(head, cells, strict=True))
        else:
            heading = cells[0]


def _cells(line: str) -> list[str]:
    return [_plain(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _plain(cell: str) -> str:
    """Without the marks of best and second best, and without the escapes."""
    bare = re.sub(r"(?<!\\)[*_]", "", cell.strip())
    return re.sub(r"\\(.)", r"\1", bare).replace("&amp;", "&")
