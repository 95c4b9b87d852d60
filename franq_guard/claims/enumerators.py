"""What counts a statement within an answer, as in "Third, Rome is big": it states nothing."""

from __future__ import annotations

import re

__all__ = ["uncounted"]

_ORDINAL = r"(?:First|Second|Third|Fourth|Fifth|Sixth|Seventh|Eighth|Ninth|Tenth)(?:ly)?"
_KEYCAP = r"(?:[0-9#*]\ufe0f?\u20e3|\U0001f51f)"
_COUNTED = re.compile(
    rf"(?:(?:{_ORDINAL}|Finally|Lastly), (?!(?i:{_ORDINAL}|and)\b)"
    rf"|(?:Step|Point) #?\d{{1,2}}[:.)] |{_KEYCAP}[:.]?\s*"
    r"|#\d{1,2}[:.)]? (?=[A-Z])"
    r"|\d{1,2}: (?=[A-Z][^:]*$))"  # "6: Element: Carbon." is a row of a table
    r"(?=\W*\w)"
)


def uncounted(text: str) -> str:
    """The text without a "Third, ", "Step 1: ", "#1 " or "1: " at its beginning."""
    found = _COUNTED.match(text)
    if found is None:
        return text
    return text[found.end()].upper() + text[found.end() + 1 :]
