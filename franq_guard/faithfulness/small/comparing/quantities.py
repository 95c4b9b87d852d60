"""Reads the cells of a column as quantities: numbers, measures, times of day, dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from franq_guard.faithfulness.small.amounts.units import (
    CURRENCIES,
    CURRENCY_PATTERN,
    UNIT_PATTERN,
    Unit,
    unit_of,
)
from franq_guard.faithfulness.small.amounts.values import AND, POWERS, dates
from franq_guard.faithfulness.small.numerals import CARDINALS


class Quantity(NamedTuple):
    """An amount; only amounts of the same kind can be compared."""

    kind: str
    amount: Decimal


# A dot before three digits may separate thousands, so such a number is not read.
_NUMBER: Final = (
    r"(?P<whole>\d{1,3}(?:[, \u00a0\u2009\u202f]\d{3})+(?!\d)|\d+)"
    r"(?P<part>(?:(?<=\b0)\.\d+|\.\d{1,2}|,\d{1,2}|\.\d{4,})(?!\d))?(?![.,:/]?\d)"
)
_AMOUNT: Final = re.compile(
    rf"(?P<sign>[-−+])?(?P<before>{CURRENCY_PATTERN})?\s?(?P<minus>[-−])?{_NUMBER}"
    rf"(?:[\s-]?(?P<power>thousand|million|billion|bn|k)\b)?"
    rf"(?:[\s-]?(?P<unit>{UNIT_PATTERN}))?"
)
_OTHER_UNIT: Final = re.compile(r"\s?[^\W\d][^\W\d²³]*[²³]?(?:/[a-z]+)?")
_CLOCK: Final = re.compile(
    r"(?P<hours>\d{1,2})(?:[:.](?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d))?)?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\.?)?",
    re.IGNORECASE,
)
_IN_HEAD: Final = re.compile(r"[(\[]([^)\]]+)[)\]]|(?:, | in )(\S+)$")
_FREE: Final = "free"


def column(head: str, cells: Sequence[str]) -> list[Quantity | None]:
    """Return what the cells of a column say, None for one that is not surely read.

    Args:
        head: may name the unit of the cells that have none, "Weight (kg)".
        cells: of all rows.
    """
    match = _IN_HEAD.search(head)
    unit = unit_of(match[1] or match[2]) if match else None
    found = [_clock(cell) or _amount(cell, unit) or _date(cell) for cell in cells]
    kinds = {quantity.kind for quantity in found if quantity}
    if kinds == {"clock", "time"}:  # "58:21" beside "1:02:33" are minutes and seconds
        found = [q and Quantity("time", q.amount) for q in found]
    if len(kinds) == 2 and _FREE in kinds and kinds & set(CURRENCIES):
        (currency,) = kinds - {_FREE}
        found = [q and Quantity(currency, q.amount) for q in found]
    return found


def amount_at(text: str, at: int) -> tuple[Quantity, int] | None:
    """The number with its unit, if it has a known one, that begins at a place, and its end."""
    match = _AMOUNT.match(text, at)
    return (_quantity(match, None), match.end()) if match else None


def _quantity(match: re.Match[str], default: Unit | None) -> Quantity:
    digits = re.sub(r"\D", "", match["whole"]) + (match["part"] or "").replace(",", ".")
    number = Decimal(digits).scaleb(POWERS.get(match["power"] or "", 0))
    number = -number if match["minus"] or match["sign"] in ("-", "−") else number
    unit = unit_of(match["before"] or match["unit"] or "") or default
    return Quantity(unit.kind, number * unit.size) if unit else Quantity("number", number)


def _amount(cell: str, default: Unit | None) -> Quantity | None:
    """The amount of a cell, "1,200 m", "€9.90", "2 h 30 min" or "12 beds"."""
    word = cell.strip().lower()
    if word == _FREE:
        return Quantity(_FREE, Decimal(0))
    if word in CARDINALS or word == "one":
        return Quantity("number", Decimal(CARDINALS.get(word, 1)))
    match = _AMOUNT.match(cell)
    if match is None or (match["before"] and match["unit"]):
        return None
    first = _quantity(match, default)
    rest = cell[match.end() :]
    if not rest:
        return first
    if not match["unit"]:
        other = _OTHER_UNIT.fullmatch(rest) if not match["before"] else None
        return first._replace(kind=rest.strip().lower()) if other else None
    return _sum(cell, match, first)


def _sum(cell: str, match: re.Match[str], first: Quantity) -> Quantity | None:
    """Of "2 h 30 min": parts of one kind, each of a smaller unit than the one before."""
    between = AND.match(cell, match.end())
    second = _AMOUNT.fullmatch(cell, between.end() if between else match.end())
    larger, smaller = unit_of(match["unit"]), unit_of(second["unit"] or "") if second else None
    if not second or not larger or not smaller or second["before"]:
        return None
    if larger.kind != smaller.kind or larger.size <= smaller.size:
        return None
    return first._replace(amount=first.amount + _quantity(second, None).amount)


def _clock(cell: str) -> Quantity | None:
    """A time of day in minutes as "clock", or hours, minutes and seconds as "time" in seconds."""
    match = _CLOCK.fullmatch(cell)
    if match is None or not (match["half"] or ":" in cell):
        return None
    hours, minutes = int(match["hours"]), int(match["minutes"] or 0)
    if match["half"]:
        if match["seconds"] or not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (match["half"] in "pP")
    if match["seconds"]:
        return Quantity("time", Decimal(3600 * hours + 60 * minutes + int(match["seconds"])))
    return Quantity("clock", Decimal(60 * hours + minutes))


def _date(cell: str) -> Quantity | None:
    found = {day.value for day in dates(cell) if day.end - day.start == len(cell)}
    if len(found) != 1:  # "03/04/2015" may be two days
        return None
    year, month, day = (int(str(part)) for part in found.pop()[1:])
    return Quantity("date", Decimal(10000 * year + 100 * month + day))
