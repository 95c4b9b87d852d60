"""Units of measurement, each with the forms it is written in: a closed list, of common ones."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple


class Unit(NamedTuple):
    """What is measured, and how much of it one unit is. Only units of one kind can be equal."""

    kind: str
    size: Decimal


# Kind, size, words in any case, symbols in this case only. Months have no fixed number of days, a
# kilobyte no fixed number of bytes. "Pounds" may be weight or money, so they are not here.
_UNITS: Final = (
    ("mass", "0.000001", "microgram micrograms", "µg μg mcg"),
    ("mass", "0.001", "milligram milligrams", "mg"),
    ("mass", "1", "gram grams", "g"),
    ("mass", "1000", "kilo kilos kilogram kilograms", "kg"),
    ("mass", "1000000", "tonne tonnes", ""),
    ("ounce", "1", "ounce ounces", "oz"),
    ("volume", "0.001", "millilitre millilitres milliliter milliliters", "ml mL"),
    ("volume", "0.01", "centilitre centilitres centiliter centiliters", "cl"),
    ("volume", "0.1", "decilitre decilitres deciliter deciliters", "dl"),
    ("volume", "1", "litre litres liter liters", "l L"),
    ("teaspoon", "1", "teaspoon teaspoons tsp", ""),
    ("tablespoon", "1", "tablespoon tablespoons tbsp", ""),
    ("cup", "1", "cup cups", ""),
    ("length", "0.001", "millimetre millimetres millimeter millimeters", "mm"),
    ("length", "0.01", "centimetre centimetres centimeter centimeters", "cm"),
    ("length", "1", "metre metres meter meters", "m"),
    ("length", "1000", "kilometre kilometres kilometer kilometers", "km"),
    ("mile", "1", "mile miles", ""),
    ("foot", "1", "foot feet", "ft"),
    ("inch", "1", "inch inches", ""),
    ("hectare", "1", "hectare hectares", "ha"),
    ("acre", "1", "acre acres", ""),
    ("time", "0.001", "millisecond milliseconds", "ms"),
    ("time", "1", "second seconds sec secs", "s"),
    ("time", "60", "minute minutes min mins", ""),
    ("time", "3600", "hour hours hr hrs", "h"),
    ("days", "1", "day days", ""),
    ("days", "7", "week weeks", ""),
    ("months", "1", "month months", ""),
    ("months", "12", "year years yr yrs", ""),
    ("km/h", "1", "km/h kmh kph km_per_hour kilometres_per_hour kilometers_per_hour", ""),
    ("mph", "1", "mph miles_per_hour", ""),
    ("m/s", "1", "m/s metres_per_second meters_per_second", ""),
    ("°C", "1", "°c celsius degrees_celsius", ""),
    ("°F", "1", "°f fahrenheit degrees_fahrenheit", ""),
    ("%", "1", "% percent per_cent", ""),
    ("points", "1", "points percentage_points", ""),
    ("EUR", "1", "euro euros eur €", ""),
    ("USD", "1", "dollar dollars us_dollar us_dollars usd us$ $", ""),
    ("GBP", "1", "gbp pounds_sterling £", ""),
    ("JPY", "1", "jpy yen ¥", ""),
    ("CHF", "1", "chf", ""),
    ("NOK", "1", "nok", ""),
    ("SEK", "1", "sek", ""),
    ("DKK", "1", "dkk", ""),
    ("kB", "1", "kb kilobytes", ""),
    ("MB", "1", "mb megabytes", ""),
    ("GB", "1", "gb gigabytes", ""),
    ("TB", "1", "tb terabytes", ""),
    ("power", "1", "watt watts", "W"),
    ("power", "1000", "kilowatt kilowatts", "kW"),
    ("power", "1000000", "megawatt megawatts", "MW"),
    ("power", "1000000000", "gigawatt gigawatts", "GW"),
    ("energy", "1", "", "Wh"),
    ("energy", "1000", "", "kWh"),
    ("energy", "1000000", "", "MWh"),
    ("energy", "1000000000", "", "GWh"),
    ("mAh", "1", "mah", ""),
    ("kcal", "1", "kcal kilocalories", ""),
    ("kJ", "1", "kj kilojoules", ""),
    ("lux", "1", "lux", ""),
)


def _forms(column: int) -> dict[str, Unit]:
    return {
        form.replace("_", " "): Unit(row[0], Decimal(row[1]))
        for row in _UNITS
        for form in row[column].split()
    }


_WORDS: Final = _forms(2)
_SYMBOLS: Final = _forms(3)
CURRENCIES: Final = ("EUR", "USD", "GBP", "JPY", "CHF", "NOK", "SEK", "DKK")


def unit_of(written: str) -> Unit | None:
    """Return the unit that is written so, None for one that is not in the list."""
    return _SYMBOLS.get(written) or _WORDS.get(written.lower())


def _either(forms: list[str]) -> str:
    longest = sorted(forms, key=len, reverse=True)
    return "|".join(form.replace("$", r"\$").replace(" ", r"\s") for form in longest)


_SHORT: Final = ("m", "s")  # beside the digits also a million ("5m") and a decade ("1990s")
UNIT_PATTERN: Final = (
    rf"(?:(?i:{_either(list(_WORDS))})"
    rf"|{_either([form for form in _SYMBOLS if form not in _SHORT])}"
    rf"|(?<!\d)[{''.join(_SHORT)}])(?![\w/]|\s/)"
)
"""A unit after its number, as a regular expression."""
CURRENCY_PATTERN: Final = (
    rf"(?:{_either([form for form, unit in _WORDS.items() if unit.kind in CURRENCIES])})"
)
"""A currency before its number, in any case."""
