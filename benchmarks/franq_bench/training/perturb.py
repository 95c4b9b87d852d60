"""Small changes of a sentence that break it, and others that do not.

Breaking: another figure, name, unit, a negation, an opposite, two roles swapped. Harmless: a
parenthesis or an opening phrase left out, a figure or date written another way, common synonyms.
Both are rules on plain text. They change how a sentence relates to its passage, so a pair is also
used the other way round (`generate`): a changed passage with the original sentence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.words import STOPWORDS

_OPPOSITES: Final = (
    "increased/decreased rose/fell won/lost before/after first/last larger/smaller higher/lower "
    "more/fewer most/least north/south northern/southern east/west eastern/western always/never "
    "early/late oldest/youngest largest/smallest highest/lowest longest/shortest began/ended "
    "male/female men/women father/mother son/daughter brother/sister husband/wife king/queen "
    "accepted/rejected allowed/banned above/below inside/outside only/also with/without "
    "success/failure successful/unsuccessful major/minor positive/negative opened/closed "
    "approved/opposed summer/winter spring/autumn monday/friday born/died all/none many/few "
    "upper/lower older/younger left/right public/private black/white red/blue green/yellow "
    "best/worst same/different buy/sell bought/sold gained/lost arrived/left rising/falling"
)
_UNITS: Final = (
    "million/billion/thousand", "kilometers/miles/meters", "kilometres/miles/metres", "km/m/mi",
    "years/months/weeks/days", "hours/minutes/seconds", "feet/inches/yards", "percent/points",
    "kg/g/tonnes", "pounds/ounces/tons", "dollars/euros/pounds", "celsius/fahrenheit",
    "acres/hectares",
    "january/april/june/march/may", "february/july/september/august", "october/november/december",
    "monday/tuesday/thursday", "wednesday/friday/saturday/sunday", "century/decade", "metres/feet",
)  # fmt: skip
_SYNONYMS: Final = (
    "film/movie began/started located/situated released/published created/made called/named "
    "approximately/about/around wrote/authored received/got large/big usually/normally however/but "
    "home/house received/obtained purchased/bought also/additionally primarily/mainly "
    "established/founded requires/needs shows/demonstrates children/kids"
)
_SMALL: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
_ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip
_MONTH: Final = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
)
_NAME: Final = re.compile(
    r"\b[A-Z][\w’'-]*[a-z][\w’'-]*"
    r"(?:(?: (?:of|the|of the|de|van|von))? (?:[A-Z]\. )?[A-Z][\w’'-]*[a-z][\w’'-]*)*"
)
_POSSESSIVE: Final = re.compile(r"['’]s?$")
#: Words that begin with a capital only because something opens with them, and are part of no name.
_NO_NAMES: Final = STOPWORDS | word_set(
    "all although among another any around because both despite during each either every "
    "few finally following furthermore hence however if instead its later like many meanwhile "
    "moreover most nevertheless no none once one only originally other others our overall "
    "perhaps several similarly since some sometimes soon still such though through throughout "
    "thus today together twice under unlike until "
    "upon usually various what whether while within without yes yet you your according after "
    "additionally also article figure table content section currently first second third "
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday "
    "inc jr sr dr mr mrs ms st"
)
_OF_A_PEOPLE: Final = re.compile(
    r"(?:[a-z](?:an|ish|ese|ic)|Greek|French|Dutch|Welsh|Swiss|Czech|Thai|Iraqi|Israeli)s?$"
)
NUMBER: Final = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w,]*\d)")
_BE: Final = re.compile(
    r"\b(is|are|was|were|has|had|have|can|could|will|would|may|must|should|did|does|do)\b"
    r"(?! not\b|n't)"
)
_NOT: Final = re.compile(r"\b(is|are|was|were|has|had|have|can|could|will|would|did|does|do) not ")
_ROLES: Final = re.compile(
    r"\b(?:by|beat|won|wrote|led|founded|bought|over|from|to|of|than|sold|gave|taught|after|before|"
    r"leads|owns|defeats|\w+ed)\b"
)
_EVEN: Final = re.compile(r"[,;()]|\b(?:and|or|with|married|between)\b")


def _table(text: str) -> dict[str, list[str]]:
    groups = [group.split("/") for group in text.split()]
    return {word: [other for other in group if other != word] for group in groups for word in group}


_OPPOSITE: Final = _table(_OPPOSITES)
_UNIT: Final = _table(" ".join(_UNITS))
_SYNONYM: Final = _table(_SYNONYMS)


def _swap_word(text: str, table: dict[str, list[str]], rng: random.Random) -> str | None:
    hits = [m for m in re.finditer(r"[A-Za-z]+", text) if m.group().lower() in table]
    if not hits:
        return None
    hit = rng.choice(hits)
    other = rng.choice(table[hit.group().lower()])
    other = other.capitalize() if hit.group()[0].isupper() else other
    return text[: hit.start()] + other + text[hit.end() :]


def number(sentence: str, passage: str, rng: random.Random) -> str | None:
    """Change one figure: a digit, by a little, or to another figure of the passage."""
    hits = list(NUMBER.finditer(sentence))
    if not hits:
        lowered = [w for w in (*_SMALL, *_ORDINALS) if re.search(rf"\b{w}\b", sentence)]
        if not lowered:
            return None
        word = rng.choice(lowered)
        row = _SMALL if word in _SMALL else _ORDINALS
        return re.sub(rf"\b{word}\b", rng.choice([w for w in row if w != word]), sentence, count=1)
    hit = rng.choice(hits)
    old = hit.group()
    inside = [n for n in NUMBER.findall(passage) if n != old and len(n) == len(old)]
    new = rng.choice(inside) if inside and rng.random() < 0.4 else _other_figure(old, rng)
    return sentence[: hit.start()] + new + sentence[hit.end() :]


def _other_figure(old: str, rng: random.Random) -> str:
    if old.isdigit() and rng.random() < 0.5:
        return str(max(0, int(old) + rng.choice([-20, -10, -3, -2, -1, 1, 2, 3, 10, 15])) or 7)
    places = [i for i, c in enumerate(old) if c.isdigit()]
    place = rng.choice(places)
    digit = rng.choice([d for d in "123456789" if d != old[place]])
    return old[:place] + digit + old[place + 1 :]


def name(sentence: str, passage: str, pool: Sequence[str], rng: random.Random) -> str | None:
    """Put another name, of the passage if there is one or of `pool`, in the place of a name."""
    hits = _named(sentence)
    if not hits:
        return None
    start, end = rng.choice(hits)
    old = sentence[start:end]
    inside = [
        n
        for n in names(passage)
        if n not in sentence and old not in n and n not in old and _alike(n, old)
    ]
    if inside and rng.random() < 0.6:
        new = rng.choice(inside)
    else:
        drawn = [n for n in rng.sample(list(pool), min(60, len(pool))) if _alike(n, old)]
        same = [n for n in drawn if n.count(" ") == old.count(" ")]
        new = rng.choice(same or drawn or [old])
    return None if new == old else sentence[:start] + new + sentence[end:]


def _alike(new: str, old: str) -> bool:
    """Whether one can stand for the other: an adjective such as "Spanish" only for another one."""
    adjective = bool(_OF_A_PEOPLE.search(old)) and " " not in old
    return adjective == (bool(_OF_A_PEOPLE.search(new)) and " " not in new)


def names(text: str) -> list[str]:
    """Return the names of `text`: runs of capitalised words, not those that open a sentence."""
    return [text[start:end] for start, end in _named(text)]


def _named(text: str) -> list[tuple[int, int]]:
    opens = {0, *(m.end() for m in re.finditer(r"[.!?:;][\"”’)]*\s+|\n\W*|[\"“‘(]", text))}
    found = []
    for match in _NAME.finditer(text):
        start, end = _without_function_words(text, *match.span())
        if start < end and (start not in opens or " " in text[start:end]):
            found.append((start, end))
    return found


def _without_function_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Cut words that are part of no name from both ends of a run, and the possessive ending."""
    parts = list(re.finditer(r"\S+", text[start:end]))
    while parts and _no_name(parts[0].group()):
        parts.pop(0)
    while parts and _no_name(parts[-1].group()):
        parts.pop()
    if not parts:
        return start, start
    last = _POSSESSIVE.sub("", parts[-1].group())
    return start + parts[0].start(), start + parts[-1].start() + len(last)


