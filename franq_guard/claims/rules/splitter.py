"""The default splitter: it uses only rules, no model and no download."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from franq_guard.basics.text import trimmed, with_line_feeds
from franq_guard.claims.blocks import NOTHING, Block, blocks, closing_sources
from franq_guard.claims.forms import SOURCES
from franq_guard.claims.rules.asides import without_asides, without_examples
from franq_guard.claims.rules.bare_answers import denied, ends_bare, is_bare, means_value
from franq_guard.claims.rules.choices import answered
from franq_guard.claims.rules.citations import Stated
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.context import DENIAL as DENIAL
from franq_guard.claims.rules.context import Reader
from franq_guard.claims.rules.coordination import coordinated, independent
from franq_guard.claims.rules.dependents import dependents
from franq_guard.claims.rules.enclosed import around, enclosed, hide, shown
from franq_guard.claims.rules.enumeration import enumerated
from franq_guard.claims.rules.gapping import gapped
from franq_guard.claims.rules.headings import (
    has_value,
    header_states,
    heading_states,
    names_its_items,
    states_step,
    title,
)
from franq_guard.claims.rules.joined import joined
from franq_guard.claims.rules.lexer import Word, lex
from franq_guard.claims.rules.nonclaims import reason
from franq_guard.claims.rules.render import as_sentence, emphasis, plain, render
from franq_guard.claims.rules.rows import row_claims, without_refusal
from franq_guard.claims.rules.sources import entry_states, footnote_states, names_source
from franq_guard.claims.rules.turns import facts_beside, turn
from franq_guard.claims.rules.unfinished import unfinished
from franq_guard.claims.rules.whole import stays_whole
from franq_guard.claims.sentences import sentences
from franq_guard.claims.settling import settled
from franq_guard.claims.spans import subtract
from franq_guard.records import Claim, Span

_STAGES: tuple[Callable[[Clause], list[Clause]], ...] = (
    independent,
    gapped,
    without_asides,
    coordinated,
    without_asides,
    without_examples,
    dependents,
    joined,
    enumerated,
)
_TO_THE_END = re.compile(r"[ \t]*\Z")
"""Only blanks follow; after a line break the last sentence is taken to be as it was meant."""
_NOTHING_LEFT = re.compile(r"\s*\Z")
_PROSE = frozenset({"paragraph", "item"})
_SINGLE_QUOTE = re.compile(r"(?<!\w)['‘]")
"""What may be an apostrophe, so that a sentence may be split inside such quotation marks."""
_MAX_WORDS = 150
"""A longer sentence is hardly prose and is not split, which also keeps the time linear."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence (``is_sentence``), or a heading, code block or table row, and its claims."""

    span: Span
    claims: tuple[Claim, ...]
    is_sentence: bool = True


