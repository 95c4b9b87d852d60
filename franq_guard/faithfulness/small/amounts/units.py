"""Units of measurement, each with the forms it is written in: a closed list, of common ones."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple


class Unit(NamedTuple):
    """What is measured, and how much of it one unit is. Only units of one kind can be equal."""

    kind: str
    size: Decimal


def _each(power: str, names: str) -> str:
    return " ".join(f"{power}_{name} {power}_{name}s" for name in names.split())


def _square(names: str) -> str:
    return _each("square", names)


def _cubic(names: str) -> str:
    return _each("cubic", names)


# Kind, size, words in any case, symbols in this case only. Months have no fixed number of days, a
# kilobyte no fixed number of bytes, a ton no fixed weight.
_UNITS: Final = (
    ("mass", "0.000001", "microgram micrograms", "µg μg mcg"),
    ("mass", "0.001", "milligram milligrams", "mg"),
    ("mass", "1", "gram grams", "g"),
    ("mass", "1000", "kilo kilos kilogram kilograms", "kg"),
    ("mass", "1000000", "tonne tonnes", "t"),
    ("ounce", "1", "ounce ounces", "oz"),
    ("lb", "1", "lb lbs", ""),
    ("pound", "1", "pound pounds", ""),  # weight or money
    ("volume", "0.001", "millilitre millilitres milliliter milliliters", "ml mL"),
    ("volume", "0.01", "centilitre centilitres centiliter centiliters", "cl"),
    ("volume", "0.1", "decilitre decilitres deciliter deciliters", "dl"),
    ("volume", "1", "litre litres liter liters", "l L"),
    ("teaspoon", "1", "teaspoon teaspoons tsp", ""),
    ("tablespoon", "1", "tablespoon tablespoons tbsp", ""),
    ("cup", "1", "cup cups", ""),
    ("pint", "1", "pint pints", ""),
    ("gallon", "1", "gallon gallons gal", ""),
    ("length", "0.000000001", "nanometre nanometres nanometer nanometers", "nm"),
    ("length", "0.000001", "micrometre micrometres micrometer micrometers", "µm μm"),
    ("length", "0.001", "millimetre millimetres millimeter millimeters", "mm"),
    ("length", "0.01", "centimetre centimetres centimeter centimeters", "cm"),
    ("length", "1", "metre metres meter meters", "m"),
    ("length", "1000", "kilometre kilometres kilometer kilometers", "km"),
    ("mile", "1", "mile miles", ""),
    ("foot", "1", "foot feet", "ft"),
    ("inch", "1", "inch inches", ""),
    ("yard", "1", "yard yards", ""),
    ("m²", "0.000001", f"mm² sq_mm {_square('millimetre millimeter')}", "mm2 mm^2"),
    ("m²", "0.0001", f"cm² sq_cm {_square('centimetre centimeter')}", "cm2 cm^2"),
    ("m²", "1", f"m² sqm sq_m {_square('metre meter')}", "m2 m^2"),
    ("m²", "1000000", f"km² sq_km {_square('kilometre kilometer')}", "km2 km^2"),
    ("ft²", "1", "ft² sq_ft square_foot square_feet", "ft2 ft^2"),
    ("mile²", "1", f"sq_mi {_square('mile')}", ""),
    ("m³", "0.000000001", f"mm³ {_cubic('millimetre millimeter')}", "mm3 mm^3"),
    ("m³", "0.000001", f"cm³ {_cubic('centimetre centimeter')}", "cm3 cm^3"),
    ("m³", "1", f"m³ {_cubic('metre meter')}", "m3 m^3"),
    ("m³", "1000000000", f"km³ {_cubic('kilometre kilometer')}", "km3 km^3"),
    ("ft³", "1", "ft³ cu_ft cubic_foot cubic_feet", "ft3 ft^3"),
    ("hectare", "1", "hectare hectares", "ha"),
    ("acre", "1", "acre acres", ""),
    ("time", "0.000000001", "nanosecond nanoseconds", "ns"),
    ("time", "0.000001", "microsecond microseconds", "µs μs"),
    ("time", "0.001", "millisecond milliseconds", "ms"),
    ("time", "1", "second seconds sec secs", "s"),
    ("time", "60", "minute minutes min mins", ""),
    ("time", "3600", "hour hours hr hrs", "h"),
    ("days", "1", "day days", ""),
    ("days", "7", "week weeks", ""),
    ("days", "14", "fortnight fortnights", ""),
    ("months", "1", "month months", ""),
    ("months", "12", "year years yr yrs annum", ""),
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
    ("cent", "1", "cent cents euro_cent euro_cents eurocent eurocents ¢", ""),
    ("pence", "1", "penny pennies pence", ""),
    ("kB", "1", "kb kilobytes", ""),
    ("MB", "1", "mb megabytes", ""),
    ("GB", "1", "gb gigabytes", ""),
    ("TB", "1", "tb terabytes", ""),
    ("binary", "1", "kibibytes", "KiB"),
    ("binary", "1024", "mebibytes", "MiB"),
    ("binary", "1048576", "gibibytes", "GiB"),
    ("binary", "1073741824", "tebibytes", "TiB"),
    ("bit/s", "1000", "kbps", "kbit/s"),
    ("bit/s", "1000000", "mbps", "Mbit/s"),
    ("bit/s", "1000000000", "gbps", "Gbit/s"),
    ("power", "1", "watt watts", "W"),
    ("power", "1000", "kilowatt kilowatts", "kW"),
    ("power", "1000000", "megawatt megawatts", "MW"),
    ("power", "1000000000", "gigawatt gigawatts", "GW"),
    ("energy", "1", "", "Wh"),
    ("energy", "1000", "", "kWh"),
    ("energy", "1000000", "", "MWh"),
    ("energy", "1000000000", "", "GWh"),
    ("voltage", "0.000001", "microvolt microvolts", "µV μV"),
    ("voltage", "0.001", "millivolt millivolts", "mV"),
    ("voltage", "1", "volt volts", "V"),
    ("voltage", "1000", "kilovolt kilovolts", "kV"),
    ("current", "0.000000001", "nanoamp nanoamps", "nA"),
    ("current", "0.000001", "microamp microamps", "µA μA"),
    ("current", "0.001", "milliamp milliamps milliampere milliamperes", "mA"),
    ("current", "1", "amp amps ampere amperes", "A"),
    ("resistance", "1", "ohm ohms", "Ω Ω"),
    ("resistance", "1000", "kilohm kilohms kiloohm kiloohms", "kΩ kΩ"),
    ("resistance", "1000000", "megohm megohms megaohm megaohms", "MΩ MΩ"),
    ("capacitance", "0.001", "picofarad picofarads", "pF"),
    ("capacitance", "1", "nanofarad nanofarads", "nF"),
    ("capacitance", "1000", "microfarad microfarads", "µF μF"),
    ("pressure", "1", "pascal pascals", "Pa"),
    ("pressure", "100", "hectopascal hectopascals millibar millibars", "hPa mbar"),
    ("pressure", "1000", "kilopascal kilopascals", "kPa"),
    ("pressure", "100000", "", "bar"),
    ("pressure", "1000000", "megapascal megapascals", "MPa"),
    ("psi", "1", "psi", ""),
    ("frequency", "1", "hertz", "Hz"),
    ("frequency", "1000", "kilohertz", "kHz"),
    ("frequency", "1000000", "megahertz", "MHz"),
    ("frequency", "1000000000", "gigahertz", "GHz"),
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
TIMES: Final = ("time", "days", "months")
"""The kinds of units of time."""
CURRENCIES: Final = ("EUR", "USD", "GBP", "JPY", "CHF", "NOK", "SEK", "DKK")


def unit_of(written: str) -> Unit | None:
    """Return the unit that is written so, None for one that is not in the list."""
    return _SYMBOLS.get(written) or _WORDS.get(written.lower())


def _escaped(form: str) -> str:
    return form.replace("$", r"\$").replace("^", r"\^").replace(" ", r"\s")


def _either(forms: list[str]) -> str:
    longest = sorted(forms, key=len, reverse=True)
    return "|".join(_escaped(form) for form in longest)


_SHORT: Final = ("m", "s")  # beside the digits also a million ("5m") and a decade ("1990s")
_UNIT: Final = (
    rf"(?:(?i:{_either(list(_WORDS))})"
    rf"|{_either([form for form in _SYMBOLS if form not in _SHORT])}"
    rf"|(?<!\d)[{''.join(_SHORT)}])"
)
UNIT_PATTERN: Final = rf"{_UNIT}(?![\w/]|\s/)"
"""A unit after its number, as a regular expression."""
RATED_PATTERN: Final = rf"{_UNIT}(?!\w|\s?/(?!\s?{UNIT_PATTERN}))"
"""The same; "per" another one, as a slash, may follow it."""
_TIME: Final = "minute|hour|day|week|month|year"
RATE_PATTERN: Final = (
    rf"\s?(?:(?:/\s?|per\s)(?P<per>{UNIT_PATTERN})"
    rf"|(?:an?|each|every)\s(?P<every>{_TIME})\b"
    r"(?!\s(?:ago|before|after|later|earlier|early|late|long)\b))"
)
"""The rest of a rate, after its number, thing or unit: "/min", "per kg" or "a day"."""
CURRENCY_PATTERN: Final = (
    rf"(?:{_either([form for form, unit in _WORDS.items() if unit.kind in CURRENCIES])})"
)
"""A currency before its number, in any case."""