def _no_name(word: str) -> bool:
    return _POSSESSIVE.sub("", word).lower().rstrip(".") in _NO_NAMES


def negation(sentence: str, passage: str, rng: random.Random) -> str | None:
    """Put in or take out one negation."""
    shorter = _NOT.sub(r"\1 ", sentence, count=1)
    if shorter != sentence:
        return shorter
    hit = _BE.search(sentence)
    if hit is None:
        return None
    words = [" not", " never"] if hit.group() in {"was", "were", "has", "had"} else [" not"]
    if rng.random() < 0.2 and hit.group() in {"is", "was", "are", "were", "did"}:
        words = ["n't"]
    return sentence[: hit.end()] + rng.choice(words) + sentence[hit.end() :]


def unit(sentence: str, passage: str, rng: random.Random) -> str | None:
    """Change one unit, month or weekday."""
    return _swap_word(sentence, _UNIT, rng)


def opposite(sentence: str, passage: str, rng: random.Random) -> str | None:
    """Turn one word into its opposite."""
    return _swap_word(sentence, _OPPOSITE, rng)


def roles(sentence: str, passage: str, rng: random.Random) -> str | None:
    """Let two names change places where the words between them are not symmetric."""
    hits = _named(sentence)
    fit = []
    for a, b in pairwise(hits):
        between = sentence[a[1] : b[0]]
        even = (
            sentence[slice(*a)] == sentence[slice(*b)]
            or len(between.split()) > 8
            or _EVEN.search(between)
        )
        if not even and _ROLES.search(between):
            fit.append((a, b))
    if not fit:
        return None
    a, b = rng.choice(fit)
    first, middle, second = sentence[slice(*a)], sentence[a[1] : b[0]], sentence[slice(*b)]
    return sentence[: a[0]] + second + middle + first + sentence[b[1] :]


