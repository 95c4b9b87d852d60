"""Rewrites a sentence after some of its claims were removed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from franq_guard.basics.text import common_start
from franq_guard.claims.attribution import NOTE
from franq_guard.claims.rules.enclosed import around, enclosed
from franq_guard.claims.spans import merged, subtract
from franq_guard.claims.tidy import EDGE, TERMINAL, joined, noted, tidy
from franq_guard.records import Claim, Span

_JOINER = re.compile(r",?\s*(?:and|or)\b", re.IGNORECASE)
_ASIDE = re.compile(r",\s*(?:who|which|whose|an?|the)\b", re.IGNORECASE)
_RELATIVE = re.compile(r",\s*(?:who|which|whose)\b", re.IGNORECASE)
_BARE_COMMA = re.compile(r",(?!\s*(?:but|yet|so|nor|while|whereas|although|though)\b)", re.I)
_CONTRAST = re.compile(r"(?:although|though|while|whereas)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_MIN_ALIGNED = 0.5


def rebuild(text: str, sentence: Span, claims: Sequence[Claim], keep: Sequence[bool]) -> str:
    """``text[slice(*sentence)]`` with only the kept claims; empty if none is kept.

    ``claims`` are those of the sentence in order; ``keep`` says which are kept (at least one is
    not). A claim whose text repeats a removed claim is removed too. A kept claim stays in
    place if the words it depends on are kept, else its own text becomes a sentence. Claims that
    share words (from a language model) are always written by their texts.
    """
    if not any(keep):
        return ""
    if _overlap(claims):
        return " ".join(c.text for c, k in zip(claims, keep, strict=True) if k and _usable(c))
    inner = enclosed(text, *sentence)
    if inner:
        return _without_enclosed(text, sentence, claims, keep, around(text, sentence, inner))
    parts = _Parts(text, claims, _without_repeated(claims, keep), _pieces(sentence, claims))
    drafts = _drafts(parts, in_place=True)
    if parts.main is not None and drafts and parts.main not in drafts[0].members:
        drafts = _drafts(parts, in_place=False)
    end = TERMINAL.search(text, *sentence)
    mark = end.group() if end else ""
    written = [words for draft in drafts if (words := draft.write(parts, mark))]
    return " ".join([*_not_repeated(written, mark), *written[-1:]])


def _not_repeated(written: Sequence[str], mark: str) -> Iterator[str]:
    """The sentences but the last, without "It is old." before "It is old, like Rome."."""
    for words, after in pairwise(written):
        begun = NOTE.sub("", words).removesuffix(mark).removesuffix(".")
        if not after.startswith(f"{begun},"):
            yield words


def _without_enclosed(
    text: str, sentence: Span, claims: Sequence[Claim], keep: Sequence[bool], inner: Sequence[Span]
) -> str:
    """The rest of a sentence with sentences in quotation marks or brackets in it (``inner``).

    They stay inside the marks if all the claims around them are kept.
    """
    placed = [_inside(claim, inner) for claim in claims]
    if not all(kept for kept, where in zip(keep, placed, strict=True) if where is None):
        pieces = _pieces(sentence, claims)
        texts = (c.text or _own_words(text, p) for c, p in zip(claims, pieces, strict=True))
        return " ".join(words for words, kept in zip(texts, keep, strict=True) if kept)
    out, at = "", sentence[0]
    for span in inner:
        inner_claims = [k for k, where in enumerate(placed) if where == span]
        left = text[slice(*span)]
        if not all(keep[k] for k in inner_claims):
            start = span[1] - len(left.lstrip())
            left = rebuild(
                text,
                (start, span[1]),
                [claims[k] for k in inner_claims],
                [keep[k] for k in inner_claims],
            )
            left = left and text[span[0] : start] + left
        out += text[at : span[0]] + left
        at = span[1]
    return out + text[at : sentence[1]]


def _inside(claim: Claim, spans: Sequence[Span]) -> Span | None:
    """The one of ``spans`` that holds the whole claim, or None."""
    first, last = claim.spans[0][0], claim.spans[-1][1]
    return next((x for x in spans if x[0] <= first and last <= x[1]), None)


def _without_repeated(claims: Sequence[Claim], keep: Sequence[bool]) -> list[bool]:
    """``keep`` without the claims whose own text repeats a removed claim."""
    gone = [_WORD.findall(c.text.lower()) for c, k in zip(claims, keep, strict=True) if not k]
    return [
        kept and not any(_says(_WORD.findall(claim.text.lower()), words) for words in gone)
        for claim, kept in zip(claims, keep, strict=True)
    ]


def _says(text: Sequence[str], words: Sequence[str]) -> bool:
    """Whether all the words are in the text, in that order."""
    rest = iter(text)
    return bool(words) and all(word in rest for word in words)


def _usable(claim: Claim) -> bool:
    return bool(claim.text) and claim.aligned >= _MIN_ALIGNED


@dataclass(frozen=True)
class _Parts:
    """The claims of a sentence in order, which of them are kept, and the words of each.

    All words of the sentence belong to one of the claims (``pieces``). A claim depends on those
    before it with which it shares most of its opening words: of "The tower is old and has a bell",
    "The tower has a bell" depends on "The tower is old".
    """

    text: str
    claims: Sequence[Claim]
    keep: Sequence[bool]
    pieces: Sequence[Sequence[Span]]

    @cached_property
    def words(self) -> list[list[str]]:
        """The words of each claim's own text, in lower case."""
        return [_WORD.findall(claim.text.lower()) for claim in self.claims]

    def shared(self, j: int, k: int) -> int:
        """How many opening words the texts of two claims share."""
        return common_start(self.words[j], self.words[k])

    def opening(self, k: int) -> tuple[str, ...]:
        """The opening words that a claim shares with those it depends on."""
        return tuple(self.words[k][: max(self.shared(j, k) for j in range(k))])

    def depends_on(self, k: int) -> list[int]:
        """The claims before it that share its :meth:`opening`; all of them if that is empty."""
        size = len(self.opening(k))
        return [j for j in range(k) if self.shared(j, k) == size]

    @cached_property
    def set_in_commas(self) -> list[tuple[int, int, int, int]]:
        """The asides between two commas, as in "A, who left and won, died".

        Each with the claim that opens it, the one that closes it, the place of that one's words and
        the claim whose words follow. A comma that begins a member of a series is never closed.
        """
        owned = sorted((*span, k) for k, spans in enumerate(self.pieces) for span in spans)
        found, opened = [], -1
        for (start, end, k), (_, _, after) in pairwise(owned):
            piece = self.text[start:end].strip()
            opened = k if piece.startswith(",") else opened
            if piece.endswith(",") and opened >= 0:
                found.append((opened, k, start, after))
                opened = -1
        return found

    def joined_by(self, k: int) -> str:
        """How a claim's words are joined to those before: "aside", "and", "comma" or "other"."""
        piece = self.text[slice(*self.pieces[k][0])].lstrip()
        if _JOINER.match(piece):
            return "and"
        if any(k == opening for opening, *_ in self.set_in_commas):
            return "aside"
        if piece.startswith(",") and self._adds(k, self.first_word(k)):
            return "aside"
        if _RELATIVE.match(piece):
            return "aside"
        return "comma" if _BARE_COMMA.match(piece) else "other"

    @cached_property
    def main(self) -> int | None:
        """The claim that begins the main clause of "Although it is old and big, it works.".

        None for other sentences, -1 if there is none.
        """
        opens = _CONTRAST.match(self.text, self.pieces[0][0][0])
        if opens is None or _CONTRAST.match(self.claims[0].text):
            return None
        end = self.pieces[0][-1][1]
        after = (k for k in range(1, len(self.claims)) if self.pieces[k][0][0] >= end)
        subjects = (k for k in after if self.first_word(k) in self.words[k][:1])
        return next((k for k in subjects if self.joined_by(k) in {"comma", "other"}), -1)

    def first_word(self, k: int) -> str:
        """The first of a claim's words in the answer behind "and", in lower case; may be empty."""
        word = _WORD.search(_after_joiner(self.text[slice(*self.pieces[k][0])]))
        return word.group().lower() if word else ""

    def notes(self, claims: Iterable[int]) -> list[str]:
        """The citations behind the first of these claims that has any."""
        for k in claims:
            gaps = subtract(self.pieces[k], self.claims[k].spans)
            found = [m.group() for a, b in gaps for m in NOTE.finditer(self.text, a, b)]
            if found or any(NOTE.search(self.text, a, b) for a, b in self.pieces[k]):
                return found
        return []

    def before(self, k: int) -> int:
        """The claim whose words stand right before those of ``k``."""
        start = self.pieces[k][0][0]
        return max(range(k), key=lambda j: _last_end(self.pieces[j], start))

    def _adds(self, k: int, word: str) -> bool:
        """Whether a claim whose words begin with this one says something of the words before it.

        The claim's text then differs from its words: ", who left", ", winning two", or, of what no
        claim before begins with, ", the friend of Ann".
        """
        claim_words = self.words[k]
        if word not in claim_words:
            return bool(word)
        return k > 0 and not self.opening(k) and word != claim_words[0]


