"""Citations, links and addresses in an answer: they state nothing, but may name passages.

They are kept in the text but not measured: the probability of writing "[1]" does not depend on
whether a fact is true. Citations are ``[1]``, ``[1, 2]``, ``[^1]``, ``【1】``, ``(Smith 2020)``,
``(Smith et al., 2020)``, ``[Source: Title]``, ``[doc-12]`` and, before a full stop or comma,
``[Title of a Passage]``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from franq_guard.claims.forms import BLANK_ENTITY, INLINE_TAG
from franq_guard.claims.sentences import sentences
from franq_guard.claims.spans import subtract
from franq_guard.records import Claim, Passage, Span

__all__ = ["TAKEN_OUT", "Citation", "Stated", "citations", "cited_by", "passages_named"]

TAKEN_OUT = "\x1f"
"""Replaces each character that was taken out; it counts as a blank."""

NO_ANSWER = frozenset({"Empty Response"})
"""What a framework returns if its model wrote nothing (LlamaIndex)."""

_NUMBERS = r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*"
_AUTHOR = (
    r"[^\W\d_][\w'’-]+(?: (?:et al\.?|and|und|&)(?: [^\W\d_][\w'’-]+)?)?,? (?:19|20)\d\d[a-z]?"
)
_END = r"(?=\s*(?:[.,;:!?)\]]|$|\n))"
_CITATION = re.compile(
    rf"\[\^?(?P<numbers>{_NUMBERS})\](?!\()|【(?P<marks>{_NUMBERS})(?:[†:][^】\n]*)?】"
    r"|\[(?:[Ss]ources?|[Pp]assages?|[Dd]oc(?:ument)?s?|[Cc]ontext|[Qq]uellen?)[:\s#]\s?"
    r"(?P<source>[^\[\]\n]{1,80})\](?!\()"
    r"|\[(?P<id>[\w./-]*[\d_/-][\w./-]*)\](?!\()"
    rf"|\[(?P<title>[^\W\d_][^\[\]\n]{{2,80}})\](?!\(){_END}"
    rf"|\((?:see |cf\. |vgl\. )?(?P<author>(?=[A-ZÄÖÜ]){_AUTHOR}(?:; {_AUTHOR})*)\){_END}"
)
_ADDRESS = re.compile(
    r"(?:,?\s*\b(?:[Ss]ee|[Ss]iehe)(?: also)?:?\s+)?\(?<?(?:https?://|www\.)[^\s<>]*[^\s<>.,;:!?)\]}\"'”’][>)]?|(?<=\])\([^()\s]*\)"
)
_LINK = re.compile(r"!?(\[)[^\]\[\n]*(\]\([^()\s]*\))")
_LEAD = r"(?:(?:see|sources?|via|from|cf\.|quellen?|siehe|vgl\.)(?: also)?:? )?"
_SOURCE_LINK = re.compile(
    rf"\((?i:{_LEAD})\[(?:[A-ZÄÖÜ][^\]\[\n\d]{{0,40}}|[a-zäöü]{{1,12}}|\^?\d{{1,3}})\]\([^()\s]*\)\)"
    r"|(?i:\[(?:sources?|links?|ref(?:erence)?s?|citations?|quellen?|\^?\d{1,3})\]\([^()\s]*\))"
)
"""A link that only says where something comes from: alone in brackets, or named "source"."""
_SPLIT = re.compile(r"\s?[,;]\s?")
_RANGE = re.compile(r"(\d{1,3})\s?[–-]\s?(\d{1,3})$")
_MOST = 20  # the most numbers that one range, such as [1-20], may stand for


@dataclass(frozen=True, slots=True)
class Citation:
    """``answer[start:end]`` cites ``names``, as they are written; ranges as single numbers."""

    start: int
    end: int
    names: tuple[str, ...]


def citations(text: str) -> list[Citation]:
    """The citations of a text, in order."""
    return [Citation(*m.span(), _names(m)) for m in _CITATION.finditer(text)]


def _names(match: re.Match[str]) -> tuple[str, ...]:
    found = match["numbers"] or match["marks"]
    if found is None:
        return (match["source"] or match["id"] or match["title"] or match["author"],)
    names: list[str] = []
    for part in _SPLIT.split(found):
        span = _RANGE.match(part)
        first, last = (int(span[1]), int(span[2])) if span else (0, -1)
        whole = 0 <= last - first < _MOST
        names += [str(n) for n in range(first, last + 1)] if span and whole else [part]
    return tuple(names)


class Stated:
    """An answer in which citations, addresses and link targets are replaced by blanks.

    Attributes:
        text: of the same length as the answer, with the same characters everywhere else.
    """

    def __init__(self, answer: str) -> None:
        taken = [m.span() for m in _CITATION.finditer(answer)]
        if "http" in answer or "www." in answer or "](" in answer:
            links = list(_LINK.finditer(answer))
            taken += [m.span(group) for m in links for group in (1, 2)]
            taken += [m.span() for m in _SOURCE_LINK.finditer(answer)]
            taken += [m.span() for m in _ADDRESS.finditer(answer)]
        if "<" in answer:
            taken += [m.span() for m in INLINE_TAG.finditer(answer)]
        if "&" in answer:
            taken += [m.span() for m in BLANK_ENTITY.finditer(answer)]
        self._answer = answer
        self._is_empty = answer.strip() in NO_ANSWER
        self._taken = sorted(set(taken))
        self._starts = [start for start, _ in self._taken]
        self.text = _blanked(answer, self._taken)

    def why_nothing(self, start: int, end: int) -> str | None:
        """Why ``answer[start:end]`` states nothing; None if it may state something."""
        if self._is_empty:
            return "no answer"
        left = self.text[start:end]
        gone = TAKEN_OUT in left and not any(c.isalnum() for c in left)
        return "citation" if gone else None

    def is_markup(self, start: int, end: int) -> bool:
        """Whether ``answer[start:end]`` is nothing but HTML tags, as ``</td>`` after a sentence."""
        part = self._answer[start:end]
        return "<" in part and not INLINE_TAG.sub("", part).strip()

    def clear(self, claim: Claim) -> Claim:
        """The claim without the spans of what was taken out."""
        if not self._taken or not claim.spans:
            return claim
        first = max(0, bisect_right(self._starts, claim.spans[0][0]) - 1)
        last = bisect_left(self._starts, claim.spans[-1][1])
        left = subtract(claim.spans, self._taken[first:last])
        spans = tuple(self._trimmed(*span) for span in left if self.text[slice(*span)].strip())
        return replace(claim, spans=spans) if spans else claim

    def _trimmed(self, start: int, end: int) -> Span:
        part = self.text[start:end]
        return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


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

    A citation belongs to the claims of its sentence between the previous citation and itself;
    directly adjacent citations belong to the same claims.
    """
    of: list[list[Citation]] = [[] for _ in claims]
    ends = sorted((_last_word(text, claim), i) for i, claim in enumerate(claims) if claim.spans)
    last: list[int] = []
    sentence_of = _Sentences(text)
    sentence, before = (0, 0), 0
    for citation in citations(text):
        if citation.start >= sentence[1]:
            sentence = sentence_of(citation.start)
            before, last = sentence[0], []
        at = bisect_right(ends, (before, len(claims)))
        upto = bisect_right(ends, (citation.start, len(claims)))
        found = [i for _, i in ends[at:upto] if _states(claims[i])]
        if not found and not text[before : citation.start].strip(" ,;"):
            found = last
        for i in found:
            of[i].append(citation)
        last, before = found, citation.end
    return of


def _last_word(text: str, claim: Claim) -> int:
    """The end of the last span with a word; a full stop after the citation is not counted."""
    ends = (b for a, b in reversed(claim.spans) if any(c.isalnum() for c in text[a:b]))
    return next(ends, claim.spans[-1][1])


def _states(claim: Claim) -> bool:
    return claim.not_a_claim is None


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
