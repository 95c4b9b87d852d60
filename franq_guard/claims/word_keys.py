"""Words in a normal form, equal for "won" and "wins", and for "3,500" and "3.5 thousand"."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from franq_guard.basics.words import word_set
from franq_guard.claims.rules.lexicon import lines
from franq_guard.claims.rules.verbs import BASE_OF
from franq_guard.claims.rules.words import (
    ADVERBS,
    AUXILIARIES,
    COORDINATORS,
    PREPOSITIONS,
    RELATIVES,
    SUBORDINATORS,
    THIRD_PERSON,
)

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’.][^\W\d_]+)*|%")
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_NUMBERS = {
    word: str(value) for line in lines("numbers") for value, *row in [line.split()] for word in row
}
_SAME = {
    "percent": "%",
    "okay": "ok",
    "u.s": "us",
    "u.k": "uk",
    "centre": "center",
}
_STOP_WORDS = (
    (ADVERBS - {"not", "never", "first", "once", "twice"})
    | AUXILIARIES
    | COORDINATORS
    | PREPOSITIONS
    | RELATIVES
    | SUBORDINATORS
    | THIRD_PERSON
    | word_set("a an the this these those there one's s i we you my our your")
)
_SUFFIXES = ("ingly", "edly", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s", "e")


@dataclass(frozen=True, slots=True)
class Key:
    """A word at characters ``start:end`` in normal form; function words have a low weight."""

    key: str
    start: int
    end: int
    weight: float


def keys(text: str) -> list[Key]:
    """The words of ``text``; a number and its scale word ("million") are one word."""
    out: list[Key] = []
    for match in _WORD.finditer(text):
        low = match.group().lower()
        scale = _SCALES.get(low)
        last = out[-1] if out else None
        if scale is not None and last and last.key[0].isdigit() and match.start() - last.end <= 2:
            out[-1] = Key(_scaled(text[last.start : last.end], scale), last.start, match.end(), 1.0)
            continue
        out.append(Key(normal(low), *match.span(), 0.15 if low in _STOP_WORDS else 1.0))
    return out


@lru_cache(maxsize=4096)
def normal(low: str) -> str:
    """The normal form of a lower-case word, for comparison."""
    low = low.replace("’", "'")
    if low[0].isdigit():
        return _digits(low)
    if low in _NUMBERS:
        return _NUMBERS[low]
    low = _SAME.get(low, low)
    low = low.removesuffix("'s").removesuffix("n't").replace(".", "").replace("'", "")
    plain = unicodedata.normalize("NFKD", low)
    low = "".join(c for c in plain if not unicodedata.combining(c)) or low
    return _stem(BASE_OF.get(low, low))


def _stem(low: str) -> str:
    for suffix in _SUFFIXES:
        if low.endswith(suffix) and len(low) - len(suffix) >= 3 and not low.endswith("ss"):
            stem = low[: -len(suffix)]
            if suffix in {"ies", "ied"}:
                return stem + "y"
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    return low


def _digits(number: str) -> str:
    """Turn "3,500" into "3500" and "3.50" into "3.5"; years and plain numbers stay."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number):
        number = number.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", number):
        number = number.replace(".", "")
    if "." in number and number.count(".") == 1:
        number = number.rstrip("0").rstrip(".")
    return number


def _scaled(number: str, scale: int) -> str:
    """Write "3.5" with scale 3 as "3500"."""
    low = number.lower()
    whole, _, part = _NUMBERS.get(low, _digits(low)).partition(".")
    digits = whole + part.ljust(scale, "0")[:scale]
    rest = part[scale:]
    return (digits.lstrip("0") or "0") + (f".{rest}" if rest else "")
