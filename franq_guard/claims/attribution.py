"""Words that say which passage states something, as in "According to passage 2, Rome is big".

They name a passage as "[2]" does, and are no part of what is stated: no passage says of itself
which number it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from franq_guard.records import Passage, Span

__all__ = [
    "FILE",
    "NOTE",
    "NUMBERED_PASSAGE",
    "PAGE",
    "REPORTED_IN",
    "REPORTING_VERB",
    "SOURCE_IN_ROUND",
    "bare",
    "frames",
    "is_own_name",
    "named_in_frames",
    "numbers_in",
]

_PLACE = r"(?:passage|document|doc|source|context|excerpt|reference)"
_AND = r"(?:, ?(?:and )?| and | & | ?[–-] ?)"
NUMBERED_PASSAGE = (
    rf"(?i:{_PLACE})s? ?#?\d{{1,3}}(?!\w)(?:{_AND}(?:(?i:{_PLACE}) ?)?#?\d{{1,3}}(?!\w)){{0,20}}"
)
"""A pattern for "passage 2", "Source #1", "documents 1 and 3"; at most 21 of them.

Behind each "1," of a long run the pattern begins anew, and would read the rest of the run again.
"""
PAGE = r"(?:,? (?i:pp?\.|pages?|§) ?\d[\d.–-]{0,8})"
FILE = r"[\w-]{1,60}\.(?i:pdf|docx?|html?|txt|md|pptx?|xlsx?)"
SOURCE_IN_ROUND = (
    rf"\((?i:see |cf\. |sources?: ?)?(?P<words>{NUMBERED_PASSAGE}){PAGE}?\)"
    r"|\((?i:sources?|ref(?:erence)?s?): ?(?P<noted>[^()\n]{1,80})\)"
    rf"|\((?P<file>{FILE}){PAGE}\)"
)
"""A pattern for "(passage 2)", "(Source: Annual Report, p. 3)", "(manual.pdf, page 3)".

A file without a page may be part of the statement: "The settings (config.md) are read first."
"""
NOTE = re.compile(
    r"\s*\[\[[^\[\]\n]*\]\](?:\([^()\s]*\))?|\s*【[^【】\n]*】|[¹²³⁰⁴-⁹]+"
    r"|\s*\[(?=[^\[\]\n]*\d|[Ss]ource)[^\[\]\n]*\](?:\([^()\s]*\))?"
    r"|\s+\((?=[^()\n]*\d|(?i:source|see|\[))(?:[^()\n]|\([^()\s]*\))*\)|\s+\(https?://[^()\s]*\)"
)
"""A citation behind a statement, with the blanks before it: " [2]", " (Lee 2001)"."""
_NUMBER = r"(?:\[\^?\d{1,3}\]|\d{1,3}(?!\w))"
_REF = (
    rf"(?:(?i:the )?(?i:{_PLACE})s? ?#?)?{_NUMBER}"
    rf"(?:(?:{_AND}|(?=\[))(?:(?i:{_PLACE}) ?#?)?{_NUMBER}){{0,20}}"
)
REPORTING_VERB = (
    r"(?:both |all |also |clearly |explicitly )?(?:says?|said|states?|stated|mentions?|notes?"
    r"|reports?|explains?|confirms?|indicates?|shows?|claims?|adds?|reveals?|writes?)"
)
"""A pattern for what a passage does with a statement: "clearly states"."""
REPORTED_IN = r"(?:stated|said|mentioned|noted|reported|described|explained|shown|given|indicated)"
"""A pattern for the participle of "as stated in passage 2"."""
_OPENING = re.compile(
    rf"(?:(?:[Aa]ccording to|[Bb]ased on|[Aa]s per) {_REF},"
    rf"|[Aa]s (?:{_REF} {REPORTING_VERB}|{REPORTED_IN} (?:in|by) {_REF}),"
    rf"|(?<![\w.]){_REF} {REPORTING_VERB}(?: that\b|:|,))\s+"
)
_CLOSING = re.compile(
    rf",? (?:according to|as per|as {REPORTED_IN} (?:in|by)) {_REF}(?=\W*$|[,;.])"
)
_END = re.compile(r"\W*$")
_NAMED = re.compile(rf"\b{NUMBERED_PASSAGE}")
_DIGITS = re.compile(r"\d{1,3}")
_RANGE = re.compile(r"(\d{1,3}) ?[–-] ?(\d{1,3})")
_MOST = 20  # the most numbers that one range, such as 1-20, may stand for


def frames(text: str) -> list[Span]:
    """Where a text says which passage states something, in order."""
    found = [m.span() for pattern in (_OPENING, _CLOSING) for m in pattern.finditer(text)]
    return sorted(found)


def named_in_frames(text: str) -> Iterator[Span]:
    """The passages named in words there: "passage 2" of "According to passage 2, ..."."""
    for frame in frames(text):
        yield from (m.span() for m in _NAMED.finditer(text, *frame))


def numbers_in(words: str) -> tuple[str, ...]:
    """The numbers of "passages 1, 3-5": ("1", "3", "4", "5"); those of a long range are not."""
    spread = _RANGE.sub(_each, words)
    return tuple(_DIGITS.findall(spread))


def _each(match: re.Match[str]) -> str:
    first, last = int(match[1]), int(match[2])
    whole = 0 <= last - first < _MOST
    return " ".join(map(str, range(first, last + 1))) if whole else ""


def is_own_name(words: str, passages: Sequence[Passage]) -> bool:
    """Whether the passages themselves speak of a "Document 12", so that it names none of them.

    One that begins with the name may just be numbered.
    """
    named = _NAMED.search(words)
    texts = (p.text.lstrip(" \n[(#*").casefold() for p in passages)
    return named is not None and any(text.find(named.group().casefold()) > 0 for text in texts)


def bare(text: str, passages: Sequence[Passage]) -> str:
    """What a text states, without the words that say which of the passages states it."""
    found = _OPENING.match(text)
    if found and found.end() < len(text) and not is_own_name(found.group(), passages):
        text = text[found.end() :]
        text = text[0].upper() + text[1:]
    found = _CLOSING.search(text)
    if found and _END.match(text, found.end()) and not is_own_name(found.group(), passages):
        text = text[: found.start()] + text[found.end() :]
    return text
