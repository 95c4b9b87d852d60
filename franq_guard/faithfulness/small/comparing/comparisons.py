"""Reads what a claim compares: "heavier than", "the second oldest", "twice as many ... as"."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.comparing.grid import Token
from franq_guard.faithfulness.small.comparing.quantities import Quantity, amount_at
from franq_guard.faithfulness.small.comparing.scales import COUNTING, DEGREES, Degree
from franq_guard.faithfulness.small.numerals import CARDINALS, ORDINALS

_RANKS: Final = {word: number for word, number in ORDINALS.items() if 1 < number < 11}
_FACTORS: Final = {"twice": Decimal(2), "double": Decimal(2), "half": Decimal("0.5")}
_OWNERS: Final = word_set("s his her its their our your my")
_SOME: Final = {"one", "some", "among", *CARDINALS}
_BOUNDS: Final = {"over": 1, "above": 1, "under": -1, "below": -1}

_OTHERS: Final = frozenset({*_FACTORS, *_BOUNDS, "times", "same"})
"""Words of a comparison without an adjective."""


class Comparison(NamedTuple):
    """What a claim compares, and with which words.

    ``start`` to ``end`` are the tokens that compare. ``mark`` is the one behind which the other
    side stands ("than", the second "as"), else -1. ``limit`` is what "more than 20" compares with,
    and ``beyond`` is where it ends. ``gap`` is how much more it is: "20 more beds".
    """

    form: Literal["more", "most", "times", "limit"]
    start: int
    end: int
    degree: Degree
    mark: int = -1
    rank: int = 1
    factor: Decimal = Decimal(1)
    limit: Quantity | None = None
    beyond: int = -1
    gap: Quantity | None = None


def may_compare(tokens: Sequence[Token]) -> bool:
    """Whether a claim has any word that compares; most have none."""
    return any(_looks_so(tokens, at) or tokens[at].text in _OTHERS for at in range(len(tokens)))


def comparisons(
    claim: str, tokens: Sequence[Token], names: Collection[int]
) -> list[Comparison | None]:
    """Return what a claim compares; None for what looks like a comparison and is not read.

    Args:
        claim: a sentence.
        tokens: its words.
        names: the tokens of names: "Upper Farm" compares nothing.
    """
    found: list[Comparison | None] = []
    at = 0
    while at < len(tokens):
        one = None if at in names else _at(claim, tokens, at)
        if one is not None:
            found.append(one)
        elif at not in names and _looks_so(tokens, at):
            found.append(None)
        at = max(at + 1, one.end if one else 0, one.mark + 1 if one else 0)
    return found


def _looks_so(tokens: Sequence[Token], at: int) -> bool:
    degree = DEGREES.get(tokens[at].text)
    return bool(degree and degree.form != "positive") or tokens[at].text in ("as", "than")


def _at(claim: str, tokens: Sequence[Token], at: int) -> Comparison | None:
    word = tokens[at].text
    degree = DEGREES.get(word)
    if word in _BOUNDS:
        plain = DEGREES["more"]._replace(sign=_BOUNDS[word])
        return _limit(claim, tokens, Comparison("limit", at, at + 1, plain, at))
    if degree and degree.form == "superlative":
        return _most(tokens, at, degree)
    if degree and degree.form == "comparative":
        return _more(claim, tokens, at, degree)
    return next(_times(tokens, at), None)


def _most(tokens: Sequence[Token], at: int, degree: Degree) -> Comparison | None:
    """Read "the heaviest" or "the second most expensive", not "at most"."""
    before = tokens[at - 1].text if at else ""
    rank = _RANKS.get(before, 1)
    start = at - (rank > 1)
    owner = tokens[start - 1].text if start else ""
    counts = tokens[at].text in COUNTING or rank > 1
    two_before = [token.text for token in tokens[max(0, start - 3) : max(0, start - 1)]]
    if (counts and owner != "the") or owner in _OWNERS:  # "Miller's latest book" is of one thing
        return None
    if two_before[-1:] == ["at"] or _is_part(two_before):
        return None
    end, degree = _with_adjective(tokens, at, degree)
    return Comparison("most", start, end, degree, rank=rank)


def _is_part(before: Sequence[str]) -> bool:
    """Whether only some are meant: "one of the", "among the"."""
    return before[-1:] == ["among"] or (before[-1:] == ["of"] and before[0] in _SOME)


def _more(claim: str, tokens: Sequence[Token], at: int, degree: Degree) -> Comparison | None:
    end, degree = _with_adjective(tokens, at, degree)
    marks = (i for i in range(end, len(tokens)) if tokens[i].text == "than")
    mark = next(marks, None)
    if mark is None:
        return None
    found = Comparison("more", at, end, degree, mark)
    return _limit(claim, tokens, found) or _with_gap(claim, tokens, found)


def _with_gap(claim: str, tokens: Sequence[Token], found: Comparison) -> Comparison:
    for at in range(max(0, found.start - 2), found.start):
        word = tokens[at].text
        if word[0].isdigit() or word in CARDINALS:
            sign = claim[_with_sign(claim, tokens[at].start) : tokens[at].start]
            behind = claim[tokens[at].end : tokens[found.start].start]
            written = f"{sign}{CARDINALS.get(word, word)}{behind}".strip()
            read = amount_at(written, 0)
            if read and read[1] == len(written):
                return found._replace(start=at, gap=read[0])
    return found


def _with_adjective(tokens: Sequence[Token], at: int, degree: Degree) -> tuple[int, Degree]:
    """Of "less expensive" the adjective counts, turned round."""
    behind = DEGREES.get(tokens[at + 1].text) if at + 1 < len(tokens) else None
    if tokens[at].text not in COUNTING or not behind or behind.form != "positive":
        return at + 1, degree
    return at + 2, behind._replace(form=degree.form, sign=degree.sign * behind.sign)


def _limit(claim: str, tokens: Sequence[Token], found: Comparison) -> Comparison | None:
    """Of "more than 20 beds" the number; None if none stands behind the mark."""
    if found.mark + 1 >= len(tokens):
        return None
    start = _with_sign(claim, tokens[found.mark + 1].start)
    read = amount_at(claim, start)
    if read is None:
        return None
    limit, stop = read
    beyond = next((i for i, token in enumerate(tokens) if token.start >= stop), len(tokens))
    return found._replace(form="limit", limit=limit, beyond=beyond)


def _with_sign(claim: str, at: int) -> int:
    """Where a number begins that may have a currency before it, which is no token."""
    return at - 1 if at and claim[at - 1] in "$€£¥-−" else at


def _times(tokens: Sequence[Token], at: int) -> Iterator[Comparison]:
    """Read "as tall as", "twice as many beds as" or "three times the area of"."""
    factor, start = _factor(tokens, at)
    words = [token.text for token in tokens[start : start + 2]]
    degree = DEGREES.get(words[-1]) if len(words) == 2 else None
    if words[:1] == ["as"] and degree and degree.form == "positive":
        mark = _next(tokens, start + 2, "as")
        if mark is not None:
            yield Comparison("times", at, start + 2, degree, mark, factor=factor)
    elif words[:1] == ["the"] and (start > at or words == ["the", "same"]):
        mark = _next(tokens, start + 1, "of" if start > at else "as")
        if mark is not None:
            end = start + 1 + (start == at)
            degree = DEGREES["more"]  # then it is not "at least as many"
            yield Comparison("times", at, end, degree, mark, factor=factor)


def _factor(tokens: Sequence[Token], at: int) -> tuple[Decimal, int]:
    word = tokens[at].text
    if word in _FACTORS:
        return _FACTORS[word], at + 1
    # Not int: it refuses a number of thousands of digits.
    number = Decimal(CARDINALS.get(word, word if word.isdecimal() else 0))
    if number > 1 and at + 1 < len(tokens) and tokens[at + 1].text == "times":
        return number, at + 2
    return Decimal(1), at


def _next(tokens: Sequence[Token], at: int, word: str) -> int | None:
    return next((i for i in range(at, len(tokens)) if tokens[i].text == word), None)