class _Draft:
    """A sentence of the result.

    Args:
        first: the claim that begins it.
        in_place: whether it begins with the words of that claim as they stand; else with the
            claim's own text.

    Attributes:
        members: the claims after it whose words stay in place.
    """

    def __init__(self, first: int, in_place: bool) -> None:
        self.first = first
        self.in_place = in_place
        self.members: list[int] = []

    def write(self, parts: _Parts, mark: str) -> str:
        first_text = parts.claims[self.first].text or _own_words(
            parts.text, parts.pieces[self.first]
        )
        last, count = [self.first, *self.members][-1], len(parts.claims)
        notes = parts.notes(range(last, count))  # one at the end is for all claims before it
        if last < count - 1 and notes and "".join(notes) not in mark:
            mark = NOTE.sub("", mark)  # it has those of the claims after it
        if not self.members and not self.in_place:
            return noted(first_text, notes, mark)
        text = parts.text
        own = noted(first_text, parts.notes([self.first]), "")
        placed: list[tuple[int, str]] = [(-1, own.rstrip("."))]
        if self.in_place:
            placed = [(a, text[a:b]) for a, b in parts.pieces[self.first]]
        joiners = _new_joiners(parts, self.members)
        for k in self.members:
            for n, (a, b) in enumerate(parts.pieces[k]):
                joiner = joiners.get(k) if n == 0 else None
                words = text[a:b] if joiner is None else joiner + _after_joiner(text[a:b])
                placed.append((a, words))
        if self.in_place:
            inside = {self.first, *self.members}
            placed += (
                (at, ", ")  # that ends the aside
                for opening, closing, at, after in parts.set_in_commas
                if {opening, after} <= inside and closing not in inside
            )
            if parts.main in self.members and parts.before(parts.main) not in inside:
                right_before = parts.pieces[parts.main][0][0] - 1
                placed.append((right_before, ", "))  # that ends "Although it is old"
        written = tidy(joined([words for _, words in sorted(placed)]), mark)
        return noted(written, notes, mark)


