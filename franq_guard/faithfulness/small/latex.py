r"""Reads the amounts that are set in LaTeX: "$3.5\,\text{kg}$" is "3.5 kg".

Only what is one amount and nothing else: a formula keeps its signs, and so does a price ("$5").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from franq_guard.faithfulness.small.rewritten import Change

_LONGEST: Final = 60
"""Characters of an amount in LaTeX; what is longer is a formula."""
_SET: Final = re.compile(
    rf"(?<![\w$\\])\$(?! )(?P<dollars>[^$\n]{{1,{_LONGEST}}})(?<! )\$(?![\w$])"
    rf"|\\\((?P<brackets>[^\n]{{1,{_LONGEST}}}?)\\\)"
    r"|\\(?:SI|qty)\{(?P<number>[\d.]{1,20})\}\{(?P<unit>[A-Za-z%]{1,8})\}"
    r"|(?<=\d)(?P<gap>~|\\[,;:! ])(?=[A-Za-zµμ°%Ω]{1,4}\b|[°%])"
)
_SIGNS: Final = (
    (re.compile(r"\{([,.])\}"), r"\1"),
    (re.compile(r"\\(?:text|textrm|mathrm|operatorname|rm)\s?\{\s?([^{}]*?)\s?\}"), r"\1"),
    (re.compile(r"\^\{?\\circ\}?\s?"), "°"),
    (re.compile(r"\\degree(?![A-Za-z])\s?"), "°"),
    (re.compile(r"\\(?:mu|micro)(?![A-Za-z])\s?"), "µ"),
    (re.compile(r"\\(?:Omega|ohm)(?![A-Za-z])\s?"), "Ω"),
    (re.compile(r"\s?\\(?:times|cdot)(?![A-Za-z])\s?"), " × "),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"(?:~|\\[,;:! ]|\\q?quad\b)+\s?"), " "),
    (re.compile(r"(?<=10\^)\{([-+]?\d{1,2})\}"), r"\1"),
    (re.compile(r"(?<=[a-z])\^\{?2\}?(?!\d)"), "²"),
    (re.compile(r"(?<=[a-z])\^\{?3\}?(?!\d)"), "³"),
)
"""What LaTeX writes, and what one reads there."""
_AMOUNT: Final = re.compile(
    r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d+)?(?: × 10\^[-+]?\d{1,2})?|10\^[-+]?\d{1,2})"
    r"(?:\s?[°%]| ?°?[A-Za-zµΩ]{1,12}[²³]?(?:/[A-Za-z]{1,12}[²³]?)?)?"
)


def latex_amounts(text: str) -> Iterator[Change]:
    """Where an amount is set in LaTeX, and how one reads it."""
    for match in _SET.finditer(text):
        if match["gap"]:
            yield match.span(), " "
        elif match["number"]:
            yield match.span(), f"{match['number']} {match['unit']}"
        else:
            said = _read(match["dollars"] or match["brackets"])
            if _AMOUNT.fullmatch(said):
                yield match.span(), said


def _read(written: str) -> str:
    for sign, read in _SIGNS:
        written = sign.sub(read, written)
    return written.strip()
