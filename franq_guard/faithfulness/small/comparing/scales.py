"""The words that compare, and the headers of columns that they compare: a closed list."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.amounts.units import CURRENCIES
from franq_guard.faithfulness.small.words import stem


def base_form(word: str) -> str:
    """A word without its ending, so that "ripens" is "ripening"; "popular" is not "population"."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    return stem(word).removesuffix("e")


Form = Literal["positive", "comparative", "superlative"]


class Scale(NamedTuple):
    """What an adjective measures.

    ``up`` are words of headers whose values grow with it, ``down`` those whose values fall: what is
    older has the higher age and the lower year. ``kinds`` are those of values that need no such
    header.
    """

    up: frozenset[str]
    down: frozenset[str]
    kinds: frozenset[str]


class Degree(NamedTuple):
    """A form of an adjective: "heavier" is a comparative, with the sign 1 on the scale of weight.

    ``free`` adjectives may stand before any header: "a higher score", "the longest warranty".
    """

    form: Form
    sign: int
    scale: Scale
    free: bool


def _heads(words: str) -> frozenset[str]:
    return frozenset(map(base_form, word_set(words)))


def _scale(up: str = "", down: str = "", kinds: str = "") -> Scale:
    return Scale(_heads(up), _heads(down), word_set(kinds))


_PRICE: Final = "price cost fee fare rent hire pay"
_PEOPLE: Final = "population inhabitants residents people"
_BEGINNING: Final = "year built opened founded established completed launched released born"
_SCALES: Final = {
    "count": _scale(),
    "weight": _scale("weight mass weighs"),
    "price": _scale(_PRICE, kinds=" ".join(CURRENCIES)),
    "age": _scale("age", _BEGINNING),
    "height": _scale("height elevation altitude"),
    "length": _scale("length duration distance span"),
    "size": _scale("size area"),
    "people": _scale(_PEOPLE),
    "speed": _scale("speed", "time duration", "km/h mph m/s"),
    "depth": _scale("depth"),
    "width": _scale("width breadth"),
    "thickness": _scale("thickness"),
    "warmth": _scale("temperature temp", kinds="°C °F"),
    "rain": _scale("rain rainfall precipitation"),
    "power": _scale("power", kinds="power"),
    "time": _scale("time date"),
}
# Scale, sign, whether it is free, then the three forms.
_ADJECTIVES: Final = (
    ("count", 1, True, "many much", "more", "most"),
    ("count", -1, True, "few little", "fewer less", "fewest least"),
    ("weight", 1, False, "heavy", "heavier", "heaviest"),
    ("weight", -1, False, "light", "lighter", "lightest"),
    ("price", 1, False, "expensive costly dear", "dearer pricier", "dearest priciest"),
    ("price", -1, False, "cheap affordable", "cheaper", "cheapest"),
    ("age", 1, False, "old", "older", "oldest"),
    ("age", -1, False, "young new recent", "younger newer", "youngest newest"),
    ("height", 1, False, "tall", "taller", "tallest"),
    ("height", 1, True, "high", "higher", "highest"),
    ("height", -1, True, "low", "lower", "lowest"),
    ("length", 1, True, "long", "longer", "longest"),
    ("length", -1, True, "short", "shorter", "shortest"),
    ("size", 1, True, "large big great", "larger bigger greater", "largest biggest greatest"),
    ("size", -1, True, "small", "smaller", "smallest"),
    ("people", 1, False, "populous", "", ""),
    ("speed", 1, False, "fast quick", "faster quicker", "fastest quickest"),
    ("speed", -1, False, "slow", "slower", "slowest"),
    ("depth", 1, False, "deep", "deeper", "deepest"),
    ("depth", -1, False, "shallow", "shallower", "shallowest"),
    ("width", 1, False, "wide broad", "wider broader", "widest broadest"),
    ("width", -1, False, "narrow", "narrower", "narrowest"),
    ("thickness", 1, False, "thick", "thicker", "thickest"),
    ("thickness", -1, False, "thin", "thinner", "thinnest"),
    ("warmth", 1, False, "warm hot", "warmer hotter", "warmest hottest"),
    ("warmth", -1, False, "cold cool", "colder cooler", "coldest coolest"),
    ("rain", 1, False, "wet rainy", "wetter rainier", "wettest rainiest"),
    ("rain", -1, False, "dry", "drier dryer", "driest"),
    ("power", 1, False, "powerful", "", ""),
    ("power", -1, False, "weak", "weaker", "weakest"),
    ("time", 1, True, "late", "later", "latest"),
    ("time", -1, True, "early", "earlier", "earliest"),
)


def _degrees() -> dict[str, Degree]:
    forms: tuple[Form, ...] = ("positive", "comparative", "superlative")
    return {
        word: Degree(form, sign, _SCALES[scale], free)
        for scale, sign, free, *columns in _ADJECTIVES
        for form, words in zip(forms, columns, strict=True)
        for word in words.split()
    }


DEGREES: Final = _degrees()
"""Each form of the adjectives."""
COUNTING: Final = word_set("more less most least")
"""These compare the adjective behind them, too: "more expensive"."""
VERBS: Final = {
    base_form(verb): _SCALES[scale]
    for verb, scale in (("cost", "price"), ("pay", "price"), ("weigh", "weight"))
} | {base_form("take"): _scale("time duration")}
"""What "costs more" and "takes longer" compare; by base forms."""
NO_NEGATIVES: Final = (_SCALES["size"], _SCALES["length"])
"""Of these negative numbers say nothing: the largest loss is the lowest number."""
RANKS: Final = _heads("rank ranking pos position place priority grade class seed")
"""Headers of numbers that are better the lower they are."""
ALIKE: Final = tuple(
    _heads(words)
    for words in (
        _PRICE,
        _PEOPLE,
        "departs departure leaves",
        "arrives arrival",
        "weighs weight",
    )
)
"""Words that mean the same column."""
