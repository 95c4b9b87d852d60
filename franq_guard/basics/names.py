"""Ids and titles as text, whatever type they have."""

from __future__ import annotations

__all__ = ["name_of"]

_NO_NAMES = frozenset({"None", "nan", "NaT", "<NA>"})
"""How missing values of Python, numpy and pandas are written."""


def name_of(*values: object) -> str:
    """The first of the values that names something, as text; empty if none does.

    Vector stores return ids and titles of any type: numbers, UUIDs, dates, bytes, arrays.
    """
    return next((name for value in values if (name := _as_name(value))), "")


def _as_name(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    try:
        name = str(value)
    except Exception:  # of a user's class: a passage without a name is evidence all the same
        return ""
    return "" if name in _NO_NAMES else name
