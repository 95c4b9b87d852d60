"""Normalises text to words that can be compared: one spelling for each of its variants.

After the grader of SQuAD (lower case, no punctuation, no articles), and besides:

- accents and ligatures folded, typographic quotes and dashes plain, a possessive 's dropped,
  initials joined ("J. R. R." is "jrr"), "St." and "Mt." written out, "&" is "and";
- numbers as digits: "2,579", "twenty-one" (21), "3.5 million", "Nineteen Eighty-Four" (1984),
  "third" (3rd); "one of" is kept, because there "one" is a pronoun. "$5" is "5 dollar"; "24-10" and
  "7:30" stay one word each, so that no part of them matches as a separate number;
- dates in one order, day month year: "July 4, 1776", "the fourth of July 1776", "1776-07-04" and
  "7/4/1776" (month first if both readings are valid) are "day4 july 1776". The day is marked, so
  that the number 4 does not match a date; the year can still match.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

ARTICLES = frozenset({"a", "an", "the"})


class Word(NamedTuple):
    """A normalised word and the punctuation before it (``","``, ``"/"`` ...)."""

    text: str
    before: str = ""


_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
_SMALL_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
_MONTHS = _MONTH_NAMES.split()
_MONTH = {m: m for m in _MONTHS} | {m[:3]: m for m in _MONTHS} | {"sept": "september"}
_ABBREVIATIONS = {"st": "saint", "mt": "mount"}
_SMALL = {word: value for value, word in enumerate(_SMALL_NAMES.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_NAMES.split(), start=2)}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_SCALES["trillion"] = 10**12
_IRREGULAR = {
    "first": "one",
    "second": "two",
    "third": "three",
    "fifth": "five",
    "eighth": "eight",
    "ninth": "nine",
    "twelfth": "twelve",
}
_CARDINALS = {**_SMALL, **_TENS, **_SCALES}
_ORDINALS = {
    (word[:-1] + "ieth" if word.endswith("y") else word + "th"): word for word in _CARDINALS
} | _IRREGULAR

_CHARACTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "æ": "ae", "œ": "oe"}
    | dict.fromkeys("‐‑‒–—−", "-")
    | dict.fromkeys("’‘ʼ`´", "'")
)
_CURRENCY = {"$": "dollar", "£": "pound", "€": "euro", "¥": "yen"}
_MONEY = re.compile(r"([$£€¥])\s?(\d[\d.,]*)(\s(?:thousand|million|billion|trillion)\b)?")
_INITIALS = re.compile(r"\b[a-z](?:\.\s?[a-z]\b)+\.?")
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_WORD = re.compile(
    r"(?<![\w-])-?\d+(?:[.:]\d+)*(?:\s?-\s?\d+(?:\.\d+)?)*(?:(?:st|nd|rd|th|s)\b)?"
    r"|\d+|[^\W\d_][^\W_]*"
)
_DAY = re.compile(r"(\d{1,2}|\d{1,2}-\d{1,2})(?:st|nd|rd|th)?")
_YEAR = re.compile(r"\d{3,4}")


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[Word, ...]:
    """The normalised words of ``text`` in order, without articles unless there is nothing else.

    Empty if the text contains no letter and no digit.
    """
    found = _without_articles(_numbers(_split(_folded(text))))
    return tuple(_dates([Word(_ABBREVIATIONS.get(w.text, w.text), w.before) for w in found]))


def texts(text: str) -> tuple[str, ...]:
    """The normalised words without their punctuation."""
    return tuple(word.text for word in words(text))


def holds(text: str, wanted: Sequence[tuple[str, ...]]) -> bool:
    """Whether ``text`` contains one of the word sequences (as returned by :func:`texts`)."""
    said = f" {' '.join(texts(text))} "
    return any(w and f" {' '.join(w)} " in said for w in wanted)


def _without_articles(found: list[Word]) -> list[Word]:
    kept: list[Word] = []
    before = ""
    for word in found:
        before += word.before
        if word.text not in ARTICLES:
            kept.append(Word(word.text, before))
            before = ""
    return kept or found


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    plain = plain.casefold().translate(_CHARACTERS).replace("&", " and ").replace("%", " percent")
    plain = _MONEY.sub(lambda m: f"{m[2]}{m[3] or ''} {_CURRENCY[m[1]]}", plain)
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", plain).replace("per cent", "percent")
    plain = _ISO.sub(lambda m: _dated(int(m[3]), int(m[2]), m[1]) or m[0], plain)
    plain = _SLASHED.sub(
        lambda m: _dated(int(m[2]), int(m[1]), m[3]) or _dated(int(m[1]), int(m[2]), m[3]) or m[0],
        plain,
    )
    plain = _INITIALS.sub(lambda m: re.sub(r"[.\s]", "", m[0]), plain)
    return re.sub(r"'s\b", "", plain).replace("'", "")


def _dated(day: int, month: int, year: str) -> str:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return ""
    return f"{day} {_MONTHS[month - 1]} {year}"


def _split(text: str) -> list[Word]:
    found, at = [], 0
    for match in _WORD.finditer(text):
        before = "".join(c for c in text[at : match.start()] if not c.isspace())
        at = match.end()
        found.append(Word(re.sub(r"\s", "", match.group()), before))
    return found


def _numbers(found: Sequence[Word]) -> list[Word]:
    """Convert each run of number words to one word of digits."""
    out: list[Word] = []
    at = 0
    while at < len(found):
        text, used = _number_at([w.text for w in found[at : at + 12]])
        out.append(Word(text, found[at].before))
        at += used
    return out


def _number_at(run: Sequence[str]) -> tuple[str, int]:
    """The number at the start of ``run``, or else its first word, and how many words it takes."""
    if run[0] in _CARDINALS and run[1:2] == ["of"]:
        return run[0], 1
    total: float = 0  # the thousands, millions ... that are complete
    part: float | None = None  # what was read after them; None before the first word
    last = 0.0  # the value of the word before
    used = at = 0  # an "and" is only used if a number follows
    ordinal = False
    while at < len(run) and not ordinal:
        word = _ORDINALS.get(run[at], run[at])
        ordinal = word != run[at]
        if word in _SCALES and (part is not None or at == 0):
            part, last = (part or 1) * _SCALES[word], _SCALES[word]
            if _SCALES[word] >= 1000:
                total, part = total + part, 0
        elif (value := _value(word, first=at == 0)) is not None and _fits(value, part, last):
            century = 100 if _is_year(value, part, last) else 1
            part, last = (part or 0) * century + value, value
        elif not (word == "and" and last in _SCALES.values() and _continues(run[at + 1 :])):
            break
        at += 1
        used = at if word != "and" else used
    if used == 0 or (used == 1 and run[0] not in _CARDINALS and run[0] not in _ORDINALS):
        return run[0], 1
    return _written(total + (part or 0), ordinal=run[used - 1] in _ORDINALS), used


def _value(word: str, *, first: bool) -> float | None:
    if first and re.fullmatch(r"\d+(\.\d+)?", word):
        return float(word)
    return _SMALL.get(word, _TENS.get(word))


def _fits(value: float, part: float | None, last: float) -> bool:
    """Whether ``value`` may come next: first, after a scale or tens (twenty-one), or in a year."""
    if part is None or last in _SCALES.values():
        return True
    return (last in _TENS.values() and 0 < value < 10) or _is_year(value, part, last)


def _is_year(value: float, part: float | None, last: float) -> bool:
    """Whether ``value`` is the second half of a year, as in "nineteen eighty-four"."""
    return part == last and last in range(13, 21) and 10 <= value < 100


def _continues(rest: Sequence[str]) -> bool:
    return bool(rest) and (rest[0] in _SMALL or rest[0] in _TENS or rest[0] in _ORDINALS)


def _written(value: float, *, ordinal: bool) -> str:
    value = round(value, 6)  # rounding error: 2.3 * 10**6 is not an exact integer
    digits = str(int(value)) if value == int(value) else str(value)
    if not ordinal:
        return digits
    ending = {1: "st", 2: "nd", 3: "rd"}.get(round(value) % 10, "th")
    return digits + ("th" if round(value) % 100 in (11, 12, 13) else ending)


def _dates(found: list[Word]) -> list[Word]:
    out: list[Word] = []
    at = 0
    while at < len(found):
        date, used = _date_at(found[at : at + 5])
        out.extend(date or [found[at]])
        at += used
    return out


def _date_at(run: Sequence[Word]) -> tuple[list[Word], int]:
    """A date at the start of ``run`` in the order day, month, year, and the words it takes."""
    text = [*(word.text for word in run), "", "", ""]
    if text[0] in _MONTH:  # July 4 1776, July 1776
        day, month = _DAY.fullmatch(text[1]), text[0]
        taken = 2 if day else 1
    else:  # 4 July 1776, 4th of July 1776
        day, month = _DAY.fullmatch(text[0]), text[2 if text[1] == "of" else 1]
        taken = 3 if text[1] == "of" else 2
        if not day or month not in _MONTH:
            return [], 1
    of = text[taken] == "of"
    year = _YEAR.fullmatch(text[taken + of])
    if year:
        taken += of + 1
    elif not day:
        return [], 1
    parts = [*([f"day{day[1]}"] if day else []), _MONTH[month], *([year[0]] if year else [])]
    return [Word(p, run[0].before if i == 0 else "") for i, p in enumerate(parts)], taken
