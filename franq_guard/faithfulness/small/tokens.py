"""Splits a text into words and classifies each as number, name, negation or other word.

Number words are converted to digits, so that "third", "3rd" and "3" are equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.amounts.limits import Limit, begins_limit, limit_of
from franq_guard.faithfulness.small.amounts.units import (
    CURRENCY_PATTERN,
    RATE_PATTERN,
    RATED_PATTERN,
    unit_of,
)
from franq_guard.faithfulness.small.numerals import FULL_TENS, ORDINAL_END, SPELLED, in_digits
from franq_guard.faithfulness.small.replies import SAYS_NO
from franq_guard.faithfulness.small.words import (
    MONTHS,
    NEGATIONS,
    STOPWORDS,
    WORD,
    calendar_word,
    stem,
)
from franq_guard.records import Span

Kind = Literal["number", "few", "name", "opening", "word", "negation", "pronoun"]
"""The class of a word. "few": a number word such as "one" that rarely is a count. "opening": the
capitalised first word of a sentence, which may or may not be a name."""


class Measured(NamedTuple):
    """What stands beside a number; "" where that is unknown."""

    power: str = ""  # "million"
    unit: str = ""  # of measurement or money, or the month of a day
    per: str = ""  # the unit below: "a day"
    limit: Limit = Limit()  # "at least"

    def agrees(self, other: Measured) -> bool:
        """Whether both may be of the same: an unknown one is of any."""
        sides = zip(self[:3], other[:3], strict=True)
        same = all(not a or not b or a == b or {a, b} in _POUNDS for a, b in sides)
        return same and self.limit.agrees(other.limit)


_POUNDS: Final = ({"1 pound", "1 lb"}, {"1 pound", "1 GBP"})
"""A pound is of weight or of money."""


class Token(NamedTuple):
    """A word to compare: its stem, or a number in digits; its class; of what the number is.

    The words of a unit have the number's ``of``, too.
    """

    text: str
    kind: Kind
    of: Measured = Measured()


Tokens = tuple[Token, ...]
Counts = frozenset[tuple[str, str]]
Measures = dict[str, frozenset[Measured]]
"""The numbers of a text, each with what stands beside it."""

_OPENS: Final = re.compile(r"(?:^|[.!?:]\s+)$")
_ABBREVIATION: Final = re.compile(r" ?\([A-Z]{2,6}\)")
_NOT: Final = ("'t", "’t")
_REFUSING: Final = word_set("unable fails failed refuses refused declines declined")
"""Before "to" they negate a verb."""
_LIMITING: Final = word_set("no not")
"""In "no later than Friday" they negate nothing."""
_EXCEPTIONS: Final = word_set("unless otherwise except")
"""They negate what follows: "unless another reader waits" is "if nobody else waits"."""
_NEGATING: Final = NEGATIONS | _EXCEPTIONS
_PRONOUNS: Final = word_set("he she it they")
_FEW: Final = {"one": "1", "first": "1", "second": "2"}
_YEARS: Final = re.compile(r"(?<=\d0)s$")
_POWERS: Final = {"bn": "billion", "mn": "million", "m": "million", "b": "billion", "k": "thousand"}
_BLANK: Final = "[ \u00a0\u202f-]?"
_MONTH: Final = r"(?P<month>[A-Z][a-z]{2,8})\b"
_AFTER: Final = re.compile(
    r"(?:\s?\(\d+\)|\))?"  # thirty-six (36) months
    rf"(?:{_BLANK}(?P<power>thousand|million|billion|trillion|bn|mn)\b|(?P<letter>[kKmMbB])\b)?"
    rf"{_BLANK}(?:(?:business|working|calendar|consecutive|full|more|whole) )?"
    rf"(?:(?P<unit>{RATED_PATTERN})|(?:of )?{_MONTH}|(?P<times>times)(?=\s)|[a-z]+(?=\sper\s)"
    r"|(?P<half>[apAP])\.?[mM]\b)?"
    rf"(?:{RATE_PATTERN})?"
)
_BEFORE: Final = re.compile(
    rf"(?:(?<![A-Za-z])(?P<money>(?i:{CURRENCY_PATTERN}))\s?|\b{_MONTH}\.? (?:the )?)$"
)
_SPEEDS: Final = {"km/h": ("km", "h"), "mph": ("mile", "h"), "m/s": ("m", "s")}
_LONGEST: Final = 20  # what is looked for before a number
_LAST_DAY: Final = 31
_ORDINAL_ENDS: Final = ("st", "nd", "rd", "th")
_DATED: Final = re.compile(r" \d")
_MINUS: Final = re.compile(r"(?:^|[\s(])[-−–]$")
_SAID_MINUS: Final = re.compile(r"(?<!\w )\bminus\s$|[a-z] minus\s$", re.IGNORECASE)
"""Not "12 minus 6"."""
_DEGREES: Final = re.compile(
    r"(?:\s?(?:to|and|–|-)\s?(?:minus\s)?[-−–]?\d+(?:\.\d+)?)?\s?(?:°|degrees?\b)"
    r"(?P<below>\s?[CF]?(?:\s(?:celsius|fahrenheit))?\sbelow\szero\b)?",
    re.IGNORECASE,
)
"""Behind a temperature. Elsewhere "-5%" may be told as "fell by 5%"."""


@lru_cache(maxsize=4096)
def tokens(text: str) -> Tokens:
    """Return the content words of a text, with spelled-out numbers as digits."""
    return tuple(_read(text))


def stated(text: str) -> tuple[str, ...]:
    """Return the content words of a text but its pronouns."""
    return tuple(token.text for token in _read(text) if token.kind != "pronoun")


class Known(NamedTuple):
    """What a text has: its content words, and its numbers, also words that rarely are a count.

    ``names``: the words that have a capital inside a sentence; ``counts``: numbers with the word
    after them.
    """

    words: frozenset[str]
    measures: Measures
    names: frozenset[str]
    counts: Counts


@lru_cache(maxsize=256)
def known(text: str) -> Known:
    """Return the words, numbers and names of a text, which is read once."""
    found = _read(text)
    names = frozenset(token.text for token in found if token.kind == "name")
    return Known(frozenset(token.text for token in found), measured(found), names, counts(found))


def counts(tokens: Sequence[Token]) -> Counts:
    """Return the numbers among tokens, each with the word that it counts."""
    return frozenset(
        (number.text, word.text)
        for number, word in pairwise(tokens)
        if number.kind == "number" and word.kind == "word"
    )


def measured(tokens: Iterable[Token]) -> Measures:
    """Return the numbers among tokens."""
    found: Measures = {}
    for token in tokens:
        if token.kind in ("number", "few"):
            found[token.text] = found.get(token.text, frozenset()) | {token.of}
    return found


def _read(text: str) -> list[Token]:
    found: list[Token] = []
    before = -2  # end of the previous one
    measure = 0  # end of the latest number with its unit
    text = SAYS_NO.sub("", _ABBREVIATION.sub("", in_digits(text).text))
    for match in WORD.finditer(text):
        word, start = match.group(), match.start()
        refused = word in _REFUSING and text.startswith(" to ", match.end())
        if refused or text[match.end() : match.end() + 2] in _NOT:  # failed to, isn't, can't
            found.append(Token("not", "negation"))
            continue
        if word.lower() in _LIMITING and begins_limit(text, match.end()):
            continue
        opens = bool(_OPENS.search(text[max(0, start - 4) : start]))
        dated = word == "May" and bool(_DATED.match(text, match.end()))
        token = _token(word, opens=opens and not dated)
        if token is None:
            continue
        if token.kind in ("number", "few"):
            after = _AFTER.match(text, match.end())
            of = _beside(text, token.text, match.span(), after)
            limit = limit_of(text, *match.span(), of.unit.partition(" ")[2])
            below = "-" * (token.kind == "number" and _is_below_zero(text, *match.span()))
            token = token._replace(text=below + token.text, of=of._replace(limit=limit))
            measure = after.end() if after else 0
        elif start < measure:
            token = token._replace(of=found[-1].of)
        unit = token.kind == "number" and word[0].isalpha() and len(token.text) == 1
        if unit and found and found[-1].text in FULL_TENS:  # twenty-five
            limit = found[-1].of.limit if found[-1].of.limit.side else token.of.limit
            of = token.of._replace(limit=limit)
            found[-1] = Token(str(int(found[-1].text) + int(token.text)), "number", of)
            continue
        beside = start - before == 1
        if beside and found[-1].kind == "opening" and token.kind == "name":
            found[-1] = Token(found[-1].text, "name")
        found.append(token)
        before = match.end()
    return found


def _is_below_zero(text: str, start: int, end: int) -> bool:
    """Whether a number is below zero: "-5 °C", "5 degrees below zero", "minus 5"."""
    degrees = _DEGREES.match(text, end)
    before = text[max(0, start - _LONGEST) : start]
    if degrees and (degrees["below"] or _MINUS.search(before)):
        return True
    return _SAID_MINUS.search(before) is not None


def _beside(text: str, number: str, at: Span, after: re.Match[str] | None) -> Measured:
    """What stands beside a number: "60 mg", "$1.2M", "31 May", "May 31st"."""
    start, end = at
    before = _BEFORE.search(text[max(0, start - _LONGEST) : start])
    sides = [side.groupdict() for side in (before, after) if side]
    said = {name: word for side in sides for name, word in side.items() if word}
    power = said.get("power") or (said.get("letter", "") if "money" in said else "")
    power = _POWERS.get(power.lower(), power)
    if number.isdecimal() and len(number) <= 2 and int(number) <= _LAST_DAY:
        said_months = {calendar_word((side["month"] or "").lower()) for side in sides}
        months = [month for month in MONTHS if month in said_months]
        if months:  # of "March 27 May 1" it is not known
            return Measured(power, "" if len(months) > 1 else months[0])
    if text[start:end].lower().endswith(_ORDINAL_ENDS):  # the third day is no three days
        return Measured(power)
    if "half" in said:
        return Measured(power, said["half"].lower() + "m")
    unit = said.get("money") or said.get("unit", "")
    every = said.get("every", "") if unit or "times" in said else ""
    return Measured(power, *_rate(unit, said.get("per") or every))


def _rate(unit: str, per: str) -> tuple[str, str]:
    """The units of a rate, each in one form; an unknown one is ""."""
    known = unit_of(unit)
    if known and known.kind in _SPEEDS:
        unit, per = _SPEEDS[known.kind]
    above, below = (f"{u.size} {u.kind}" if (u := unit_of(one)) else "" for one in (unit, per))
    return above, below


def _token(word: str, *, opens: bool) -> Token | None:
    lower = word.lower()
    if lower[0].isdigit():
        plain = _YEARS.sub("", ORDINAL_END.sub("", lower.replace(",", "")))  # 3rd, 1,200, 1990s
        return Token(plain, "number")
    if lower in SPELLED and (opens or word.islower()):
        return Token(str(SPELLED[lower]), "number")
    if lower in _FEW:
        return Token(_FEW[lower], "few")
    if lower in _NEGATING:
        return Token(lower, "negation")
    if lower in _PRONOUNS:
        return Token(lower, "pronoun")
    if word == "May" and not opens:
        return Token("may", "name")  # the month
    if lower in STOPWORDS or len(word) == 1:
        return None
    if not word[0].isupper():
        return Token(stem(lower), "word")
    return Token(stem(lower), "opening" if opens else "name")
