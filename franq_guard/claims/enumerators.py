"""What counts or only opens a statement: "Third, Rome is big", "Note that Rome is big"."""

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
_OPENED = re.compile(
    r"(?:(?:please )?(?:note|remember|keep in mind|bear in mind|be aware) that "
    r"|(?:(?:please )?note|important|tip|warning|caution|remember|reminder): "
    r"|(?:(?:please )?(?:remember|be sure|make sure)|(?:please )?(?:don['’]t|do not) forget) to "
    r"|please )(?=[\w\"“`'*])",
    re.I,
)


def uncounted(text: str) -> str:
    """The text without a "Third, ", "Step 1: ", "#1 ", "1: ", then "Please note that "."""
    for pattern in (_COUNTED, _OPENED):
        found = pattern.match(text)
        if found is not None:
            text = text[found.end()].upper() + text[found.end() + 1 :]
    return text
