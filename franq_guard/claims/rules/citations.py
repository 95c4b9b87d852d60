"""Citations, links and addresses in an answer: they state nothing, but may name passages.

They are kept in the text but not measured: the probability of writing "[1]" does not depend on
whether a fact is true. Citations are ``[1]``, ``[1, 2]``, ``[^1]``, ``[[1]](url)``, ``【1】``,
``[citation:1]``, ``(Smith 2020)``, ``(Smith et al., 2020)``, ``[Source: Title]``, ``[doc-12]``,
``(passage 2)``, before a full stop or comma ``[Title of a Passage]``, and after a mark or a longer
word a raised ``¹``. A bracket or address that the sentence needs is none ("It holds [9] l.", "The
page is www.example.org."). In "According to
[2], ..." and "Passage 2 says that ..." the words around it are left to :mod:`.attribution`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from franq_guard.basics.text import with_line_feeds
from franq_guard.basics.words import word_set
from franq_guard.claims.attribution import (
    REPORTED_IN,
    SOURCE_IN_ROUND,
    frames,
    named_in_frames,
    numbers_in,
)
from franq_guard.claims.forms import BLANK_ENTITY, INLINE_TAG, breaks_in_cells
from franq_guard.claims.rules import verbs as v
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import find_verb
from franq_guard.claims.rules.lexer import lex
from franq_guard.claims.rules.needed import NEEDS_MORE, REPORTED, is_needed, needs_bracket
from franq_guard.claims.sentences import HIGH_NUMBERS, sentences
from franq_guard.claims.spans import subtract
from franq_guard.records import Claim, Passage, Span

__all__ = ["TAKEN_OUT", "Citation", "Stated", "citations", "cited_by", "passages_named"]

TAKEN_OUT = "\x1f"
"""Replaces each character that was taken out; it counts as a blank."""

NO_ANSWER = frozenset({"Empty Response"})
"""What a framework returns if its model wrote nothing (LlamaIndex)."""

_NUMBERS = r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*"
_NAME = r"[^\W\d_][\w'’-]+"
_AUTHOR = (
    rf"{_NAME}(?:, {_NAME}){{0,3}}(?:,? (?:et al\.?|and|und|&)(?: {_NAME})?)?,?"
    r" (?:19|20)\d\d[a-z]?(?:, pp?\. ?\d{1,4}(?:[–-]\d{1,4})?)?"
)
_DATED = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|Spring|Summer|Autumn|Fall|Winter|In"
    r"|Since|Until|From|Before|After|Around|About|Born|Died|Built|Founded|Opened|Released"
    r"|Established|Published)"
)
"""What is no author: "(May 2021)", "(Opened 2021)"."""
_END = r"(?=\s*(?:[.,;:!?)\]]|$|\n))"
_SQUARED = ("metre", "meter", "metres", "meters", "inch", "inches", "foot", "feet", "mile", "miles",
            "yard", "yards", "second", "seconds")  # fmt: skip
"""After these words a raised number is a power."""
_RAISED = (
    r"(?<![¹²³⁰-⁹])(?=[¹²³⁰-⁹])(?:(?<=[.!?,;:%\"”’])|(?<=[^\W\d_]{3} )|(?<=\b1[5-9]\d\d)"
    r"|(?<=\b20\d\d)|(?<=[^\W\d_]{2})(?=¹(?![⁰-⁹²³]))|(?<=[^\W\d_]{4})"
    + "".join(rf"(?<!{word})" for word in _SQUARED)
    + rf")(?P<raised>{HIGH_NUMBERS})(?!\w)"
)
_SUP = (
    r"(?:(?<=[.!?,;:%\"”’])|(?<=\b1[5-9]\d\d)|(?<=\b20\d\d)|(?<=[^\W\d_]{2})(?=<sup>\[?1\D)"
    r"|(?<=[^\W\d_]{4})"
    + "".join(rf"(?<!{word})" for word in _SQUARED)
    + rf")<sup>\[?(?P<sup>{_NUMBERS})\]?</sup>"
)
"""The same as HTML: "It is old.<sup>1</sup>"."""
_Use = Literal["citation", "frame", "fact"]
_CITATION = re.compile(
    rf"\[\[\^?(?P<linked>{_NUMBERS})\]\](?:\([^()\s]*\))?"
    rf"|\[\^?(?P<numbers>{_NUMBERS})\^?\](?!\()|【(?P<marks>{_NUMBERS})(?:[†:][^】\n]*)?】"
    r"|\[(?:[Ss]ources?|[Pp]assages?|[Dd]oc(?:ument)?s?|[Cc]ontext|[Cc]it(?:ation|e)|[Rr]ef(?:erence)?|[Qq]uellen?)[:\s#]\s?"
    r"(?P<source>[^\[\]\n]{1,80})\](?!\()"
    r"|\[(?P<id>[\w./-]*[\d_/-][\w./-]*)\](?!\()"
    rf"|\[(?P<title>[^\W\d_][^\[\]\n]{{2,80}})(?<!\\)\](?!\(){_END}"
    rf"|{SOURCE_IN_ROUND}"
    rf"|\((?:see |cf\. |vgl\. )?(?P<author>(?=[A-ZÄÖÜ])(?![^()]*\b{_DATED}\b)"
    rf"{_AUTHOR}(?:; {_AUTHOR})*)\){_END}"
    rf"|{_RAISED}|{_SUP}"
)
_URL = r"<?(?:https?://|www\.)[^\s<>]*[^\s<>.,;:!?)\]}\"'”’]"
_SAYS_WHERE = (
    r"(?:(?:see|source|sources|from|via|link|links|more|details|siehe|quelle)\b(?: also)?"
    r"(?: (?:info|information|details))?(?: (?:at|on|here|under))?[:,]?\s+)"
)
_URLS = rf"(?>{_URL}>?(?:(?:, and|,| and) {_URL}>?){{0,20}})"
_SAYS_SO = rf"(?i:according to|(?:as|so) {REPORTED_IN} (?:in|at|on|by)|as per)"
_FRAMED = (
    rf"(?:(?<=[.!?] )|^)(?:{_SAYS_SO}|[Bb]ased on) {_URLS},?\s+"
    rf"|,\s(?:{_SAYS_SO}|per|based on) {_URLS}(?:,(?!\s(?:and|but|or|so|who|which)\b))?"
    rf"|\s{_SAYS_SO} {_URLS}"
)
"""An address with the words that call it the source, and the commas: ", according to https://..."."""
_ADDRESS = re.compile(
    rf"[(\[](?i:{_SAYS_WHERE}|{_SAYS_SO} ){_URLS}[)\]]|{_FRAMED}"
    r"|(?:(?:,|(?<!\s))\s*\b[Ss](?:ee|iehe)(?: also)?:?\s+|,\s*sources?:?\s+)?"
    rf"\(?{_URL}[>)]?|(?<=\])\([^()\s]*\)",
    re.MULTILINE,
)
_PRIVATE = re.compile(r"\ue200[^\ue201\n]{1,400}\ue201")
"""What ChatGPT writes for a link to a source, between two characters that nothing shows."""
_LINK = re.compile(
    r"(?P<begin>(?:(?<!\w)!)?\[)(?P<text>[^\]\[\n]*)"
    r"(?P<end>\]\([^()\s]*(?:[ \t]+(?P<title>\"[^\"\n]{0,200}\"))?\))"
)
"""A link or an image, with a title that is shown while one points at it."""
_LEAD = r"(?:(?:see|sources?|via|from|cf\.|quellen?|siehe|vgl\.)(?: also)?:? )?"
_SOURCE_LINK = re.compile(
    rf"\((?i:{_LEAD})\[(?:[A-ZÄÖÜ][^\]\[\n\d]{{0,40}}|[a-zäöü]{{1,12}}|\^?\d{{1,3}})\]\([^()\s]*\)\)"
    r"|(?i:\[(?:sources?|links?|ref(?:erence)?s?|citations?|quellen?|\^?\d{1,3})\]\([^()\s]*\))"
)
"""A link that only says where something comes from: alone in brackets, or named "source"."""
_LINE_MARKS = re.compile(r"[\s>*+•-]*(?:\d{1,3}[.)]\s+)?")
_GOES_ON = re.compile(r"[\w-]")
"""The bracket is a part of a word: "[CCR5]-positive"."""
_ENDS = re.compile(_END)
_BEFORE_ADDRESS = re.compile(r"([^\W\d_][\w'’-]*)[*_]{0,2}:? (?:(?P<code>`)|\*\*|__|[\"“])?$")
_BEFORE_COMMAND = re.compile(
    r"(?:(?:^|[.!?:;,\n] ?)\W*(?:\d{1,3}[.)]\W*)?(?P<begins>)"
    r"|\b(?:to|please|then|and|or|can|could|must|should|will|may|also|just|now|simply)\s)[*_]*$",
    re.I,
)
"""What is before an imperative or an infinitive: "Open www.a.org", "you can open www.a.org"."""
_OBJECT_VERBS = word_set("open visit use call access load download copy type paste click")


@dataclass(frozen=True, slots=True)
class Citation:
    """``answer[start:end]`` cites ``names``, as they are written; ranges as single numbers."""

    start: int
    end: int
    names: tuple[str, ...]


def citations(text: str) -> list[Citation]:
    """The citations of a text, in order."""
    found = [Citation(*m.span(), _names(m)) for m, use in _brackets(text) if use != "fact"]
    found += [Citation(a, b, numbers_in(text[a:b])) for a, b in named_in_frames(text)]
    return sorted(found, key=lambda citation: citation.start)


def _names(match: re.Match[str]) -> tuple[str, ...]:
    if match["raised"] is not None:
        return numbers_in(unicodedata.normalize("NFKC", match["raised"]).replace("−", "-"))
    numbers = match["numbers"] or match["linked"] or match["marks"]
    numbers = numbers or match["words"] or match["sup"]
    if numbers is not None:
        return numbers_in(numbers)
    named = ("source", "id", "title", "author", "noted", "file")
    return (next(match[name] for name in named if match[name]),)


def _brackets(text: str) -> Iterator[tuple[re.Match[str], _Use]]:
    """What may be a citation in brackets, and what the sentence uses it for."""
    framed = frames(text)
    for match in _CITATION.finditer(text):
        inside = any(a <= match.start() < b for a, b in framed)
        yield match, "frame" if inside else "fact" if is_needed(text, match) else "citation"


class Stated:
    """An answer in which citations, addresses and link targets are replaced by blanks.

    Attributes:
        text: of the same length as the answer, with the same characters everywhere else.
    """

    def __init__(self, answer: str) -> None:
        brackets = list(_brackets(answer))
        taken = [_with_emphasis(answer, m) for m, use in brackets if use == "citation"]
        if "http" in answer or "www." in answer or "](" in answer:
            taken += [span for m in _LINK.finditer(answer) for span in _of_link(m)]
            taken += [m.span() for m in _SOURCE_LINK.finditer(answer) if not _counts(answer, m)]
            taken += [
                m.span() for m in _ADDRESS.finditer(answer) if not _is_part_of_sentence(answer, m)
            ]
        if "\ue200" in answer:
            taken += [m.span() for m in _PRIVATE.finditer(answer)]
        if "<" in answer:
            taken += [m.span() for m in INLINE_TAG.finditer(answer)]
            taken += breaks_in_cells(answer)
        if "&" in answer:
            taken += [m.span() for m in BLANK_ENTITY.finditer(answer)]
        self._answer = answer
        self._is_empty = answer.strip() in NO_ANSWER
        self._taken = sorted(set(taken))
        self._starts = [start for start, _ in self._taken]
        # The sentence needs what is in these brackets, so only the marks are blanks.
        needed = [
            m.span()
            for m, use in brackets
            if use != "citation" and m.group()[0] != "(" and not _GOES_ON.match(answer, m.end())
        ]
        self._opened, self._closed = {start for start, _ in needed}, {end - 1 for _, end in needed}
        marks = {(at, at + 1) for at in self._opened | self._closed}
        self.text = _blanked(answer, sorted({*self._taken, *marks}))

    def why_nothing(self, start: int, end: int) -> str | None:
        """Why ``answer[start:end]`` states nothing; None if it may state something."""
        if self._is_empty:
            return "no answer"
        left = self.text[start:end]
        gone = TAKEN_OUT in left and not any(c.isalnum() for c in left)
        return "citation" if gone else None

    def is_markup(self, start: int, end: int) -> bool:
        """Whether ``answer[start:end]`` is nothing but HTML tags, or the "!" of an image."""
        part = self._answer[start:end]
        if part == "!" and self.text[start] == TAKEN_OUT:
            return True
        return "<" in part and not INLINE_TAG.sub("", part).strip()

    def clear(self, claim: Claim) -> Claim:
        """The claim without the spans of what was taken out."""
        if not (self._taken or self._opened) or not claim.spans:
            return claim
        first = max(0, bisect_right(self._starts, claim.spans[0][0]) - 1)
        last = bisect_left(self._starts, claim.spans[-1][1])
        left = subtract(claim.spans, self._taken[first:last])
        spans = tuple(self._trimmed(*span) for span in left if self.text[slice(*span)].strip())
        return replace(claim, spans=spans) if spans else claim

    def _trimmed(self, start: int, end: int) -> Span:
        part = self.text[start:end]
        start, end = start + len(part) - len(part.lstrip()), start + len(part.rstrip())
        return start - (start - 1 in self._opened), end + (end in self._closed)


def _of_link(link: re.Match[str]) -> Iterator[Span]:
    """What a link or an image has beside its words: all of "![Pump](a.png)", which says nothing.

    A title that says something stays: [Manual](https://a.org "It holds 9 litres").
    """
    is_picture = link["begin"].startswith("!")
    if is_picture and not (_may_say(link["text"]) or _may_say(link["title"])):
        yield link.span()
    else:
        title = (link.span("title"),) if _may_say(link["title"]) else ()
        yield from (link.span("begin"), *subtract((link.span("end"),), title))


def _may_say(words: str | None) -> bool:
    """Whether a picture's description or a link's title may state something."""
    found = lex(words or "")
    has_number = any(word.is_number for word in found)
    return has_number or find_verb(found, 0, len(found), loose=True) is not None


def _with_emphasis(text: str, match: re.Match[str]) -> Span:
    """The range of a citation with what emphasises it alone: "*(Source: passage 1)*"."""
    start, end = match.span()
    while start and text[start - 1] in "*_" and text[end : end + 1] == text[start - 1]:
        start, end = start - 1, end + 1
    return start, end


def _counts(text: str, link: re.Match[str]) -> bool:
    """Whether the sentence needs the number of a link: "It weighs [9](https://...) kg."."""
    return text[link.start() + 1].isdigit() and needs_bracket(text, link.span())


def _is_part_of_sentence(text: str, address: re.Match[str]) -> bool:
    """Whether the sentence is about the address: "Go to www.a.org and", "The page is www.a.".

    In code it is where else it would only be at the end: "The page is `www.a.org` by default".
    """
    near = max(0, address.start() - 40)
    before = _BEFORE_ADDRESS.search(text, near, address.start())
    if before is None or REPORTED.search(text, near, address.start()):
        return False
    low = before[1].lower()
    if low != "see" and _commands(text[near : before.start()], low):
        return True
    ends = before["code"] is not None or _ENDS.match(text, address.end()) is not None
    return low in w.PREPOSITIONS | w.DETERMINERS or (low in NEEDS_MORE and ends)


def _commands(before: str, word: str) -> bool:
    """Whether the word commands what to do with the address: "Open www.a.org"."""
    command = _BEFORE_COMMAND.search(before) if word in v.BASE_FORMS else None
    if command is None:
        return False
    return command["begins"] is not None or word not in v.NOUNS_TOO or word in _OBJECT_VERBS


def _blanked(text: str, taken: Sequence[Span]) -> str:
    parts, at = [], 0
    for start, end in taken:
        if end > at:
            start = max(start, at)
            parts += [text[at:start], TAKEN_OUT * (end - start)]
            at = end
    return "".join([*parts, text[at:]])


def cited_by(text: str, claims: Sequence[Claim]) -> list[list[Citation]]:
    """The citations of each claim, with their places in ``text``.

    A citation belongs to the claims of its sentence that end between the previous citation and
    itself; one inside a claim to that claim, one before all claims of the sentence to the next of
    them. Directly adjacent citations belong to the same claims. In a line that begins with a
    citation, each sentence may.
    """
    text = with_line_feeds(text)
    of: list[list[Citation]] = [[] for _ in claims]
    stating = [i for i, claim in enumerate(claims) if claim.spans and claim.not_a_claim is None]
    ends = sorted((_last_word(text, claims[i]), i) for i in stating)
    begun = [(claims[i].spans[0][0], i) for _, i in reversed(ends)]
    first = list(accumulate(begun, min))[::-1]  # of the claims from here on
    last: list[int] = []
    sentence_of = _Sentences(text)
    sentence, before = (0, 0), 0
    for citation in citations(text):
        opens = _opens(text, citation.start)
        if opens or citation.start >= sentence[1]:
            sentence = sentence_of(citation.end if opens else citation.start)
            before, last = citation.start if opens else sentence[0], []
        at = bisect_right(ends, (before, len(claims)))
        upto = bisect_right(ends, (citation.start, len(claims)))
        # What was cited inside a claim is not the citation of the claims after it.
        ended = [i for _, i in ends[at:upto]]
        found = [i for i in ended if not of[i]] or ended
        if not found and not text[before : citation.start].strip(" ,;"):
            found = last
        if not found:
            found = [i for at, i in first[upto : upto + 1] if at < sentence[1]]
        for i in found:
            of[i].append(citation)
        last, before = found, citation.end
    return of


def _opens(text: str, at: int) -> bool:
    """Whether a citation opens a sentence, in a line whose first sentence begins with one, too."""
    marks = _LINE_MARKS.match(text, text.rfind("\n", 0, at) + 1, at)
    begin = marks.end() if marks else at
    before = text[begin:at].rstrip()
    return not before or (before[-1] in ".!?" and _CITATION.match(text, begin) is not None)


def _last_word(text: str, claim: Claim) -> int:
    """The end of the last span with a word; a full stop after the citation is not counted."""
    ends = (b for a, b in reversed(claim.spans) if any(c.isalnum() for c in text[a:b]))
    return next(ends, claim.spans[-1][1])


class _Sentences:
    """Finds the sentence at a character, within one line: a citation belongs to its own line."""

    def __init__(self, text: str) -> None:
        self._text, self._end = text, -1
        self._spans: list[Span] = []

    def __call__(self, at: int) -> Span:
        if at > self._end:
            start, end = self._text.rfind("\n", 0, at) + 1, self._text.find("\n", at)
            self._end = len(self._text) if end < 0 else end
            self._spans = sentences(self._text, start, self._end)
        k = bisect_right(self._spans, at, key=lambda span: span[1])
        return self._spans[k] if k < len(self._spans) else (at, at + 1)


def passages_named(name: str, passages: Sequence[Passage]) -> int | None:
    """Index of the passage that a citation names; None if it names none.

    It is matched by id or title, ignoring case; else a number counts the passages from 1; else a
    name and a year must occur in the title.
    """
    wanted = name.strip().casefold()
    for i, passage in enumerate(passages):
        if wanted in {(passage.id or "").casefold(), passage.title.strip().casefold()} - {""}:
            return i
    number = re.fullmatch(r"(?:source|passage|doc(?:ument)?|quelle)?\s*#?(\d{1,3})", wanted)
    if number:
        return int(number[1]) - 1 if 0 < int(number[1]) <= len(passages) else None
    words = set(re.findall(r"\w+", wanted)) - {"et", "al", "and", "und"}
    titles = [set(re.findall(r"\w+", passage.title.casefold())) for passage in passages]
    return next((i for i, title in enumerate(titles) if words and words <= title), None)
