"""Sentence boundaries: `sentencex`, with corrections for cases that it does not handle."""

from __future__ import annotations

import re
from itertools import pairwise

from sentencex import get_sentence_boundaries

from franq_guard.basics.text import CITATION_MARK, trimmed, without_surrogates
from franq_guard.claims.attribution import SOURCE_IN_ROUND
from franq_guard.records import Span

_ELLIPSIS = re.compile(r"(?:…|\.\.\.)[\"”')\]]*\s+(?=[\"“'(]?[A-Z])")
_UNIT = re.compile(
    r"\d\s?(?:[kcm]?m|k?g|ha|mi|ft|lb|km/h|m/s|[MGT]B|[kMG]?W|GHz|MHz|min)\.\s+(?=[A-Z])"
)
_WORD_ENDS = re.compile(
    r"(?:\b[Mm]ay|(?<=[a-z] )me|\b(?:hepatitis|vitamin|type|grade|class|plan|group|section|version"
    r"|option|appendix|category|team) [A-Z])\.[\"”]?\s+(?=[A-Z])"
)
"""A month and a pronoun that look like abbreviations, and a letter that is not an initial."""
_ADDRESS_ENDS = re.compile(
    r"(?<!\S)[(<\"“]?(?:\w{2,9}://|www\.)\S*[\w/][.!?]\s+(?=[\"“'‘(*_]{0,3}[A-ZÄÖÜ])"
)
"""The last letter of "https://a.org/x." is taken for an initial."""
_NO = re.compile(r"\s*No\.\s+(?=[A-Z])")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(*_])(?:approx|est|vol|vols|ed|eds|no|nos|ca|cf|fig|figs|sec|ch|art|al|vs|viz|resp|incl"
    r"|max|min|dept|univ|assoc|bros|corp|т|г|др|e\.g|i\.e|ver|op|cit|b|d|r|fl|pp|p)\.$",
    re.IGNORECASE,
)
_BEFORE_AMOUNT = re.compile(r"[\s(*_](?:approx|est|ca|vs|max|min|incl|resp|e\.g|i\.e)\.$", re.I)
_AMOUNT = re.compile(r"[$€£¥~≈<>±+−-]{1,3}\d")
"""An amount that begins with a mark: "approx. $25"."""
_NUMBER_OR_LETTER = re.compile(r"[\d.]\.$|(?:^|\s)\w\.$")
FIRST_NAMES = frozenset(
    {"Benj", "Wm", "Geo", "Chas", "Thos", "Jas", "Jos", "Jno", "Robt", "Edw", "Danl", "Saml",
     "Nathl", "Richd", "Alexr", "Archd", "Fredk"}
)  # fmt: skip
"""First names as they are abbreviated before a last name: "Benj. Harper"."""
_FIRST_NAME = re.compile(rf"(?:^|[^\w.])(?:{'|'.join(sorted(FIRST_NAMES))})\.$")
_NO_LAST_NAME = re.compile(
    r"(?:He|She|It|They|We|I|You|The|An?|This|That|These|Those|His|Her|Its|Their|In|On|At|By|After"
    r"|Before|When|While|However|Later|Then|And|But|Also|Both|For|As|There)\b"
)
_SMALL_WORD = re.compile(
    r"(?!(?:it|he|she|they|we|you|i|yes|no|ok|okay)\b)[a-z][a-z'’-]*(?![\w'’])"
)
_LIST_BEGINS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|includes?|included|follow\w*|these)\b[^:.!?]*(?<![\d ])"
    r":\s*1\.(?=\s|$)"
)
_LIST_NUMBER = re.compile(r"(?:^|\s)(\d{1,2})\.$")
_ENUMERATOR = re.compile(r"[*_]{0,3}\(?(?:\d{1,3}|[a-zA-Z])[.)]$")
_LOWER_VERB = re.compile(r"(?:is|was|has|had|are|were|and|or|in|for|to|of|by|that|which|who)\b")
_GERMAN_DAY = re.compile(
    r"(?:^|\s)(?P<before>(?:am|vom|zum|bis|der|dem|den|des|ab|seit|im|und|oder)\s)?\d{1,2}\.$", re.I
)
_GERMAN_MONTH = re.compile(r"(?:Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember)\b")
_AFTER_ORDINAL = re.compile(r"(?:April|August|September|November|Jahrhundert|Weltkrieg)")
"""What may follow a German ordinal, if a German word is before it: English has these months too."""
_LOOKED_AT = 24
"""How many characters before and after a boundary are looked at."""
_HIGH = "[¹²³⁰⁴-⁹]+"
HIGH_NUMBERS = rf"{_HIGH}(?:[,⁻–-]{_HIGH})*"
"""A pattern for the numbers of notes, as after "It is old.¹"."""
_CLOSING = r"(?:[*_]|~~|</(?:b|i|u|em|strong|mark|span|a)>){1,8}"
_TAIL = re.compile(
    rf"(?:{_CLOSING}(?:\[\^?\d{{1,3}}\])*(?:{HIGH_NUMBERS})?|{HIGH_NUMBERS}(?:{_CLOSING})?"
    r"|(?:\[\^\d{1,3}\])+)"
    r"(?=\s|\Z)\s*"
)
"""What `sentencex` leaves to the next sentence: what closes "**It is old.**", and notes."""
_CITATION_MARKS = re.compile(rf"(?:(?:{CITATION_MARK})\s*)+")
_SOURCE = re.compile(rf"[*_]{{0,3}}(?:{SOURCE_IN_ROUND})[*_]{{0,3}}(?=\s|\Z)\s*")
_SEEN = 38
"""A source behind a sentence ends within so many characters: a stream waits for two more before the
sentence is settled (``LOOK_AHEAD`` in :mod:`.settling`), so it is not cut off from its source."""
_MARKED = re.compile(r"(?<![\w*_])(\*{1,3}|_{1,3})(?=[A-Z][\w.]{0,5}\.\s)")
"""What hides from `sentencex` that "**Dr. Lee**" begins with an abbreviation."""
_NOTE = re.compile(r"\s*(?:\[\^?\d{1,3}\])+\s*$")
_FORMULA_END = re.compile(r"\$\$\s*")


