"""Finds numbers in words from one hundred up, and writes them in digits.

Only what surely is one number is read: "hundreds of people", "several thousand", "nineteen
eighty-four" and names such as "Six Hundred Lakes" are left alone. Of those below one hundred only
"forty-one" and the like are, since "one" alone is rarely a number; every reader knows the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from franq_guard.faithfulness.small.rewritten import Rewritten, rewritten
from franq_guard.records import Span


def one_of(words: Iterable[str]) -> str:
    """A regular expression for one of some words; it ignores case for ASCII letters alone.

    Otherwise "fıfth" and "ſecond", as some PDFs and old books have them, would match as well, but
    the dictionaries of the words, in which a match is looked up, do not have them.
    """
    return f"(?a:{'|'.join(words)})"


def _counted(names_in_order: str, first: int, step: int = 1) -> dict[str, int]:
    return {name: first + step * i for i, name in enumerate(names_in_order.split())}


_TENS: Final = _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
FULL_TENS: Final = frozenset(str(tens) for tens in _TENS.values())
#: Without "one", "first" and "second", which are rarely used as numbers.
CARDINALS: Final = {
    **_counted("two three four five six seven eight nine ten eleven twelve thirteen fourteen", 2),
    **_counted("fifteen sixteen seventeen eighteen nineteen", 15),
    **_TENS,
}
SPELLED: Final = {
    **CARDINALS,
    **_counted("third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 3),
}
CARDINAL_PATTERN: Final = rf"(?:{one_of(_TENS)}[ -])?{one_of(('one', *CARDINALS))}"
"""A number from one to ninety-nine in words, as a regular expression."""

_LARGE_ORDINALS: Final = {
    **_counted("thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth", 13),
    **{f"{tens.removesuffix('y')}ieth": number for tens, number in _TENS.items()},
}
ORDINALS: Final = {
    "first": 1,
    "second": 2,
    **{word: number for word, number in SPELLED.items() if word not in CARDINALS},
    **_LARGE_ORDINALS,
}
ORDINAL_END: Final = re.compile(r"(?<=\d)(?:st|nd|rd|th)$")
_VALUES: Final = {"a": 1, "an": 1, "one": 1, **CARDINALS, **ORDINALS}
_ENDS: Final = {"first": "st", "second": "nd", "third": "rd"}
_SCALES: Final = {"trillion": 10**12, "billion": 10**9, "million": 10**6, "thousand": 1000}
_ANY: Final = f"hundred|{'|'.join(_SCALES)}"
_WORTH_READING: Final = re.compile(rf"{_ANY}|ty-(?:one|first)", re.IGNORECASE)

_GAP: Final = "[ \u00a0\u202f-]"
_AND: Final = f"{_GAP}and{_GAP}"
_SMALL: Final = rf"{CARDINAL_PATTERN}\b"
_TEN: Final = rf"{one_of(_TENS)}{_GAP}"
_ORDINAL: Final = rf"(?:{_TEN})?{one_of(ORDINALS)}\b"
# Without "and": "a hundred third-party tools" are not the 103rd ones.
_LARGE_ORDINAL: Final = rf"(?:{_TEN}{one_of(ORDINALS)}|{one_of(_LARGE_ORDINALS)})\b"
_NO_MORE: Final = rf"(?!{_GAP}(?:{_ANY}|dozen)(?:th|s|ths)?\b)"
_AND_ONE: Final = rf"(?P<small>{one_of(_TENS)}-(?:one|first))\b{_NO_MORE}"
_PART: Final = (  # half a million, two and a half million, a million and a half
    rf"(?:(?P<part>half|(?:a|one){_GAP}quarter(?:{_GAP}of)?|three{_GAP}quarters{_GAP}of){_GAP}an?"
    rf"|(?P<with_half>{_SMALL}){_AND}(?:a|one){_GAP}half){_GAP}(?P<of>{_ANY})\b"
    rf"|(?:an?|one){_GAP}(?P<one>{'|'.join(_SCALES)}){_AND}(?:a|one){_GAP}half\b"
)


def _pattern(join: str, ordinal: str) -> re.Pattern[str]:
    """A number whose parts are joined so; it may end in such an ordinal."""
    group = rf"(?:(?:an?|{_SMALL}){_GAP}hundred\b(?:{join}{_SMALL})?|{_SMALL}|an?\b)"
    scaled = "".join(rf"(?:(?:,?{join})?(?P<{scale}>{group}){_GAP}{scale}\b)?" for scale in _SCALES)
    return re.compile(
        rf"(?<![\w-])(?=(?:an?|half|one|{'|'.join(CARDINALS)})\b)(?:{_AND_ONE}|{_PART}"
        rf"|(?<!half of )(?<!third of )(?<!fifth of )(?<!tenth of ){scaled}"
        rf"(?:(?:,?{_GAP})?(?P<hundred>an?|{_SMALL}){_GAP}hundred\b)?"
        rf"(?P<rest>{join}(?:{_LARGE_ORDINAL}|{_SMALL})|{ordinal})?"
        rf"{_NO_MORE})",
        re.IGNORECASE,
    )


_NUMBER: Final = _pattern(rf"{_GAP}(?:and{_GAP})?", rf"{_AND}{_ORDINAL}")
_LIMIT: Final = _pattern(_GAP, rf"{_GAP}{_LARGE_ORDINAL}")
_BETWEEN: Final = re.compile(r"\bbetween\s$", re.IGNORECASE)  # two follow: "one hundred and ten"
_BRACKET: Final = re.compile(
    r"(?P<unit>\s(?:per\s)?[a-z]+)?\s?\((?P<digits>\d[\d,]*)(?(unit)|\))", re.IGNORECASE
)
_LONGEST: Final = len("between ") + 1


@lru_cache(maxsize=4096)
def in_digits(text: str) -> Rewritten:
    """Return a text with its numbers in words from one hundred up in digits.

    "Six hundred and forty" is 640, "three hundred and fifty thousand" is 350 thousand, "half a
    million" is 0.5 million, "forty-one" is 41. "Nine thousand" stays, and so does a number whose
    digits and unit follow: "one hundred and fifty per cent (150%)".
    """
    if not _WORTH_READING.search(text):
        return Rewritten(text)
    return rewritten(text, _found(text))


def _found(text: str) -> Iterator[tuple[Span, str]]:
    """Where the numbers of a text stand, and each in digits, from left to right."""
    at = 0
    while match := _NUMBER.search(text, at):
        start = match.start()
        if _BETWEEN.search(text, max(0, start - _LONGEST), start):
            match = _LIMIT.match(text, start) or match
        at = max(match.end(), start + 1)
        part = match["part"] or match["with_half"] or match["one"]
        span, number = _with_part(match) if part else _whole(match)
        bracket = _BRACKET.match(text, span[1])
        same = bracket is not None and bracket["digits"].replace(",", "") == number
        if bracket and same:
            if not bracket["unit"]:
                yield (start, bracket.end()), number
        elif number and _is_plain(match.group()):
            yield span, number


def _is_plain(written: str) -> bool:
    """Whether no word is capitalised, as in a name; the first one may begin a sentence."""
    return written[1:].islower() or not written[1:]


def _with_part(match: re.Match[str]) -> tuple[Span, str]:
    whole = 1 if match["one"] else _below_thousand(match["with_half"] or "")
    quarters = {"a": 25, "o": 25, "t": 75}.get((match["part"] or "half")[0].lower(), 50)
    scale = (match["of"] or match["one"]).lower()
    if scale == "hundred":
        return match.span(), str(100 * whole + quarters)
    return match.span(), f"{whole}.{quarters}".removesuffix("0") + f" {scale}"


def _whole(match: re.Match[str]) -> tuple[Span, str]:
    """The part of a number that is written in digits, and these; "" where none is."""
    large = {scale: _below_thousand(match[scale]) for scale in _SCALES if match[scale]}
    hundreds, rest = match["hundred"], match["rest"] or match["small"]
    if not large and not hundreds and not rest:
        return match.span(), ""
    if len(large) == 1 and not hundreds and not rest:
        scale, count = next(iter(large.items()))
        if count > 1 or scale != "thousand":
            known = count < 100 and (count % 10 != 1 or count == 11)  # nine thousand
            return match.span(scale), "" if known else str(count)
    number = sum(count * _SCALES[scale] for scale, count in large.items())
    number += 100 * _below_thousand(hundreds or "") + _below_thousand(rest or "")
    last = match.group().lower().replace("-", " ").split()[-1]
    return match.span(), f"{number}{_ENDS.get(last, 'th')}" if last in ORDINALS else str(number)


def _below_thousand(written: str) -> int:
    number = 0
    for word in re.findall("[a-z]+", written.lower()):
        number = 100 * number if word == "hundred" else number + _VALUES.get(word, 0)
    return number
