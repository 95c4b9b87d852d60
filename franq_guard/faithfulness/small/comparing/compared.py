"""Computes from the cells of a table whether a claim that compares its rows is right.

"Harbour Ward has more beds than Birch Ward" stands in no cell. It follows from two of them, which
an encoder cannot compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.comparing.arithmetic import (
    beyond,
    is_more,
    is_most,
    is_times,
    ordered,
)
from franq_guard.faithfulness.small.comparing.comparisons import (
    Comparison,
    comparisons,
    may_compare,
)
from franq_guard.faithfulness.small.comparing.grid import Column, Grid, Thing, Token, grids, split
from franq_guard.faithfulness.small.comparing.scales import (
    ALIKE,
    NO_NEGATIVES,
    VERBS,
    Scale,
    base_form,
)
from franq_guard.faithfulness.small.comparing.ticked import ticked
from franq_guard.faithfulness.small.comparing.wording import (
    DOUBTS,
    SMALL,
    Wording,
    cardinal,
)

_OTHERS: Final = word_set("any other others all every rest else")
_EVERY: Final = word_set("all every")
_LISTED: Final = word_set("list listed lists table shown")
_JOINED: Final = word_set("and both the ,")
_PLACES: Final = word_set("in on at from for to with within inside near by among")
_PRONOUNS: Final = word_set("it this that these those they he she there")
_BESIDES: Final = word_set("in by")  # "larger in area"
_LONGEST: Final = 60
"""A claim of more words is not read."""


@lru_cache(maxsize=256)
def compared(claim: str, context: str) -> bool | None:
    """Whether the cells of a table prove (True) or refute (False) a claim about them.

    None where that is not decided: the claim compares nothing and is not about ticks
    (:func:`.ticked.ticked`), has words or numbers that are not understood, or names no row or
    column clearly; cells are missing, equal or of several units; or one table proves what another
    one refutes.

    Args:
        claim: a sentence.
        context: the original text, with its tables as they are.
    """
    found = _compared(claim, context)
    return ticked(claim, context) if found is None else found


def _compared(claim: str, context: str) -> bool | None:
    tokens = split(claim)
    said = {token.text for token in tokens}
    if not (may_compare(tokens) or said & _LISTED) or len(tokens) > _LONGEST:
        return None
    if said & DOUBTS or any(mark in claim for mark in ("n't", "n’t", "?")):
        return None
    read = (_Reading(claim, tokens, grid, context) for grid in grids(context))
    found = {verdict for one in read if (verdict := one.verdict())}
    if {verdict.right for verdict in found} == {True}:
        return True if any(verdict.whole for verdict in found) else None
    return False if found and not any(verdict.right for verdict in found) else None


class _Verdict(NamedTuple):
    """Whether a table bears a claim out, and whether that is the whole claim."""

    right: bool
    whole: bool = True


@dataclass(frozen=True)
class _Reading:
    """A claim as one about a table."""

    claim: str
    tokens: Sequence[Token]
    grid: Grid
    context: str

    @cached_property
    def things(self) -> list[Thing]:
        """The rows that the claim names."""
        return self.grid.things(self.tokens)

    @cached_property
    def names(self) -> frozenset[int]:
        """The tokens that are part of a name."""
        return frozenset(at for thing in self.things for at in range(thing.start, thing.end))

    @cached_property
    def words(self) -> frozenset[str]:
        """The base forms of the other words."""
        every = range(len(self.tokens))
        return self._base_forms(at for at in every if at not in self.names)

    def verdict(self) -> _Verdict | None:
        """Whether the table proves or refutes the claim, None if neither."""
        found = comparisons(self.claim, self.tokens, self.names)
        if len(found) == 2:
            found = [one for one in found if not self._heads(one)]
        if not found:
            counted = self._is_count()
            return None if counted is None else _Verdict(counted)
        comparison = found[0]
        if comparison is None or len(found) > 1 or not (self.things or comparison.limit):
            return None
        columns = list(self._columns(comparison))
        if len(columns) != 1 or not self.grid.is_alike(columns[0][0]):
            return None
        column, sign = columns[0]
        right = self._holds(comparison, column, sign) if ordered(column.quantities) else None
        if right is None:
            return None
        wording = Wording(self.tokens, self.things, self.grid, comparison, column, self.context)
        more = wording.says_more()
        return None if more is None else _Verdict(right, whole=not more)

    def _heads(self, one: Comparison | None) -> bool:
        """Whether a superlative is that of a header, "highest point"."""
        if one is None or one.form != "most":
            return False
        return base_form(self.tokens[one.start].text) in self.grid.heads

    def _columns(self, comparison: Comparison) -> Iterator[tuple[Column, int]]:
        """The columns that may be compared, each with 1 or -1: whether more of it is meant."""
        degree = comparison.degree
        verbs = [VERBS[word] for word in self.words if word in VERBS]
        scale = verbs[0] if degree.free and verbs else degree.scale
        fitting = [(c, s) for c in self.grid.columns if (s := self._fits(c, scale))]
        said, beside = self._words_at_column(comparison)
        free = degree.free and not (degree.scale in NO_NEGATIVES and self._is_plural(comparison))
        named = [c for c in self.grid.columns if free and c.names and c.names <= said | beside]
        best = max((len(c.words & self.words) for c in named), default=0)
        chosen = [c for c in named if len(c.words & self.words) == best]
        if named and fitting and not any(c in chosen for c, _ in fitting):
            chosen = [c for c in chosen if c.names & beside]
        if named:
            yield from ((c, degree.sign) for c in chosen if c.is_more(degree))
        else:
            yield from ((c, degree.sign * s) for c, s in fitting if c.is_more(degree))

    def _is_plural(self, comparison: Comparison) -> bool:
        """Whether several things are large or long: "larger rooms" are not more of them."""
        behind = [token.text for token in self.tokens[comparison.end : comparison.end + 1]]
        return behind != [] and behind[0].endswith("s") and base_form(behind[0]) in self.grid.heads

    def _fits(self, column: Column, scale: Scale) -> int:
        """1 or -1 where a column has what an adjective measures, else 0."""
        for heads, sign in ((scale.up, 1), (scale.down, -1)):
            if column.names & heads and column.names <= heads | self.words:
                return sign
        if not scale.kinds or not column.names or not column.names <= self.words:
            return 0
        kinds = {quantity.kind for quantity in column.quantities if quantity}
        return int(bool(kinds) and kinds <= scale.kinds)

    def _words_at_column(self, comparison: Comparison) -> tuple[frozenset[str], frozenset[str]]:
        """The words where a claim names a column: before what compares; beside it or after "in"."""
        end = comparison.end
        last = comparison.mark if comparison.mark > comparison.start else len(self.tokens)
        if end < last and self.tokens[end].text in _BESIDES:
            end += 1
        stop = end
        while stop < last and self._is_head(stop):
            stop += 1
        beside = list(range(end, stop))
        if comparison.form == "limit":
            behind = range(comparison.beyond, len(self.tokens))
            beside += [at for at in behind if self._is_head(at)]
        before = (at for at in range(comparison.start) if at not in self.names)
        return self._base_forms(before), self._base_forms(
            at for at in beside if at not in self.names
        )

    def _is_head(self, at: int) -> bool:
        word = self.tokens[at].text
        return word in SMALL or base_form(word) in self.grid.heads

    def _base_forms(self, places: Iterator[int]) -> frozenset[str]:
        """The base forms of the words at some places, with those that mean the same column."""
        said = frozenset(base_form(self.tokens[at].text) for at in places)
        return said.union(*(group for group in ALIKE if group & said))

    def _holds(self, comparison: Comparison, column: Column, sign: int) -> bool | None:
        if comparison.form == "most":
            row = self._subject(comparison)
            return None if row is None else is_most(column.quantities, row, comparison.rank, sign)
        if comparison.form == "limit":
            return self._is_beyond(comparison, column, sign)
        left = [thing for thing in self.things if thing.end <= comparison.mark]
        right = [thing for thing in self.things if thing.start > comparison.mark]
        if not self._joined(left) or not self._joined(right):
            return None
        subjects = {thing.row for thing in left}
        objects = {thing.row for thing in right} or self._others(comparison.mark, subjects)
        if not subjects or not objects or subjects & objects:
            return None
        return _all_hold([_pair(comparison, column, sign, a, b) for a in subjects for b in objects])

    def _subject(self, comparison: Comparison) -> int | None:
        """The row that is the most, not one in which something else is: "the largest in Skerra"."""
        rows = {thing.row for thing in self.things}
        for thing in self.things:
            before = [t.text for t in self.tokens[: thing.start] if t.text not in ("the", ",")]
            of_head = base_form("".join(before[-2:-1])) in self.grid.heads  # "the price for a boat"
            place = before[-1:] and before[-1] in _PLACES and not of_head
            of_it = before[-1:] == ["of"] and before[-2:-1] != ["that"]
            if place or (of_it and thing.start > comparison.start):
                return None
        return rows.pop() if len(rows) == 1 and self.tokens[0].text not in _PRONOUNS else None

    def _joined(self, things: Sequence[Thing]) -> bool:
        """Whether only "and" and the like stands between things."""
        return all(
            token.text in _JOINED or base_form(token.text) in self.grid.kinds
            for one, other in pairwise(things)
            for token in self.tokens[one.end : other.start]
        )

    def _others(self, mark: int, subjects: set[int]) -> set[int]:
        """All other rows, where the claim says "than any other ward"."""
        if not any(token.text in _OTHERS for token in self.tokens[mark + 1 :]):
            return set()
        return set(range(len(self.grid.names))) - subjects

    def _is_beyond(self, comparison: Comparison, column: Column, sign: int) -> bool | None:
        """Whether the things named, or as many as the claim says, are above or below a limit."""
        limit = comparison.limit
        rows = [thing.row for thing in self.things] or range(len(self.grid.names))
        if limit is None or not self._joined(self.things):
            return None
        found = beyond([column.quantities[row] for row in rows], limit, sign)
        first = [t.text for t in self.tokens[:3] if t.text in _EVERY or t.text not in SMALL]
        if found is None or not first:
            return None
        if self.things or first[0] in _EVERY:
            return all(found)
        count = cardinal(first[0])
        return None if count is None else sum(found) == count

    def _is_count(self) -> bool | None:
        """Of "there are five wards in the list" whether there are so many."""
        said = [token.text for token in self.tokens if token.text[0].isalnum()]
        numbers = [(at, n) for at, word in enumerate(said) if (n := cardinal(word)) is not None]
        if self.names or not self.grid.kind or len(numbers) != 1 or not set(said) & _LISTED:
            return None
        at, number = numbers[0]
        if not at + 1 < len(said) or base_form(said[at + 1]) not in self.grid.kinds:
            return None
        if any(word not in SMALL for word in (*said[:at], *said[at + 2 :])):
            return None
        return number == len(self.grid.names)


def _pair(comparison: Comparison, column: Column, sign: int, a: int, b: int) -> bool | None:
    """Whether what the claim says holds of two rows."""
    one, other = column.quantities[a], column.quantities[b]
    if comparison.form == "more":
        return is_more(one, other, sign, comparison.gap)
    at_least = comparison.degree.form == "positive"
    return is_times(one, other, comparison.factor, at_least=at_least) if sign > 0 else None


def _all_hold(found: Sequence[bool | None]) -> bool | None:
    if False in found:
        return False
    return None if None in found else True