def sentences(text: str, start: int, end: int, *, language: str = "en") -> list[Span]:
    """Sentence spans in ``text[start:end]``, trimmed, in order; they cover all non-blanks.

    ``sentencex`` fails on lone surrogates, so these are replaced by one character each.
    """
    part = without_surrogates(text[start:end])
    marked = {m.end(): m.start() for m in _MARKED.finditer(part)}
    read = _MARKED.sub(lambda mark: " " * len(mark[1]), part) if marked else part
    cuts: list[Span] = []
    for found in get_sentence_boundaries(language, read):
        cuts.extend(_split_more(read, found["start_index"], found["end_index"]))
    merged: list[Span] = []
    formulas = "$$" in part
    for cut in cuts:
        left, right = trimmed(part, *(marked.get(at, at) for at in cut))
        tail = _TAIL.match(part, left, right) if merged and left == merged[-1][1] else None
        if formulas and merged and part[slice(*merged[-1])].count("$$") % 2:  # "$$x = 3.$$"
            tail = _FORMULA_END.match(part, left, right) or tail
        tail = _source(part, tail.end() if tail else left, right, merged) or tail
        tail = _CITATION_MARKS.match(part, tail.end() if tail else left, right) or tail
        if tail and merged:
            merged[-1] = trimmed(part, merged[-1][0], tail.end())
            left = tail.end()
        if left >= right:
            continue
        if merged and _belongs(part, merged[-1], (left, right)):
            merged[-1] = (merged[-1][0], right)
        else:
            merged.append((left, right))
    return [(start + left, start + right) for left, right in merged]