class RuleSplitter:
    """Claims by rules: Markdown blocks, sentences (``sentencex``), clauses; English clause rules.

    The spans of the claims do not overlap and cover every non-blank character except Markdown
    markers. A shared subject is in the spans of the first claim; later claims have it only in their
    ``text``. A conjunction or a comma belongs to the claim it introduces.
    Text in other languages is split into sentences, each one claim.
    """

    fingerprint = "rules/16"

    def __init__(self, *, language: str = "en") -> None:
        self.language = language
        if language != "en":
            self.fingerprint = f"rules/16:{language}"

    def split(self, answer: str, *, question: str = "") -> list[Claim]:
        """Claims of ``answer`` in order; see :class:`franq_guard.claims.ClaimSplitter`."""
        return [claim for unit in self.units(answer, question=question) for claim in unit.claims]

    def units(
        self, answer: str, *, question: str = "", after: int = 0, reader: Reader | None = None
    ) -> Iterator[Unit]:
        """The claims by sentence, heading, code block or table row, in order.

        Only those that end after character ``after``; earlier ones are not split into claims.
        ``reader``: one that has read the text before ``answer``; it reads on.
        """
        answer = with_line_feeds(answer)
        reader, stated = reader or Reader(question), Stated(answer)
        head: Sequence[str] = ()
        found = blocks(answer)
        listed = closing_sources(answer, found)
        for i, block in enumerate(found):
            is_last = i + 1 == len(found) and block.end > after
            block = self._titled(answer, found, i, reader)
            heading = answer[block.start : block.end] if block.kind == "heading" else ""
            block = self._read_as(answer, block, reader, is_last=is_last, listed=i > listed)
            span = (block.start, block.end)
            if block.kind in _PROSE:
                follow = self._opening(answer, block, found[i + 1 : i + 2])
                # "Plan B: 9 euros" and "Step 1: ..." say what the next lines are about.
                named = has_value(heading) or states_step(heading)
                if named:
                    reader.heading("")
                yield from self._prose(answer, stated, block, reader, after, follow)
                if named:
                    reader.heading(heading)
                elif names_its_items(answer, found, i):
                    reader.leads_on()
                continue
            names = [plain(answer[a:b]).strip() for a, b in block.cells]
            is_row = block.kind == "row" or (block.kind == "table_head" and header_states(names))
            if is_row:
                reader.stated = True
                row = row_claims(stated.text, block, head)
                claims = tuple(without_refusal(reader.place(stated.clear(claim))) for claim in row)
            else:
                claims = _not_claims(answer, block)
            if block.kind == "table_head":
                head = () if is_row else names
            elif heading:
                reader.heading(heading)
            if claims and block.end > after:
                yield Unit(span, claims, is_sentence=False)

    def _titled(self, answer: str, found: Sequence[Block], k: int, reader: Reader) -> Block:
        """Block ``k``, as a heading if what is around it makes it a title."""
        words = title(answer, found, k, reader) if self.language == "en" else None
        return replace(found[k], kind="heading", start=words[0]) if words else found[k]

    def _read_as(
        self, answer: str, block: Block, reader: Reader, *, is_last: bool, listed: bool
    ) -> Block:
        """The block by what it states: a heading as prose, a footnote or entry as a source."""
        text = answer[block.start : block.end]
        if block.kind in {"footnote", "entry"}:
            return self._numbered(answer, block)
        if self.language != "en":
            return block
        is_first = not reader.stated
        if block.kind == "heading" and heading_states(
            text, reader.above, is_last=is_last, is_first=is_first
        ):
            return replace(block, kind="item" if reader.above.endswith(":") else "paragraph")
        if listed and block.kind == "item" and reader.stated and names_source(text):
            return replace(block, kind="citation")
        return block

    def _numbered(self, answer: str, block: Block) -> Block:
        """A footnote or entry: a paragraph without its "[1]", or whole the name of a source."""
        states = footnote_states if block.kind == "footnote" else entry_states
        if self.language == "en" and states(answer[block.start : block.end]):
            return replace(block, kind="paragraph")
        return replace(block, kind="citation", start=block.marker[0])

    def _opening(self, answer: str, block: Block, following: Sequence[Block]) -> str:
        """The first sentence of the next block if ``block`` may end with "Yes."; else empty."""
        if not ends_bare(answer[block.start : block.end]):
            return ""
        for near in following:
            if near.kind in _PROSE and near.start < near.end:
                found = sentences(answer, near.start, near.end, language=self.language)
                return answer[slice(*found[0])]
        return ""

    def reader(self, question: str = "") -> Reader:
        """A reader for :meth:`units` that has read nothing yet."""
        return Reader(question)

    @staticmethod
    def not_a_claim(sentence: str) -> str | None:
        """Why a sentence states nothing that can be true or false; None if it states something.

        The reasons: :func:`franq_guard.claims.rules.nonclaims.reason`. A last sentence that was
        cut off (``unfinished``) is recognised only within its answer.
        """
        return reason(sentence)

    def settled(self, answer: str, *, known: int = 0) -> int:
        """The position up to which the claims of an unfinished answer are final.

        ``known`` is an earlier result for a beginning of it. See
        :mod:`franq_guard.claims.settling`.
        """
        return settled(answer, language=self.language, known=known, waits=ends_bare)

    def _prose(
        self,
        answer: str,
        stated: Stated,
        block: Block,
        reader: Reader,
        after: int,
        follow: str,
    ) -> Iterator[Unit]:
        """The sentences of a block; ``follow`` is the sentence after it, where that matters."""
        reader.block(block, ends_text=block.end == len(answer))
        spans = sentences(answer, block.start, block.end, language=self.language)
        next_ones = [*(answer[slice(*span)] for span in spans[1:]), follow]
        for span, following in zip(spans, next_ones, strict=False):
            text = answer[slice(*span)]
            is_new = span[1] > after
            answered = self._yes_or_no(answer, stated, reader, span, following)
            if answered is not None:
                reader.passed(text)
                if is_new:
                    yield Unit(span, (answered,))
                continue
            parts = (span, *enclosed(stated.text, *span, language=self.language))
            claims: list[Claim] = []
            for part in parts:
                hidden = around(answer, part, parts)
                if is_new and not stated.is_markup(*part):
                    claims += self._claims(answer, stated, reader, part, hidden)
                reader.passed(shown(answer, part, hidden))
            if is_new:
                yield Unit(span, tuple(sorted(claims, key=lambda claim: claim.spans)))

    def _yes_or_no(
        self, answer: str, stated: Stated, reader: Reader, span: Span, following: str
    ) -> Claim | None:
        """The claim of "Yes.", "It does." or "Both."; None if the sentence is another one."""
        text, stated_text = answer[slice(*span)], stated.text[slice(*span)]
        question = reader.open_question
        if means_value(text, question or reader.question, reader.lead):
            return None
        if is_bare(text, reader.before, following):
            full = denied(text, reader.question, following)
            return Claim(full or text, (span,), not_a_claim=None if full else "yes or no")
        found = answered(
            stated_text, question, is_all=_NOTHING_LEFT.match(answer, span[1]) is not None
        )
        if self.language != "en" or reader.lead or found is None:
            return None
        claim = Claim(as_sentence(stated_text), (span,), full=found.full)
        claim = reader.place(stated.clear(claim))
        return claim if claim.full else replace(claim, not_a_claim="yes or no")

    def _claims(
        self, answer: str, stated: Stated, reader: Reader, part: Span, hidden: Sequence[Span]
    ) -> Iterator[Claim]:
        """The claims of the sentence ``part``, without the sentences in it that are ``hidden``."""
        text = shown(answer, part, hidden)
        why = stated.why_nothing(*part) or _why_nothing(text, reader)
        if why is None and self.language == "en" and _TO_THE_END.match(answer, part[1]):
            why = "unfinished" if unfinished(text, reader.before) else None
        source = hide(stated.text, hidden)
        whole = bool(reader.one_of_several(text) or (hidden and _SINGLE_QUOTE.search(text)))
        for piece in _pieces(source, part, why):
            found = _clauses(source, piece, whole=whole)
            if piece.why is not None:
                found = facts_beside(found) if found and self.language == "en" else []
                apart = [*hidden, *(span for clause in found for span in clause.spans())]
                left_of = (trimmed(answer, *span) for span in subtract((piece.span,), apart))
                spans = tuple((a, b) for a, b in left_of if a < b)
                joined_on = piece.begin > piece.span[0]
                left = shown(answer, (piece.begin, piece.span[1]), apart).strip()
                yield Claim(as_sentence(left) if joined_on else left, spans, not_a_claim=piece.why)
            for clause in found:
                spans = clause.spans()
                if spans[0][0] == piece.begin:  # the conjunction before it is its own
                    spans = ((piece.span[0], spans[0][1]), *spans[1:])
                full, note = reader.meant(source, piece.begin, clause)
                claim = Claim(render(source, clause), tuple(subtract(spans, hidden)), full=full)
                yield reader.place(stated.clear(claim), note)


