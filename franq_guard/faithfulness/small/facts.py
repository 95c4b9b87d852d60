"""Checks the facts of a claim one by one: numbers, the words near them, names and their order.

An encoder reads a claim as a whole, so a single changed number may hardly affect its result. Each
value here is that of the claim's worst fact.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import combinations
from typing import Final

from franq_guard.faithfulness.small.numerals import FULL_TENS, ORDINAL_END, SPELLED
from franq_guard.faithfulness.small.words import STOPWORDS, stem, words

FACTS: Final = (
    "number_absent",  # 1 where a number of the claim, spelled out or not, is nowhere in the text
    "number_strange",  # 1 - share of the claim's words near its number; the worst number counts
    "name_absent",  # 1 where a name of the claim is nowhere in the text
    "order",  # 1 where two names are swapped around the words between them
)

_NEAR: Final = 8  # words on each side of a number
_NAME: Final = re.compile(
    r"\b[A-Z][\w’'-]*[a-z][\w’'-]*(?: (?:[A-Z]\.|[A-Z][\w’'-]*[a-z][\w’'-]*))*"
)
_PASSIVE: Final = re.compile(r"\bby\b")


def facts(claim: str, text: str) -> list[float]:
    """Return the values of `FACTS` for a claim and the text it is compared with, each in [0, 1]."""
    tokens, known = normalised(claim), normalised(text)
    numbers = [i for i, token in enumerate(tokens) if token[0].isdigit()]
    present = set(known)
    absent = any(tokens[i] not in present for i in numbers)
    strange = max((_strangeness(tokens, i, known) for i in numbers), default=0.0)
    lower = text.lower()
    missing = any(not any(w in lower for w in name.lower().split()) for name in names(claim))
    return [float(absent), strange, float(missing), float(_swapped(claim, text))]


@lru_cache(maxsize=4096)
def normalised(text: str) -> tuple[str, ...]:
    """Return the words of a text with spelled-out numbers and ordinals as digits."""
    found: list[str] = []
    for word in words(text):
        number = SPELLED.get(word)
        if number is None:
            found.append(ORDINAL_END.sub("", word))
        elif number < 10 and found and found[-1] in FULL_TENS:
            found[-1] = str(int(found[-1]) + number)  # twenty-five
        else:
            found.append(str(number))
    return tuple(found)


def _strangeness(tokens: tuple[str, ...], at: int, known: tuple[str, ...]) -> float:
    """1 - share of the claim's other content words that are near this number in the text."""
    around = {stem(t) for t in tokens if t not in STOPWORDS and not t[0].isdigit()}
    if not around:
        return 0.0
    shares = [
        len(around & {stem(t) for t in known[max(0, place - _NEAR) : place + _NEAR + 1]})
        for place, token in enumerate(known)
        if token == tokens[at]
    ]
    return 1 - max(shares, default=0) / len(around)


@lru_cache(maxsize=4096)
def names(text: str) -> tuple[str, ...]:
    """Return the runs of capitalised words of a text, without a leading stop word."""
    found = []
    for match in _NAME.finditer(text):
        first, _, rest = match.group().partition(" ")
        name = rest if first.lower() in STOPWORDS else match.group()
        if name and not (match.start() == 0 and " " not in name):
            found.append(name)
    return tuple(found)


def _swapped(claim: str, text: str) -> bool:
    """Whether two names are in the opposite order to the text while the voice is the same.

    Also true if the order is the same but one of claim and text is passive and the other active.
    """
    lower, own = text.lower(), claim.lower()
    found = [n.lower() for n in names(claim) if lower.count(n.lower()) == 1]
    for a, b in combinations(dict.fromkeys(found), 2):
        if a in b or b in a:
            continue
        here = _between(own, a, b)
        there = _between(lower, a, b)
        if here is None or there is None or not _relation(here[1]) & _relation(there[1]):
            continue
        turned = here[0] != there[0]
        voice = bool(_PASSIVE.search(here[1])) != bool(_PASSIVE.search(there[1]))
        if turned != voice:
            return True
    return False


def _between(text: str, a: str, b: str) -> tuple[bool, str] | None:
    """Whether `a` is before `b`, and the text between them; None if that text is too long."""
    i, j = text.find(a), text.find(b)
    middle = text[i + len(a) : j] if i < j else text[j + len(b) : i]
    return (i < j, middle) if len(middle) < 80 and "." not in middle else None


def _relation(middle: str) -> set[str]:
    return {stem(word) for word in words(middle) if word not in STOPWORDS}