def _source(part: str, at: int, end: int, before: list[Span]) -> re.Match[str] | None:
    """What is cited behind a sentence, "It is old. (passage 2)", and no part of the next one.

    Not where a source comes first: then each stands before what it is cited for.
    """
    found = _SOURCE.match(part, at, end) if before else None
    if found is None or _SOURCE.match(part, before[0][0]):
        return None
    ends = found.start() + len(found.group().rstrip())
    return found if ends - before[-1][1] <= _SEEN else None


def _split_more(part: str, start: int, end: int) -> list[Span]:
    """The span split where boundaries were missed: after an ellipsis, after the answer "No."."""
    marks = [m.end() for m in _ELLIPSIS.finditer(part, start, end)]
    marks.extend(m.end() for m in _UNIT.finditer(part, start, end))
    marks.extend(m.end() for m in _WORD_ENDS.finditer(part, start, end))
    marks.extend(m.end() for m in _ADDRESS_ENDS.finditer(part, start, end))
    marks.sort()
    no = _NO.match(part, start, end)
    if no:
        marks.insert(0, no.end())
    edges = [start, *(m for m in marks if m < end), end]
    return list(pairwise(edges))


def _belongs(part: str, before: Span, after: Span) -> bool:
    """Whether two spans are one sentence, because the boundary between them is wrong."""
    sentence, head = part[slice(*before)], part[after[0] : after[0] + _LOOKED_AT]
    if _NOTE.fullmatch(part[slice(*after)][:12]) or not any(c.isalnum() for c in head):
        return True  # footnote marks and single punctuation marks belong to the sentence before
    if len(sentence) <= 8 and _ENUMERATOR.fullmatch(sentence):
        return True
    if sentence.endswith(("!", "?")):
        return _mark_is_of_a_name(sentence, head)
    if sentence.endswith(("...", "…")) and before[1] == after[0] and head[0].isascii():
        return head[0].isalpha()
    if sentence.endswith(" .") and before[1] == after[0]:
        return head[:2].isupper()  # "Use .NET", not "It is old .It is"
    if head.startswith("NET") and before[1] == after[0]:
        return sentence[-2:-1].isupper()  # "ASP.NET"
    return sentence.endswith(".") and (
        _is_list_number(sentence) or _dot_is_no_end(sentence[-_LOOKED_AT:], head)
    )


def _mark_is_of_a_name(sentence: str, head: str) -> bool:
    """Whether "!" or "?" belongs to a name, as in "Panic! at the Disco"; not in careless text."""
    if sentence.endswith("!") and _LOWER_VERB.match(head):
        return True
    first = next((c for c in sentence if c.isalpha()), "")
    return first.isupper() and _SMALL_WORD.match(head) is not None


def _dot_is_no_end(tail: str, head: str) -> bool:
    """Whether the dot after ``tail`` is that of an abbreviation or ordinal, by what follows it."""
    if _FIRST_NAME.search(tail) and head[0].isupper() and not _NO_LAST_NAME.match(head):
        return True
    day = _GERMAN_DAY.search(tail)
    if day and (_GERMAN_MONTH.match(head) or (day["before"] and _AFTER_ORDINAL.match(head))):
        return True
    if head[0].islower():
        return bool(_ABBREVIATION.search(tail) or _NUMBER_OR_LETTER.search(tail))
    if _AMOUNT.match(head):
        return _BEFORE_AMOUNT.search(tail) is not None
    return head[0].isdigit() and _ABBREVIATION.search(tail) is not None


def _is_list_number(sentence: str) -> bool:
    """Whether it ends with the number of a list in running text: "The parts are: 1. Keel 2."."""
    number = _LIST_NUMBER.search(sentence[-_LOOKED_AT:])
    begins = _LIST_BEGINS.search(sentence) if number else None
    if not number or not begins:
        return False
    last = f" {int(number[1]) - 1}. "
    return begins.end() == len(sentence) or last in f"{sentence[begins.end() - 3 :]} "
