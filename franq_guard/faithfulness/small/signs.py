"""Reads the signs in which a value may be written: "1½ cups", "≥ 18", "1.2B users", "ratio of 1:3".

Claim and passage are both written anew, so that one who writes "1.5", "at least 18", "1.2 billion"
or "1 to 3" has the same words. Where a sign may be code, markup or a name it stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from franq_guard.faithfulness.small.amounts.units import TIMES, UNIT_PATTERN, unit_of
from franq_guard.faithfulness.small.latex import latex_amounts
from franq_guard.faithfulness.small.rewritten import Change, Rewritten, rewritten

_BLANK: Final = "[ \u00a0\u2009\u202f]"
_UNIT: Final = rf"(?={_BLANK}?-?{UNIT_PATTERN})"

_PARTS: Final = {"½": ".5", "1/2": ".5", "¼": ".25", "1/4": ".25", "¾": ".75", "3/4": ".75"}
_IN_WORDS: Final = {"½": "half", "¼": "a quarter", "¾": "three quarters"}
_PART: Final = re.compile(
    rf"(?<![\w.,/:½¼¾–-])(?:(?P<whole>\d{{1,4}}){_BLANK}?(?P<with>[½¼¾])(?![\d/½¼¾]|[–-]\d)"
    rf"|(?:(?P<before>\d{{1,3}}){_BLANK})?(?P<digits>1/2|[13]/4){_UNIT}"
    rf"|(?P<sign>[½¼¾])(?:(?P<of>(?= of\b))|{_UNIT}))"
)
"""Not thirds, which no decimal number is, and not "1/2" without a unit, which may be a date."""

_LIMITS: Final = {
    "≥": "at least", ">=": "at least", "≤": "at most", "<=": "at most",
    ">": "more than", "<": "less than",
}  # fmt: skip
_OR: Final = {
    "at least": ("a minimum of", "no less than", "not less than", "no fewer than"),
    "at most": ("up to", "no more than", "not more than", "a maximum of"),
    "more than": ("over", "above", "greater than", "higher than"),
    "less than": ("fewer than", "under", "below", "lower than"),
}
"""Other words for the same, of which a claim takes those that its passages have."""
_PLACES: Final = ("over", "above", "under", "below")
"""Before a length these may be a place ("it lives below 200 m"), before a time "during"."""
_MAY_BE_PLACES: Final = ("length", "foot", "mile", "inch", "yard", *TIMES)
_AMOUNT: Final = re.compile(rf"(?P<number>[$€£¥]?\d[\d.,]*)(?:{_BLANK}?(?P<unit>{UNIT_PATTERN}))?")
_LIMIT: Final = re.compile(
    r"(?:(?<![<>=!~≥≤])(?P<sign>[≥≤])|(?<=[ (\u00a0])(?P<ascii>[<>]=?))"
    rf"{_BLANK}?(?=[$€£¥]?\d)(?!0x|[\d.,]*\s?(?:[<>]|\*\*|-[a-z]))"
)
_NOT_BEFORE: Final = re.compile(
    r"(?:(?<!\w)[^\W\d]"  # one letter: "p < 0.05", "x >= 3"
    r"|_\w*|\w\([^()\n]*\)|[\]}'\"$*/=+-]"  # code: "max_len > 5", "len(x) > 5"
    r"|(?<![A-Za-z])\d[\d.,]*\s?[\w°%²³]{0,5}"  # two values: "5 kg > 3 kg"
    r"|[<>≤≥]=?\s?[^\W\d]\w*)\s*$"  # between two: "20 ≤ BMI ≤ 25"
)
_CODE: Final = re.compile(
    r"`|[=!]=|&&|\|\||[{}]\s*$|=.*;\s*$|^\s*\w+\(.*;\s*$|</|/>|<[A-Za-z!]|\\[A-Za-z]|\bif \("
    r"|\b(?:WHERE|SELECT)\b|^\s*(?:return|def)\b|^\s*(?:if|elif|while|for|assert)\b.*:\s*$"
    r"|^(?: {4}|\t)|\s=\s|^\s*>|^\s*[a-z_]+: [\w.]+ [<>]|[\"'][\w.]+ [<>]=? ?[\d.]+[\"']",
    re.MULTILINE,
)
_LABEL: Final = re.compile(r"[A-Z]\w*\s*$")
_LETTERED: Final = re.compile(r"\d+[A-Za-z]")
_HEART: Final = re.compile(rf"3(?![\d.,%]|{_BLANK}?{UNIT_PATTERN})")
_FURTHEST: Final = 200
"""So many characters on each side tell whether a line is code."""

_PEOPLE: Final = (
    "people|users|customers|subscribers|inhabitants|residents|followers|downloads|views|visitors"
    "|members|employees"
)
_SCALES: Final = {"K": "thousand", "M": "million", "B": "billion"}
_SCALE: Final = re.compile(  # not "3M employees", which may be those of a firm
    rf"(?<![\w.,:/$€£¥-])(?P<number>\d{{1,3}}\.\d{{1,3}}|\d{{2,3}})(?P<scale>[KMB])"
    rf"(?=\+?{_BLANK}(?:[a-z]+ ){{0,2}}?(?:{_PEOPLE})\b)"
)
_NAMED: Final = re.compile(r"\b(?!(?:Over|About|Around|Nearly|Almost|Some|The|Its)\b)[A-Z]\w* $")
_NAME: Final = 30  # characters of a name before a number

_SIDES: Final = (
    r"(?<![\d.,:])(?P<{0}>\d{{1,4}}(?:\.\d+)?)\s?:\s?"
    r"(?P<{1}>(?!0\d)\d{{1,4}}(?:\.\d+)?)(?!:?\d|\*|\s?[ap]\.?m\b)"
)
_RATIO: Final = re.compile(
    r"\b(?:ratios?|proportions?)\b"
    r"(?: (?:of|in|is|was|are|were|about|around|roughly|nearly|approximately)){0,2} "
    + _SIDES.format("first", "second")
    + "|"
    + _SIDES.format("one", "other")
    + r"(?=[ -](?:[a-z]+ )?(?:ratio|proportion)\b)"
)


def in_words(text: Rewritten) -> Rewritten:
    """Return a text with such signs in words and digits, which leads back to where they stand."""
    readers: tuple[tuple[str, Callable[[str], Iterator[Change]]], ...] = (
        ("\\$~", latex_amounts),
        ("½¼¾/", _parts),
        ("≥≤<>", _limits),
        ("KMB", _people),
        (":", _ratios),
    )
    for signs, reader in readers:
        if any(sign in text.text for sign in signs) and (changes := list(reader(text.text))):
            text = rewritten(text.text, changes, of=text)
    return text


def limits_as_in(text: str, claim: str) -> str:
    """Return a claim with the signs of its limits in the words that a text has for the same."""
    if not any(sign in claim for sign in "≥≤<>"):
        return claim
    said = [(span, _said_in(text, claim, span[1], words)) for span, words in _limits(claim)]
    return rewritten(claim, said).text


def _said_in(text: str, claim: str, at: int, words: str) -> str:
    """The words of a text for a limit before the number at a place of the claim."""
    amount = _AMOUNT.match(claim, at)
    if amount is None:
        return words
    unit = unit_of(amount["unit"] or "")
    no_place = unit is None or unit.kind not in _MAY_BE_PLACES
    number = re.escape(amount["number"].rstrip(".,"))
    for other in (words.strip(), *_OR[words.strip()]):
        known = re.search(rf"\b{other}\s{number}(?![.,]?\d)", text, re.IGNORECASE)
        if known and (no_place or other not in _PLACES):
            return words.replace(words.strip(), other)
    return words


def _parts(text: str) -> Iterator[Change]:
    for match in _PART.finditer(text):
        if match["of"] is not None:
            yield match.span(), _IN_WORDS[match["sign"]]
            continue
        whole = match["whole"] or match["before"] or "0"
        yield match.span(), whole + _PARTS[match["with"] or match["digits"] or match["sign"]]


def _limits(text: str) -> Iterator[Change]:
    for match in _LIMIT.finditer(text):
        start, end = match.span()
        line_start = max(text.rfind("\n", 0, start) + 1, start - _FURTHEST)
        line_end = text.find("\n", end, end + _FURTHEST)
        before = text[line_start:start]
        after = text[end : line_end if line_end >= 0 else end + _FURTHEST]
        sign = match["sign"] or match["ascii"]
        if _NOT_BEFORE.search(before[-_NAME:]):
            continue
        if match["sign"] or _is_no_markup(before, sign, text[start:end], after):
            apart = "" if not before or before[-1].isspace() or before[-1] in "([|" else " "
            yield (start, end), f"{apart}{_LIMITS[sign]} "


def _is_no_markup(before: str, sign: str, written: str, after: str) -> bool:
    """Whether a sign is no code, path, quotation or heart: "File > 3D", "> 5 said", "I <3 it"."""
    if _CODE.search(f"{before}{sign} {after}"):
        return False
    if not before.strip() or (sign == ">" and ">" in before + after):
        return False
    if _LABEL.search(before) and _LETTERED.match(after):
        return False
    return not (written == "<" and _HEART.match(after))


def _people(text: str) -> Iterator[Change]:
    for match in _SCALE.finditer(text):
        if not _NAMED.search(text, max(0, match.start() - _NAME), match.start()):
            yield match.span(), f"{match['number']} {_SCALES[match['scale']]}"


def _ratios(text: str) -> Iterator[Change]:
    """Only beside the word "ratio" or "proportion": "1:3" may be a time, a score or a verse."""
    for match in _RATIO.finditer(text):
        first, second = ("first", "second") if match["first"] else ("one", "other")
        yield (
            (match.start(first), match.end(second)),
            f"{match[first]} to {match[second]}",
        )
