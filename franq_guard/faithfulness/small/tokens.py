"""Splits a text into words and classifies each as number, name, negation or other word.

Number words are converted to digits, so that "third", "3rd" and "3" are equal.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from franq_guard.faithfulness.small.facts import FULL_TENS, ORDINAL_END, SPELLED
from franq_guard.faithfulness.small.words import NEGATIONS, STOPWORDS, stem, word_set

Kind = Literal["number", "few", "name", "opening", "word", "negation", "pronoun"]
"""The class of a word. "few": a number word such as "one" that rarely is a count. "opening": the
capitalised first word of a sentence, which may or may not be a name."""


class Token(NamedTuple):
    """A word to compare: its stem, or a number in digits; and its class."""

    text: str
    kind: Kind


Tokens = tuple[Token, ...]

_WORD: Final = re.compile(r"\w+(?:[.,]\d+)*")
_OPENS: Final = re.compile(r"(?:^|[.!?:]\s+)$")
_ABBREVIATION: Final = re.compile(r" ?\([A-Z]{2,6}\)")
_NOT: Final = ("'t", "’t")
_PRONOUNS: Final = word_set("he she it they")
_FEW: Final = {"one": "1", "first": "1", "second": "2"}
_YEARS: Final = re.compile(r"(?<=\d0)s$")


@lru_cache(maxsize=4096)
def tokens(text: str) -> Tokens:
    """Return the content words of a text, with spelled-out numbers as digits."""
    return tuple(_read(text))


@lru_cache(maxsize=256)
def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text in digits, including words that rarely are a count."""
    return frozenset(token.text for token in _read(text) if token.kind in ("number", "few"))


def _read(text: str) -> list[Token]:
    found: list[Token] = []
    before = -2  # end of the previous one
    text = _ABBREVIATION.sub("", text)
    for match in _WORD.finditer(text):
        word, start = match.group(), match.start()
        if text[match.end() : match.end() + 2] in _NOT:  # isn't, can't
            found.append(Token("not", "negation"))
            continue
        token = _token(word, opens=bool(_OPENS.search(text[max(0, start - 4) : start])))
        if token is None:
            continue
        unit = token.kind == "number" and word[0].isalpha() and len(token.text) == 1
        if unit and found and found[-1].text in FULL_TENS:  # twenty-five
            found[-1] = Token(str(int(found[-1].text) + int(token.text)), "number")
            continue
        beside = start - before == 1
        if beside and found[-1].kind == "opening" and token.kind == "name":
            found[-1] = Token(found[-1].text, "name")
        found.append(token)
        before = match.end()
    return found


def _token(word: str, *, opens: bool) -> Token | None:
    lower = word.lower()
    if lower[0].isdigit():
        plain = _YEARS.sub("", ORDINAL_END.sub("", lower.replace(",", "")))  # 3rd, 1,200, 1990s
        return Token(plain, "number")
    if lower in SPELLED and (opens or word.islower()):
        return Token(str(SPELLED[lower]), "number")
    if lower in _FEW:
        return Token(_FEW[lower], "few")
    if lower in NEGATIONS or lower in _PRONOUNS:
        return Token(lower, "negation" if lower in NEGATIONS else "pronoun")
    if lower in STOPWORDS or len(word) == 1:
        return None
    if not word[0].isupper():
        return Token(stem(lower), "word")
    return Token(stem(lower), "opening" if opens else "name")