def _why_nothing(sentence: str, reader: Reader) -> str | None:
    """Why the sentence states nothing, where it stands in the answer; None if it states."""
    why = reason(sentence)
    if why is None and SOURCES.match(sentence):
        return "citation"
    return "greeting" if why is None and reader.is_signature(sentence) else why


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a sentence that states something (``why`` is None) or nothing.

    Its text begins at ``begin``: a conjunction before it is in its ``span`` only.
    """

    span: Span
    begin: int
    why: str | None


def _pieces(source: str, part: Span, why: str | None) -> list[_Piece]:
    """The sentence in one piece, or in two if only one of them states nothing (``why``)."""
    start, end = part
    turned = turn(source[start:end], why) if why else None
    if turned is None:
        return [_Piece(part, start, why)]
    first, rest = (None, why) if turned.states_first else (why, None)
    cut = end - len(source[start + turned.cut : end].lstrip())
    found = [_Piece((cut, end), start + turned.rest, rest)]
    return [_Piece((start, start + turned.cut), start, first), *found] if turned.cut else found


def _clauses(answer: str, piece: _Piece, *, whole: bool) -> list[Clause]:
    """The clauses of a piece of a sentence, by their first own word; of an opinion, too."""
    if piece.why not in {None, "opinion"}:
        return []
    words = tuple(lex(answer, piece.begin, piece.span[1]))
    marks = emphasis(answer, words)
    read = tuple(x for x in words if x.index not in marks) or words
    found = [Clause(read, read)]
    if len(words) <= _MAX_WORDS and not (whole or stays_whole(words)):
        for stage in _STAGES:
            found = [part for clause in found for part in stage(clause)]
    if len(read) < len(words):
        found = _with_marks(found, words, marks)
    return sorted(found, key=lambda c: c.covered[0].index)


def _with_marks(
    found: Sequence[Clause], words: Sequence[Word], marks: Mapping[int, bool]
) -> list[Clause]:
    """The clauses with their emphasis marks; an opening mark goes with the word after it."""
    owner = {x.index: k for k, clause in enumerate(found) for x in clause.covered}
    words_of = [list(clause.covered) for clause in found]
    last = len(words) - 1
    after, before = _past(marks, 1, last), _past(marks, -1, last)
    for mark, opens in marks.items():
        near, other = (after[mark], mark - 1) if opens else (before[mark], mark + 1)
        words_of[owner.get(near, owner.get(other, 0))].append(words[mark])
    return [
        Clause(clause.frame, tuple(sorted(x, key=lambda word: word.index)))
        for clause, x in zip(found, words_of, strict=True)
    ]


def _past(marks: Collection[int], step: int, last: int) -> dict[int, int]:
    """For each mark the next word (step 1), or the one before (-1), that is none; or the end."""
    found: dict[int, int] = {}
    for mark in sorted(marks, reverse=step > 0):
        near = mark + step
        found[mark] = found[near] if near in found and 0 < near < last else near
    return found


def _not_claims(answer: str, block: Block) -> tuple[Claim, ...]:
    """A block that states nothing (a heading, code, a table header), with that reason."""
    text = answer[block.start : block.end]
    if block.kind == "table_head":
        spans = tuple(cell for cell in block.cells if cell[0] < cell[1])
        return (Claim(text, spans, not_a_claim="table header"),) if spans else ()
    why = block.kind if block.kind in NOTHING else reason(text) or "heading"
    return (Claim(text, ((block.start, block.end),), not_a_claim=why),) if text else ()
