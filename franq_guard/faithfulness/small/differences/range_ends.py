"""Finds a claim that takes the end of a range for its beginning, or the other way round.

"Building began in 1960" beside "built between 1954 and 1960", "born in 1934" beside "(1861–1934)",
"at least 8 bar" beside "5 to 8 bar": the number is there, in another role.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_NUMBER: Final = r"\d+(?:,\d{3})*(?:\.\d+)?"
_DAY: Final = r"(?:\d{1,2} [A-Z][a-z]+ |[A-Z][a-z]+ \d{1,2}, )?"
"""Before a year."""
_RANGE: Final = re.compile(
    rf"(?<![\w.,–-])(?P<low>{_NUMBER})(?: ?[–-] ?| (?:to|and|until|till) )"
    rf"{_DAY}(?P<high>{_NUMBER})(?![\w–-]|[.,]\d)"
)
_BETWEEN: Final = re.compile(r"\bbetween (?:\w+ ){0,2}$", re.IGNORECASE)
"""Before the lower end of a range that is written with "and"."""
_YEAR: Final = re.compile(r"[12]\d{3}")
_LOW: Final = {
    "years": r"\b(?:born|beg[aiu]n|beginning|start(?:s|ed)?|became|since)\b",
    "amounts": r"\b(?:at least|no less than|a minimum of)\b",
}
"""Words that a claim has for the lower end of a range, by what the range is of."""
_HIGH: Final = {
    "years": r"\b(?:died|ended|finished|completed|until|stopped)\b",
    "amounts": r"\b(?:at most|no more than|a maximum of|up to)\b",
}
"""Those for the upper end; both stand directly before an amount."""


def other_end(claim: str, sentence: str) -> bool:
    """Whether a claim says of one end of a range what holds for the other.

    The claim has only one of the two numbers, and words of one end only. Of labelled pairs whose
    sentence has most of the claim's other words 3 unsupported ones are so and no supported one.

    Args:
        claim: a sentence.
        sentence: the one of the context nearest to it.
    """
    return any(
        _says(claim, kind, _LOW, high, low) or _says(claim, kind, _HIGH, low, high)
        for kind, low, high in _ranges(sentence)
        if sentence.count(low) == sentence.count(high) == 1
    )


def _ranges(sentence: str) -> Iterator[tuple[str, str, str]]:
    """What each range is of, its lower and its upper end."""
    for found in _RANGE.finditer(sentence):
        low, high = found["low"], found["high"]
        joined = " and " in found[0] and not _BETWEEN.search(sentence[: found.start("low")])
        if joined or float(low.replace(",", "")) >= float(high.replace(",", "")):
            continue
        years = _YEAR.fullmatch(low) and _YEAR.fullmatch(high)
        yield "years" if years else "amounts", low, high


def _says(claim: str, kind: str, end: Mapping[str, str], here: str, other: str) -> bool:
    """Whether a claim has the words of one end, the number of the other, and no second one."""
    number = rf"(?<![\w.,–-]){re.escape(here)}(?!\w|[.,–-]\d)"
    wanted = [f"{end[kind]} {number}"] if kind == "amounts" else [end[kind], number]
    both = all(re.search(ends[kind], claim, re.IGNORECASE) for ends in (_LOW, _HIGH))
    found = all(re.search(pattern, claim, re.IGNORECASE) for pattern in wanted)
    return found and not both and other not in claim