def _drafts(parts: _Parts, *, in_place: bool) -> list[_Draft]:
    """The sentences of the result; ``in_place``: whether the first words may stay as they are."""
    drafts: list[_Draft] = []
    for k in range(len(parts.claims)):
        if not parts.keep[k]:
            continue
        if drafts and _stays_in(drafts[-1], parts, k):
            drafts[-1].members.append(k)
        else:
            drafts.append(_Draft(k, in_place and k == 0))
    return drafts


def _own_words(text: str, pieces: Sequence[Span]) -> str:
    """A claim without a text of its own (it began in the sentence before) as a sentence."""
    words = _after_joiner("".join(text[a:b] for a, b in pieces)).strip(EDGE)
    ends = words.endswith((".", "!", "?"))
    return words[:1].upper() + words[1:] + ("" if ends or not words else ".")


def _new_joiners(parts: _Parts, members: Sequence[int]) -> dict[int, str]:
    """New joining words for a series "A, B, and C" that lost members: "and" before the last."""
    joined = [parts.joined_by(k) for k in range(len(parts.claims))]
    series: dict[tuple[str, ...], list[int]] = {}
    for k in range(1, len(parts.claims)):
        if joined[k] in {"comma", "and"}:
            series.setdefault(parts.opening(k), []).append(k)
    joiners: dict[int, str] = {}
    for alike in series.values():
        whole = {*alike, *(j for k in alike for j in parts.depends_on(k))}
        lost = [k for k in whole if not parts.keep[k]]
        left = [k for k in alike if k in members]
        if not lost or not left or all(joined[k] == "and" for k in alike):
            continue
        if len(left) == 1:
            joiners[left[0]] = " and "
        elif joined[left[-1]] == "comma" and max(lost) > left[-1]:
            joiners[left[-1]] = ", and "
    return joiners


