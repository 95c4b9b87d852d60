"""Removes claims from an answer so that the rest is correct prose."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from franq_guard.basics.text import with_line_feeds
from franq_guard.claims.blocks import UNDERLINE, Block, blocks
from franq_guard.claims.rebuild import rebuild
from franq_guard.claims.rules.bare_answers import says_yes_or_no
from franq_guard.claims.sentences import sentences
from franq_guard.claims.spans import subtract
from franq_guard.records import Claim, Span

_NUMBER = re.compile(r"\d{1,3}")
_TAG_BEFORE = re.compile(r"<(li|p)\b[^<>]*>\s*\Z", re.I)
_TAG = re.compile(r"<(/?)([a-z]\w*)\b[^<>\n]*>", re.I)
_UNPAIRED = frozenset({"br", "hr", "img", "li", "p"})
"""Tags that may stand alone."""
_BLANK_LINE = re.compile(r"[ \t]*\n")
_NEXT_IN_CELL = re.compile(r" (?=[^\s|])")


@dataclass(frozen=True, slots=True, order=True)
class _Edit:
    """Replaces ``start:end`` by ``text``."""

    start: int
    end: int
    text: str = ""


def remove_claims(text: str, claims: Sequence[Claim], drop: Collection[int]) -> str:
    """``text`` without the claims at the indices in ``drop``; what remains is correct prose.

    If a sentence's first claim is kept, the dropped claims are cut out with their commas and
    conjunctions. If not, the sentence is rewritten from the texts of the kept claims with their
    citations, without those that repeat a dropped claim. If no claim is kept, the sentence is
    removed with its list marker or table row. Numbered lists are renumbered. Of claims with
    ``not_a_claim`` only "Yes." and the like are removed, with the claim beside it that says what:
    alone it would state the same. If ``drop`` is empty, ``text`` is returned unchanged.

    Raises:
        IndexError: if an index in ``drop`` is not one of ``claims``.
    """
    dropped = {range(len(claims))[k] for k in drop}
    dropped = {k for k in dropped if claims[k].not_a_claim is None}
    if not dropped:
        return text
    dropped |= {k for k, claim in enumerate(claims) if _goes_with(claims, k) in dropped}
    placed = _Placed(claims, dropped)
    found = blocks(text)
    edits: list[_Edit] = []
    gone: list[Block] = []
    for block in found:
        if not placed.touches(block.start, block.end):
            continue
        change = _row_edits(text, block, placed) if block.cells else _prose(text, block, placed)
        if change is None:
            gone.append(block)
        else:
            edits.extend(change)
    edits.extend(_renumbered(text, found, gone))
    return _apply(text, [*edits, *_without_lines(text, found, gone)])


def _goes_with(claims: Sequence[Claim], k: int) -> int | None:
    """The index of the claim behind "Yes." (``k``), which says what is meant; else None."""
    bare = claims[k].not_a_claim == "yes or no" and says_yes_or_no(claims[k].text)
    return k + 1 if bare else None


class _Placed:
    """The claims, looked up by their place in the text."""

    def __init__(self, claims: Sequence[Claim], dropped: Collection[int]) -> None:
        self.claims = claims
        self.dropped = dropped
        self._spans = sorted((s[0], s[1], k) for k, c in enumerate(claims) for s in c.spans)
        self._longest = max((b - a for a, b, _ in self._spans), default=0)

    def inside(self, start: int, end: int) -> list[int]:
        """Indices of the claims that overlap ``start:end``, by their first place there."""
        k = bisect_left(self._spans, (start - self._longest,))
        out: dict[int, None] = {}
        while k < len(self._spans) and self._spans[k][0] < end:
            if self._spans[k][1] > start:
                out.setdefault(self._spans[k][2])
            k += 1
        return list(out)

    def touches(self, start: int, end: int) -> bool:
        """Whether a dropped claim has words in ``start:end``."""
        return any(k in self.dropped for k in self.inside(start, end))


def _prose(text: str, block: Block, placed: _Placed) -> list[_Edit] | None:
    """The edits for a block of sentences; None if nothing of it is left."""
    spans = sentences(text, block.start, block.end)
    new = [_sentence(text, span, placed) for span in spans]
    if not any(new):
        return None
    edits: list[_Edit] = []
    last_kept = max(k for k, written in enumerate(new) if written)
    for k, (span, written) in enumerate(zip(spans, new, strict=True)):
        if written:
            if written != text[slice(*span)]:
                edits.append(_Edit(*span, written))
        elif k < last_kept:
            edits.append(_Edit(span[0], spans[k + 1][0]))
        else:
            edits.append(_Edit(spans[k - 1][1], span[1]))
    return edits


def _sentence(text: str, span: Span, placed: _Placed) -> str:
    """The sentence after the removal."""
    inside = placed.inside(*span)
    if not any(k in placed.dropped for k in inside):
        return text[slice(*span)]
    claims = [_clipped(placed.claims[k], span) for k in inside]
    return rebuild(text, span, claims, [k not in placed.dropped for k in inside])


def _clipped(claim: Claim, span: Span) -> Claim:
    spans = tuple((max(a, span[0]), min(b, span[1])) for a, b in claim.spans)
    first = claim.spans[0][0] >= span[0]
    return Claim(
        claim.text if first else "", tuple(s for s in spans if s[0] < s[1]), aligned=claim.aligned
    )


def _row_edits(text: str, block: Block, placed: _Placed) -> list[_Edit] | None:
    """The edits for a table row: dropped cells are emptied; None if no claim of it is kept."""
    inside = placed.inside(block.start, block.end)
    kept = [k for k in inside if k not in placed.dropped]
    if not kept and block.kind == "table_head":  # the line below it belongs to it
        return [_Edit(*cell) for cell in block.cells]
    if not kept:
        return None
    first = block.cells[0]
    spans = [s for k in inside if k in placed.dropped for s in placed.claims[k].spans if s != first]
    taken = [s for k in kept for s in placed.claims[k].spans]
    return [_Edit(a, b + bool(_NEXT_IN_CELL.match(text, b))) for a, b in subtract(spans, taken)]


def _renumbered(text: str, found: Sequence[Block], gone: Sequence[Block]) -> Iterator[_Edit]:
    """New numbers for the items after a removed one."""
    lost = {b.start for b in gone}
    runs: dict[int, tuple[int, int]] = {}
    for block in found:
        number = _NUMBER.search(text, *block.marker) if block.numbered else None
        if number is None:
            continue
        value = int(number.group())
        expected, shift = runs.get(block.indent, (value, 0))
        if value != expected:
            shift = 0
        for deeper in [i for i in runs if i > block.indent]:
            del runs[deeper]
        if block.start in lost:
            shift += 1
        elif shift:
            yield _Edit(*number.span(), str(value - shift))
        runs[block.indent] = (value + 1, shift)


def _without_lines(text: str, found: Sequence[Block], gone: Sequence[Block]) -> Iterator[_Edit]:
    """Edits that remove the lines of emptied blocks, and a double blank line that this leaves.

    From a line with several blocks (HTML), or with one tag of a pair that goes on in other lines,
    only the emptied block is removed, with its tags.
    """
    text, lost = with_line_feeds(text), {block.start for block in gone}
    done = 0  # up to here, lines behind a blank line or at the beginning were removed
    for i, block in enumerate(found):
        if block.start not in lost:
            continue
        start = max(text.rfind("\n", 0, block.start) + 1, 0)
        end = _end_of_line(text, block.end)
        if block.kind == "heading" and UNDERLINE.match(text, end, _end_of_line(text, end)):
            end = _end_of_line(text, end)
        shared = (i > 0 and found[i - 1].end > start) or (
            i + 1 < len(found) and found[i + 1].start < end
        )
        if shared or not _has_pairs(text[start:end]):
            yield _Edit(*_with_tags(text, block, start))
            continue
        above = text.rfind("\n", 0, max(start - 1, 0))
        if start == done or (above >= 0 and not text[above:start].strip()):
            while (blank := _BLANK_LINE.match(text, end)) is not None:
                end = blank.end()
            done = end
        yield _Edit(start, end)


def _end_of_line(text: str, at: int) -> int:
    """Where the next line begins."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _has_pairs(line: str) -> bool:
    """Whether each tag of the line has its other half there."""
    tags = [(m[2].lower(), m[1]) for m in _TAG.finditer(line) if m[2].lower() not in _UNPAIRED]
    opened, closed = ([name for name, mark in tags if mark == x] for x in ("", "/"))
    return sorted(opened) == sorted(closed)


def _with_tags(text: str, block: Block, line: int) -> Span:
    """The range of a block of the line that begins at ``line``, with "<li>" and "</li>" around."""
    opening = _TAG_BEFORE.search(text[line : block.start])
    if opening is None:
        return block.start, block.end
    closing = re.compile(rf"\s*</{opening[1]}\s*>", re.I).match(text, block.end)
    return (line + opening.start(), closing.end()) if closing else (block.start, block.end)


def _apply(text: str, edits: Sequence[_Edit]) -> str:
    out: list[str] = []
    done = 0
    for edit in sorted(edits):
        start = max(edit.start, done)
        out += (text[done:start], edit.text)
        done = max(edit.end, done)
    result = "".join([*out, text[done:]])
    if not result.strip():
        return ""
    tail = text[len(text.rstrip("\r\n")) :]
    return result.rstrip("\r\n") + tail