CHANGES: Final[dict[str, Callable[[str, str, random.Random], str | None]]] = {
    "number": number, "negation": negation, "unit": unit, "opposite": opposite, "roles": roles,
}  # fmt: skip


_HARMLESS: Final[tuple[tuple[float, re.Pattern[str], str], ...]] = (
    (0.5, re.compile(r"\s*\([^()]*\)"), ""),
    (0.3, re.compile(rf"\b({_MONTH}) (\d{{1,2}}), (\d{{4}})"), r"\2 \1 \3"),
    (0.3, re.compile(r"^(?:However|Also|In addition|Moreover|Additionally|Therefore), "), ""),
    (0.3, re.compile(r"(\d),(\d{3})\b"), r"\1\2"),
    (0.3, re.compile(r", (?:which|who|where) [^,]+(?=[,.])"), ""),
    (0.3, re.compile(r"\.$"), ""),
)


def rewrite(sentence: str, rng: random.Random) -> str:
    """Say the same in other words: each harmless change is made with some probability."""
    text = sentence
    for chance, pattern, other in _HARMLESS:
        if rng.random() < chance:
            text = pattern.sub(other, text)
    for _ in range(2):
        if rng.random() < 0.4:
            text = _swap_word(text, _SYNONYM, rng) or text
    if rng.random() < 0.15:
        text = text.lower()
    if rng.random() < 0.15:
        text = _clause_first(text)
    return text.strip() or sentence


def _clause_first(text: str) -> str:
    """Move an opening "In 1990, " to the end."""
    match = re.match(r"^(In|On|During|After|Since|By) ([^,]{2,30}), (\w)(.+?)(\.?)$", text)
    if not match:
        return text
    word, rest, letter, tail, stop = match.groups()
    return f"{letter.upper()}{tail} {word.lower()} {rest}{stop}"
