"""Rows of a table in the values that applications pass around, as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, time, timedelta
from numbers import Number
from typing import Any
from uuid import UUID

_LONGEST_CELL = 200  # characters; a longer text is a document
_SINGLE = (Number, date, time, timedelta, UUID)


def row_of(values: Mapping[Any, Any], documents: Collection[str]) -> str:
    """Lines of "key: value" for values that mean something together, as a name and a price.

    Empty if one is a document (a mapping with one of the keys ``documents``), a list of rows or
    anything else, or if all are texts and one of them is a sentence: a mapping may hold documents
    by their names.
    """
    held = {key: value for key, value in values.items() if not _is_blank(value)}
    texts = [value for value in held.values() if isinstance(value, str)]
    apart = len(texts) == len(held) and any(map(ends_as_sentence, texts))
    cells = {key: _cell(value, documents) for key, value in held.items()}
    if not texts or apart or len(held) < 2 or None in cells.values():
        return ""
    return "\n".join(f"{key}: {cell}" for key, cell in cells.items())


def row_and_rest(values: Mapping[Any, Any], documents: Collection[str]) -> tuple[str, list[Any]]:
    """:func:`row_of` all values, else of the short ones beside lists and long texts, and the rest.

    As an order has a number, a sum and a list of items. Short texts alone may be documents by their
    names, so they are a row only beside a number or date.
    """
    if row := row_of(values, documents):
        return row, []
    cells = {key: v for key, v in values.items() if _cell(v, documents) is not None}
    if len(cells) == len(values) or not any(isinstance(v, _SINGLE) for v in cells.values()):
        cells = {}
    row = row_of(cells, documents)
    return row, [v for key, v in values.items() if not row or key not in cells]


def unnamed_row_of(values: tuple[Any, ...]) -> str:
    """The names and numbers in a tuple, as a database returns them, beside each other.

    Empty for anything else, also for a document with its score.
    """
    held = [value for value in values if not _is_blank(value)]
    texts = [value for value in held if isinstance(value, str)]
    flat = all(isinstance(value, (str, *_SINGLE)) for value in held)
    row = _cell(held, ()) if flat and 0 < len(texts) < len(held) else None
    return row or ""


def _cell(value: Any, documents: Collection[str]) -> str | None:
    """A short text, a number, a date, or several of these, as a text; None for all else."""
    if isinstance(value, str):
        return value.strip() if len(value) <= _LONGEST_CELL and "\n" not in value else None
    if isinstance(value, _SINGLE):
        return str(value)
    if isinstance(value, Mapping) and not any(key in value for key in documents):
        inner = {key: _cell(v, documents) for key, v in value.items() if not _is_blank(v)}
        found = [cell and f"{key} {cell}" for key, cell in inner.items()]
    elif isinstance(value, (list, tuple)) and not any(map(_is_item, value)):
        found = [_cell(v, documents) for v in value if not _is_blank(v)]
    else:
        return None
    cells = [cell for cell in found if cell is not None]
    return ", ".join(cells) if len(cells) == len(found) else None


def _is_item(value: Any) -> bool:
    """Whether something in a list is a row or document of its own."""
    return isinstance(value, Mapping) or (isinstance(value, str) and ends_as_sentence(value))


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def ends_as_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return text.rstrip().endswith((".", "!", "?"))
