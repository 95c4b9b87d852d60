"""Removes claims from an answer so that the rest is correct prose."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from franq_guard.basics.text import with_line_feeds
from franq_guard.claims.blocks import Block, blocks
from franq_guard.claims.outline import Outline, end_of_line, underline
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
_HEADS = frozenset({"heading", "lead-in", "table header"})
"""Why a sentence is no claim that only says what is below it; a header may have no row yet."""
_MARK = re.compile(
    r"(?P<other>`[^`\n]*`|\$[^$\n]*\$|\]\([^()\n]*\)|https?://\S*)"
    r"|(?P<opens>(?<![\w*_~\\])(?:\*{1,3}|_{1,3}|~~)(?=[^\s*_~]))"
    r"|(?<=[^\s*_~\\])(?:\*{1,3}|_{1,3}|~~)(?![\w*_~])"
    r"|<(?P<tag>/?(?:b|i|u|em|strong|mark|small|sup|sub|span|font|del))\b[^<>\n]*>",
    re.I,
)
"""What begins or ends emphasis, in Markdown or HTML.

Code, formulas and addresses match as ``other``, so that a mark inside them does not count.
"""


@dataclass(frozen=True, slots=True, order=True)
class _Edit:
    """Replaces ``start:end`` by ``text``."""

    start: int
    end: int
    text: str = ""


def remove_claims(
    text: str, claims: Sequence[Claim], drop: Collection[int], *, goes_on: bool = False
) -> str:
    """``text`` without the claims at the indices in ``drop``; what remains is correct prose.

    If a sentence's first claim is kept, the dropped claims are cut out with their commas and
    conjunctions. If not, the sentence is rewritten from the texts of the kept claims with their
    citations, without those that repeat a dropped claim. If no claim is kept, the sentence is
    removed with its list marker or table row. Numbered lists are renumbered. Of claims with
    ``not_a_claim`` only "Yes." and the like are removed, with the claim beside it that says what
    (alone it would state the same), and a heading, a lead-in ("The parts:") or the header of a
    table if all that was below it is removed. If ``drop`` is empty, ``text`` is returned unchanged.

    Args:
        text: the answer.
        claims: of the answer, in order.
        drop: the indices of those to remove.
        goes_on: whether more text follows: headings and lead-ins at the end, of which nobody knows
            yet whether anything stays below them, are then left out.

    Raises:
        IndexError: if an index in ``drop`` is not one of ``claims``.
    """
    dropped = {range(len(claims))[k] for k in drop}
    dropped = {k for k in dropped if claims[k].not_a_claim is None}
    if not (dropped or goes_on):
        return text
    dropped |= {k for k, claim in enumerate(claims) if _goes_with(claims, k) in dropped}
    placed = _Placed(claims, dropped)
    found = blocks(text)
    outline = Outline(with_line_feeds(text), found, goes_on=goes_on)
    edits: list[_Edit] = []
    gone: list[Block] = []
    for i in reversed(range(len(found))):
        block = found[i]
        emptied = outline.is_emptied(i)
        if emptied:
            placed.dropped.update(_heads(text, block, placed))
        change = _edits(text, block, placed, emptied=emptied)
        outline.add(is_left=change is not None)
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

    def __init__(self, claims: Sequence[Claim], dropped: set[int]) -> None:
        self.claims = claims
        self.dropped = dropped
        self._spans = sorted((s[0], s[1], k) for k, c in enumerate(claims) for s in c.spans)
        self._ends = list(accumulate((end for _, end, _ in self._spans), max))

    def inside(self, start: int, end: int) -> list[int]:
        """Indices of the claims that overlap ``start:end``, by their first place there."""
        k = bisect_right(self._ends, start)  # all before end before it
        out: dict[int, None] = {}
        while k < len(self._spans) and self._spans[k][0] < end:
            if self._spans[k][1] > start:
                out.setdefault(self._spans[k][2])
            k += 1
        return list(out)

    def is_dropped(self, span: Span) -> bool:
        """Whether there are claims in a stretch and all of them are dropped."""
        inside = self.inside(*span)
        return bool(inside) and self.dropped.issuperset(inside)


def _heads(text: str, block: Block, placed: _Placed) -> list[int]:
    """The claims of a heading, or of the last sentence of a block, if they state nothing."""
    if block.kind in {"heading", "table_head"}:
        inside = placed.inside(block.start, block.end)
        is_head = placed.dropped.issuperset(
            k for k in inside if placed.claims[k].not_a_claim is None
        )
    else:
        last = sentences(text, block.start, block.end)[-1:]
        inside = [k for span in last for k in placed.inside(*span)]
        is_head = all(placed.claims[k].not_a_claim in _HEADS for k in inside)
    return inside if is_head else []


def _edits(text: str, block: Block, placed: _Placed, *, emptied: bool) -> list[_Edit] | None:
    """The edits for a block; None if nothing of it is left."""
    if placed.dropped.isdisjoint(placed.inside(block.start, block.end)):
        return []
    if block.cells:
        return _row_edits(text, block, placed, emptied=emptied)
    left = _prose(text, block, placed)
    return None if left is None else [_Edit(block.start, block.end, left)]


def _prose(text: str, block: Block, placed: _Placed) -> str | None:
    """What is left of a block of sentences; None if nothing is."""
    spans = sentences(text, block.start, block.end)
    left: list[str] = []
    before = -1
    for k, span in enumerate(spans):
        written = _sentence(text, span, placed)
        if written:
            gap = text[spans[before][1] : spans[before + 1][0]] if left else ""
            left += gap, written
            before = k
    source = text[block.start : block.end]
    return _without_loose_marks(source, "".join(left)) if left else None


def _without_loose_marks(source: str, left: str) -> str:
    """``left`` without the marks of emphasis whose other half was removed from ``source``."""
    known = {mark for mark, _ in _loose_marks(source)}
    return _apply(left, [_Edit(*span) for mark, span in _loose_marks(left) if mark not in known])


def _loose_marks(text: str) -> list[tuple[str, Span]]:
    """The marks of emphasis without their other half, and where they are."""
    opened: dict[str, Span] = {}
    loose: list[tuple[str, Span]] = []
    for found in _MARK.finditer(text):
        if found["other"]:
            continue
        tag = found["tag"]
        name = (tag or found.group()).lower().removeprefix("/")
        closes = tag.startswith("/") if tag else not found["opens"]
        if name in opened and (closes or not tag):  # a mark between two others may be either
            del opened[name]
        elif closes:
            loose.append((name, found.span()))
        else:
            opened[name] = found.span()
    return [*loose, *opened.items()]


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


def _row_edits(text: str, block: Block, placed: _Placed, *, emptied: bool) -> list[_Edit] | None:
    """The edits for a table row: dropped cells are emptied; None if no claim of it is kept."""
    inside = placed.inside(block.start, block.end)
    kept = [k for k in inside if k not in placed.dropped]
    if not kept and block.kind == "table_head" and not emptied:  # the rows need the line below it
        return [_Edit(*cell) for cell in block.cells]
    if not kept:
        return None
    first, *others = block.cells
    spans = [s for k in inside if k in placed.dropped for s in placed.claims[k].spans if s != first]
    # The marks of a link go with its words, and a citation with what it is cited for.
    spans += [cell for cell in others if placed.is_dropped(cell)]
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
    pairs = _in_pairs(text)
    done = 0  # up to here, lines behind a blank line or at the beginning were removed
    for i, block in enumerate(found):
        if block.start not in lost:
            continue
        before = found[i - 1].end if i else 0
        start = text.rfind("\n", before, block.start) + 1
        line = underline(text, block)
        end = end_of_line(text, line.start() if line else block.end)
        if (i and not start) or (i + 1 < len(found) and found[i + 1].start < end):
            yield _Edit(*_with_tags(text, block, before))
            continue
        if not _has_pairs(text[start:end], pairs):
            yield _Edit(*_with_tags(text, block, start))
            continue
        above = text.rfind("\n", 0, max(start - 1, 0))
        if start == done or (above >= 0 and not text[above:start].strip()):
            while (blank := _BLANK_LINE.match(text, end)) is not None:
                end = blank.end()
            done = end
        yield _Edit(start, end)


def _in_pairs(text: str) -> set[str]:
    """The names of all tags that are closed somewhere; not "<name>" for what a reader fills in."""
    return {m[2].lower() for m in _TAG.finditer(text) if m[1]} - _UNPAIRED


def _has_pairs(line: str, pairs: Collection[str]) -> bool:
    """Whether each tag of the line that comes in pairs has its other half there."""
    tags = [(m[2].lower(), m[1]) for m in _TAG.finditer(line) if m[2].lower() in pairs]
    opened, closed = ([name for name, mark in tags if mark == x] for x in ("", "/"))
    return sorted(opened) == sorted(closed)


def _with_tags(text: str, block: Block, start: int) -> Span:
    """The range of a block with the "<li>" and "</li>" around it, from ``start`` on."""
    opening = _TAG_BEFORE.search(text[start : block.start])
    if opening is None:
        return block.start, block.end
    closing = re.compile(rf"\s*</{opening[1]}\s*>", re.I).match(text, block.end)
    return (start + opening.start(), closing.end()) if closing else (block.start, block.end)


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
