"""Reads the values of a text: numbers, dates, times of day, measures, shares, quarters of a year.

Two readings are equal only where the texts surely say the same: "three years" and "36 months" are,
"a year" and "365 days" or "a third" and "33 %" are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.amounts.clock import times
from franq_guard.faithfulness.small.amounts.phones import phones
from franq_guard.faithfulness.small.amounts.powers import powers
from franq_guard.faithfulness.small.amounts.units import (
    CURRENCIES,
    CURRENCY_PATTERN,
    RATE_PATTERN,
    RATED_PATTERN,
    UNIT_PATTERN,
    Unit,
    unit_of,
)
from franq_guard.faithfulness.small.numerals import (
    CARDINAL_PATTERN,
    CARDINALS,
    ORDINALS,
    in_digits,
    one_of,
)
from franq_guard.faithfulness.small.words import MONTHS, STOPWORDS, stem

Value = tuple[object, ...]
"""Its kind and what it says: `("date", 2015, 3, 3)`, `("number", 18)`, `("months", 36)`."""


class Found(NamedTuple):
    """A value in a text."""

    start: int
    end: int
    value: Value


class Amount(NamedTuple):
    """A number with what it is of: a kind of unit, the stem of what is counted, or "year"."""

    start: int
    end: int
    number: Decimal
    kind: str


_BLANKS: Final = " \u00a0\u2009\u202f"
_MONTH: Final = rf"(?P<month>{one_of(MONTHS)})[a-z]*\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>\d{4})\b"
_DATES: Final = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY} (?:of )?{_MONTH},? {_YEAR}",
        rf"\b{_MONTH} {_DAY},? {_YEAR}",
        r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b",
        rf"\b(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}",
        rf"\b(?P<day>\d{{1,2}})/(?P<month>\d{{1,2}})/{_YEAR}",
        rf"\b(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})/{_YEAR}",  # either order may be meant
    )
]
_YEARLESS: Final = [
    re.compile(rf"{pattern}(?!,? \d{{4}})", re.IGNORECASE)
    for pattern in (rf"\b{_DAY} (?:of )?{_MONTH}\b", rf"\b{_MONTH} {_DAY}\b")
]
_FEASTS: Final = {
    "new year's day": (1, 1),
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
}
_FEAST: Final = re.compile(one_of(_FEASTS).replace("'", "['’]"), re.IGNORECASE)
_WHOLE: Final = (
    rf"[^\D0]\d{{0,2}}(?:(?:[,'’{_BLANKS}]\d{{3}})+(?!\d)|(?:\.\d{{3}}){{2,}}(?!\d)"
    r"|(?:\.\d{3})+(?=,\d\d?\b))|0(?!\d)|[^\D0]\d*"
)
"""With separators as in 1,200, 1'200, 1 200, 1.200.000 or 1.200,50."""
_UNSURE: Final = re.compile(r"[^\D0]\d{0,2}\.\d{3}")
"""1.500 is 1,500 to some and 1.5 to others, so that it is equal to neither."""
_DIGITS: Final = (
    rf"(?P<whole>{_WHOLE})(?P<part>[.,]\d+)?"
    r"(?![.,:/–-]?\d)"  # no date, time, score, range or version
)
_SPELLED: Final = rf"(?P<word>\b(?i:{CARDINAL_PATTERN})\b)(?:\s?\(\d+\))?"  # thirty-six (36)
_NUMBER: Final = re.compile(
    rf"(?<![\w.,:/–-])(?:{_DIGITS}|{_SPELLED})"
    rf"(?:[{_BLANKS}-]?(?P<power>thousand|million|billion|trillion|bn|k)\b"
    rf"|[{_BLANKS}-]?(?P<unit>{RATED_PATTERN})(?:{RATE_PATTERN})?"
    rf"|[{_BLANKS}]?(?P<other>[A-Za-zµ°]{{1,4}}\b))?"
)
_MONEY: Final = re.compile(rf"(?<![A-Za-z])((?i:{CURRENCY_PATTERN}))\s?$")
_LONGEST: Final = 5  # a currency and a blank before a number
_NUMBERED: Final = re.compile(
    r"\b(?:(?i:version|release|section|chapter|clause|article|figure|table)|[A-Z]\w*[a-z]\w*)\s$"
)
_LABEL: Final = 30  # a name and a blank before a number
_RATE: Final = re.compile(RATE_PATTERN)
_THING: Final = re.compile(r"[ -]([^\W\d_]+)(?!/)\b")
POWERS: Final = {"k": 3, "thousand": 3, "million": 6, "bn": 9, "billion": 9, "trillion": 12}
_SIGN: Final = re.compile(rf"(?:[$€£¥]|\b(?:{'|'.join(CURRENCIES)})\s?)$")
_LEAST: Final = 10  # a smaller number in words is no count often enough
_AND_HALF: Final = re.compile(r"\s+and\s+(?:a|one)\s+(?:half|quarter)\b", re.IGNORECASE)
AND: Final = re.compile(r",?\s?(?:and\s)?")

