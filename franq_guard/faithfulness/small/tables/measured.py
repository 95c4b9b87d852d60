"""Puts the units of a table beside its numbers.

"| Dropout voltage | 180 | 290 | mV |" has them in a column of their own, "| Weight (kg) | 12 |" in
the header; an answer says "180 mV" and "12 kg".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from franq_guard.faithfulness.small.amounts.units import unit_of

_UNITS: Final = frozenset({"unit", "units"})
_NUMBER: Final = r"[-−+±]?\s?\d[\d.,]*"
_BARE: Final = re.compile(rf"{_NUMBER}(?:\s?(?:to|-|–|…)\s?{_NUMBER})?")
_HEAD: Final = re.compile(r"(?P<name>.*\S)\s*[(\[](?:in\s)?(?P<unit>[^()\[\]]{1,20})[)\]]\s*")

Cells = tuple[str, ...]


def with_units(heads: Cells, rows: Sequence[Cells]) -> tuple[Cells, list[Cells]]:
    """Return the header and the rows of a table with each number's unit behind it.

    A column of units goes if each of them has a number to stand behind, and the unit in a header
    if only numbers stand below it.

    Args:
        heads: what stands above the cells, "" where nothing does.
        rows: as many cells each.
    """
    heads, rows = _from_column(heads, rows)
    columns = list(zip(heads, zip(*rows, strict=True), strict=True))
    found = [_from_head(head, cells) for head, cells in columns]
    return tuple(head for head, _ in found), list(zip(*(cells for _, cells in found), strict=True))


def _from_column(heads: Cells, rows: Sequence[Cells]) -> tuple[Cells, Sequence[Cells]]:
    of_units = [at for at, head in enumerate(heads) if head.lower() in _UNITS]
    if len(of_units) != 1:
        return heads, rows
    at = of_units[0]
    if not all(any(map(_BARE.fullmatch, _without(row, at))) for row in rows if row[at]):
        return heads, rows
    told = [tuple(_measured(cell, row[at]) for cell in _without(row, at)) for row in rows]
    return _without(heads, at), told


def _from_head(head: str, cells: Cells) -> tuple[str, Cells]:
    match = _HEAD.fullmatch(head)
    if match is None or unit_of(match["unit"]) is None:
        return head, cells
    if not all(map(_BARE.fullmatch, filter(None, cells))):
        return head, cells
    return match["name"], tuple(_measured(cell, match["unit"]) for cell in cells)


def _without(cells: Cells, at: int) -> Cells:
    return cells[:at] + cells[at + 1 :]


def _measured(cell: str, unit: str) -> str:
    return f"{cell} {unit}" if unit and _BARE.fullmatch(cell) else cell