def _after_joiner(piece: str) -> str:
    found = _JOINER.match(piece.lstrip())
    return piece.lstrip()[found.end() :].lstrip() if found else piece.lstrip(EDGE)


def _stays_in(draft: _Draft, parts: _Parts, k: int) -> bool:
    """Whether the words of claim ``k`` can stay in place in this sentence of the result."""
    inside = {draft.first, *draft.members}
    start, end = parts.pieces[k][0]
    if not draft.in_place and start < parts.pieces[draft.first][-1][0]:
        return False  # its place is within words that are written anew
    if parts.main is not None and draft.first < parts.main <= k and parts.main not in inside:
        return k == parts.main and draft.in_place  # only "Although it is old" needs a main clause
    if any(a < k <= b and a not in inside for a, b, *_ in parts.set_in_commas):
        return False  # of ", who left and won," only "and won" is kept
    word = parts.first_word(k)
    if parts.joined_by(k) == "and" and word and word not in parts.words[k]:
        # "drawing with A and winning against B": it goes on in the form of the one before.
        return k - 1 in inside and (draft.in_place or k - 1 != draft.first)
    if _ASIDE.match(parts.text, start, end) and parts.shared(k - 1, k) < 2:
        # It is about the words right before it, so they must stand there as they were.
        before = parts.before(k)
        return before in inside and (draft.in_place or before != draft.first)
    needed = parts.depends_on(k) if parts.opening(k) else [k - 1]
    return not inside.isdisjoint(needed)


def _last_end(spans: Sequence[Span], limit: int) -> int:
    """The last end of these spans that is not past the limit; -1 if there is none."""
    return max((end for _, end in spans if end <= limit), default=-1)


def _overlap(claims: Sequence[Claim]) -> bool:
    spans = sorted(s for c in claims for s in c.spans)
    return any(b[0] < a[1] for a, b in pairwise(spans))


def _pieces(sentence: Span, claims: Sequence[Claim]) -> list[list[Span]]:
    """The sentence divided among its claims; text in no claim goes with the claim before it."""
    owned = sorted((s[0], s[1], k) for k, c in enumerate(claims) for s in c.spans)
    pieces: list[list[Span]] = [[] for _ in claims]
    start = sentence[0]
    for n, (_, _, k) in enumerate(owned):
        end = owned[n + 1][0] if n + 1 < len(owned) else sentence[1]
        end = min(max(end, start), sentence[1])
        pieces[k].append((start, end))
        start = end
    return [merged(p) or [(sentence[1], sentence[1])] for p in pieces]