_DOZENS: Final = re.compile(
    rf"\b(?:(?P<count>an?|half an?|{CARDINAL_PATTERN}) )dozen\b", re.IGNORECASE
)
_PART_OF_UNIT: Final = re.compile(
    rf"\b(?:(?P<count>an?|\d+|{CARDINAL_PATTERN}) (?:(?P<before>\w+) )?and a half"
    r"|(?P<part>half|a quarter of|three quarters of)(?: an?|(?=[ -]hour\b)))"
    rf"(?:[ -](?P<unit>{UNIT_PATTERN}))?",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(  # not in "twice a week"
    rf"\b(?:within|after|for) (?P<measure>an? (?!second\b)(?P<unit>{UNIT_PATTERN}))", re.IGNORECASE
)
_BY_A_SHARE: Final = (  # "a quarter fewer"
    "more less fewer off higher lower larger smaller cheaper dearer longer shorter faster slower "
    "heavier lighter"
).replace(" ", "|")
_PARTS: Final = {"half": 2, "quarter": 4, "fifth": 5, "eighth": 8, "tenth": 10, "twentieth": 20}
_SHARE: Final = re.compile(
    r"(?P<other>\b(?:the|an?|th[ai]t|each|its|his|her|their|one|first|second) (?:\w+ )?half)"
    r"|(?P<by>\b(?:by|than) )?"
    r"(?P<share>\b(?:(?P<count>(?a:an?|one|two|three|four|seven|nine))[ -])?"
    rf"(?P<part>{one_of(_PARTS)})s?\b)"
    rf"(?P<of> of (?!an?\b|\d|the year\b)| the\b|(?= (?:{_BY_A_SHARE})\b))?"
    r"(?P<ends>(?=\s*(?:[.,;:)!?]|$)|\s(?:from|since|compared|between|in|over|during|on)\b))?",
    re.IGNORECASE,
)
_COUNT: Final = rf"\d{{1,3}}|{CARDINAL_PATTERN}"
_OUT_OF: Final = re.compile(
    rf"(?<![\w.,/-])(?P<few>{_COUNT}) (?:in|out of)(?: every)? (?P<many>{_COUNT})\b(?![.,:/-]?\d)",
    re.IGNORECASE,
)
_ONE: Final = word_set("a an one")
_QUARTER: Final = re.compile(
    r"\b(?:Q(?P<digit>[1-4])|(?P<word>(?a:first|second|third|fourth)) quarter)\b"
    r"(?P<dated>(?: of)? (?P<year>\d{4})\b)?",
    re.IGNORECASE,
)


def read(text: str) -> Iterator[Found]:
    """The values of a text, a number with a unit also without it; some overlap."""
    digits = in_digits(text)
    for reader in (
        dates, _feasts, _numbers, _measures_in_words, _shares, _clock_times, _quarters, _codes
    ):  # fmt: skip
        for found in reader(digits.text):
            start, end = digits.original(found.start, found.end)
            yield found._replace(start=start, end=end)


def dates(text: str) -> Iterator[Found]:
    """The days of a text; "03/04/2015" may be two."""
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = int(match["year"]), _month(match["month"]), int(match["day"])
            yield Found(*match.span(), ("date", *parts))


def _feasts(text: str) -> Iterator[Found]:
    """The feasts that have a day of their own, by name or by that day without a year."""
    for match in _FEAST.finditer(text):
        yield Found(*match.span(), ("feast", *_FEASTS[match.group().lower().replace("’", "'")]))
    for match in (match for pattern in _YEARLESS for match in pattern.finditer(text)):
        day = _month(match["month"]), int(match["day"])
        if day in _FEASTS.values():
            yield Found(*match.span(), ("feast", *day))


def _month(written: str) -> int:
    return int(written) if written.isdigit() else MONTHS.index(written[:3].lower()) + 1


def _numbers(text: str) -> Iterator[Found]:
    matches = list(_NUMBER.finditer(text))
    runs = _runs(text, matches)
    yield from _sums(runs)
    joined = _joined(text, runs)
    for match in matches:
        power = _power(text, match)
        number, end = _amount(match).scaleb(power), _end(match, power)
        if _counts_up(text, match) or _UNSURE.fullmatch(text, match.start(), end):
            yield Found(match.start(), end, ("place", text[match.start() : end]))
            continue
        if match["whole"] or number >= _LEAST:
            yield Found(match.start(), end, ("number", number))
        written = match["unit"] or match["other"]
        if written and not power and match not in joined:
            end = max(match.end("unit"), match.end("other"))
            yield Found(match.start(), end, ("measure", number, written))
            if match["unit"] and (unit := unit_of(written)):
                yield Found(match.start(), end, (unit.kind, number * unit.size))
                if per := unit_of(match["per"] or match["every"] or ""):
                    yield Found(match.start(), match.end(), _rate(number * unit.size, unit, per))


def _counts_up(text: str, match: re.Match[str]) -> bool:
    """Whether 2.10 comes nine after 2.1: "version 2.10", "Python 3.10", "section 4.20"."""
    bare = match["part"] and not (match["power"] or match["unit"])
    ends = bare and len(match["part"]) > 2 and match["part"].endswith("0")
    return bool(ends and _NUMBERED.search(text, max(0, match.start() - _LABEL), match.start()))


def amounts(text: str) -> Iterator[Amount]:
    """The numbers of a text of which it is known what they are of, none of them twice."""
    digits = in_digits(text)
    for found in _amounts(digits.text):
        start, end = digits.original(found.start, found.end)
        yield found._replace(start=start, end=end)


def _amounts(text: str) -> Iterator[Amount]:
    matches = list(_NUMBER.finditer(text))
    joined = _joined(text, _runs(text, matches))
    for match in matches:
        if match in joined:
            continue
        power = _power(text, match)
        end = _end(match, power)
        if _UNSURE.fullmatch(text, match.start(), end):
            continue
        number = _amount(match).scaleb(power)
        money = _MONEY.search(text, max(0, match.start() - _LONGEST), match.start())
        unit = unit_of(money[1] if money else "" if power else match["unit"] or "")
        thing = _THING.match(text, end)
        beside = thing is not None and thing[1] not in STOPWORDS
        rate = _RATE.match(text, end)
        if unit and not (money and rate):
            per = unit_of(match["per"] or match["every"] or "")
            end = end if money else match.end()
            kind = f"{unit.kind}/{per.size} {per.kind}" if per else unit.kind
            yield Amount(money.start() if money else match.start(), end, number * unit.size, kind)
        elif re.fullmatch(r"1\d{3}|20\d\d", text[match.start() : end]) and not beside:
            yield Amount(match.start(), end, number, "year")
        elif thing and not money:
            yield Amount(match.start(), end, number, f"of {stem(thing[1].lower())}")


def _rate(amount: Decimal, unit: Unit, per: Unit) -> Value:
    """60 litres a minute are 3,600 an hour, yet 35 mg a week is no daily dose of 5."""
    if per.kind != "time":
        return "rate", unit.kind, amount, per
    return "rate", unit.kind, Fraction(amount) / Fraction(per.size)


def _amount(match: re.Match[str]) -> Decimal:
    if match["word"]:
        return Decimal(_cardinal(match["word"]))
    whole = re.sub(r"\D", "", match["whole"])
    return Decimal(whole + (match["part"] or "").replace(",", "."))


def _end(match: re.Match[str], power: int) -> int:
    """Where a number ends, with its "million" but without a unit."""
    return match.end() if power else max(match.end("whole"), match.end("part"), match.end("word"))


def _cardinal(written: str) -> int:
    return sum(CARDINALS.get(word, 1) for word in re.split("[ -]", written.lower()))


def _power(text: str, match: re.Match[str]) -> int:
    """How many zeros the word or letter after the number stands for."""
    letter = match["unit"] or match["other"] or ""
    start = match.start()
    money = bool(_SIGN.search(text, max(0, start - _LONGEST), start))
    if letter == "K" and money:
        return 3
    if (letter in ("m", "M") and money) or (letter == "M" and text[match.end() - 2].isdigit()):
        return 6
    return 9 if letter in ("b", "B") and money else POWERS.get(match["power"] or "", 0)


def _runs(text: str, matches: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    """The numbers of a text; those that may be one measure together: "2 hours 30 minutes"."""
    runs: list[list[re.Match[str]]] = []
    for match in matches:
        if runs and _goes_on(text, runs[-1][-1], match):
            runs[-1].append(match)
        else:
            runs.append([match])
    return runs


def _goes_on(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    if not left["unit"] or not right["unit"] or left["unit"] == right["unit"]:
        return False
    kinds = {unit.kind for side in (left, right) if (unit := unit_of(side["unit"]))}
    return len(kinds) == 1 and AND.fullmatch(text, left.end(), right.start()) is not None


def _joined(text: str, runs: list[list[re.Match[str]]]) -> set[re.Match[str]]:
    """The parts of one measure: "2 hours 30 minutes", "an hour and a half"."""
    return {
        match
        for run in runs
        for match in run
        if len(run) > 1 or (match["unit"] and _AND_HALF.match(text, match.end()))
    }


def _sums(runs: list[list[re.Match[str]]]) -> Iterator[Found]:
    """The whole of each such measure; each part must be less than one unit of the part before."""
    for run in runs:
        units = [unit for match in run if (unit := unit_of(match["unit"] or ""))]
        sizes = [_amount(match) * unit.size for match, unit in zip(run, units, strict=False)]
        falling = all(size < unit.size for unit, size in zip(units, sizes[1:], strict=False))
        rate = any(match["per"] or match["every"] for match in run)
        if len(units) > 1 and falling and not rate:
            yield Found(run[0].start(), run[-1].end("unit"), (units[0].kind, sum(sizes)))


def _measures_in_words(text: str) -> Iterator[Found]:
    for match in _finds(_DOZENS, text, "dozen"):
        count = match["count"].lower()
        half = count.startswith("half")
        dozens = 1 if half or count in _ONE else _cardinal(count)
        yield Found(*match.span(), ("number", Decimal(12 * dozens // (1 + half))))
    for match in _ARTICLE.finditer(text):
        if unit := unit_of(match["unit"]):
            yield Found(*match.span("measure"), (unit.kind, unit.size))
    for match in _finds(_PART_OF_UNIT, text, "half", "quarter"):
        unit = unit_of(match["before"] or match["unit"] or "")
        if unit and not (match["before"] and match["unit"]):
            yield Found(*match.span(), (unit.kind, unit.size * _with_half(match)))


def _finds(pattern: re.Pattern[str], text: str, *any_of: str) -> Iterator[re.Match[str]]:
    """The matches of a slow pattern, which needs one of some words."""
    lower = text.lower()
    return pattern.finditer(text) if any(word in lower for word in any_of) else iter(())


def _with_half(match: re.Match[str]) -> Decimal:
    if part := match["part"]:
        return Decimal({"h": "0.5", "a": "0.25", "t": "0.75"}[part[0].lower()])
    count = match["count"].lower()
    whole = count if count.isdecimal() else 1 if count in _ONE else _cardinal(count)
    return Decimal(whole) + Decimal("0.5")


def _shares(text: str) -> Iterator[Found]:
    """Parts of a whole as per cent: "half of the", "by a quarter", "a fifth less", "one in eight".

    Not "one in three", which is 33.33... %.
    """
    for match in _finds(_SHARE, text, *_PARTS):
        count = (match["count"] or "").lower()
        half = (match["part"] or "").lower() == "half"
        if match["other"] or bool(count) == half:
            continue
        surely = match["of"] is not None  # it is "" before "fewer" and its like
        if surely or (match["by"] and match["ends"] is not None):
            times = 1 if half or count in _ONE else _cardinal(count)
            yield Found(*match.span("share"), _per_cent(times, _PARTS[match["part"].lower()]))
    for match in _OUT_OF.finditer(text):
        few, many = (int(n) if n.isdecimal() else _cardinal(n) for n in match.group("few", "many"))
        if 0 < few < many and 1000 * few % many == 0:
            yield Found(*match.span(), _per_cent(few, many))


def _per_cent(part: int, whole: int) -> Value:
    return "%", Decimal(100 * part) / whole


def _clock_times(text: str) -> Iterator[Found]:
    for start, end, hour, minute in times(text):
        yield Found(start, end, ("clock", hour, minute))


def _quarters(text: str) -> Iterator[Found]:
    for match in _QUARTER.finditer(text):
        number = int(match["digit"] or ORDINALS[match["word"].lower()])
        end = match.end("digit") if match["digit"] else match.end("word") + len(" quarter")
        yield Found(match.start(), end, ("quarter", number))
        if match["year"]:
            yield Found(*match.span(), ("quarter", number, int(match["year"])))


def _codes(text: str) -> Iterator[Found]:
    for span, digits in phones(text):
        yield Found(*span, ("phone", digits))
    for span, number in powers(text):
        yield Found(*span, ("number", number))
