"""Ranges of characters, and the tokens inside them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from franq_guard.basics.text import merged as merged
from franq_guard.basics.text import trimmed
from franq_guard.records import Claim, Span, Token, Verdict


def token_indices(spans: Sequence[Span], tokens: Sequence[Token], *, text: str = "") -> list[int]:
    """Indices of the tokens that overlap ``spans`` (any overlap counts), ascending.

    ``tokens`` are in text order, as in :attr:`franq_guard.Generation.tokens`. A token with an empty
    span counts if it is before a character of a span: it has the first bytes of that character (of
    an emoji, say), so its probability is part of the claim's. The token that ends the answer is
    after the last character and is left out. If ``text`` is given, a token that shares only its
    leading blank with a span is left out, too. Only tokens at the spans are examined:
    O((m + s log n) log s) for s spans and m of n tokens.
    """
    ranges = merged(spans)
    starts = [start for start, _ in ranges]
    found: list[int] = []
    index = 0
    for start, end in ranges:
        index = max(index, bisect_left(tokens, start, key=lambda token: token.end))
        while index < len(tokens) and tokens[index].start < end:
            if _states(ranges, starts, tokens[index], text):
                found.append(index)
            index += 1
    return found


def _states(ranges: Sequence[Span], starts: Sequence[int], token: Token, text: str) -> bool:
    inner = token.start >= token.end
    k = bisect_right(starts, token.start if inner else token.end - 1) - 1
    if k < 0 or ranges[k][1] <= token.start:
        return False
    return inner or not text or _shares_ink(ranges, k, token, text)


def _shares_ink(ranges: Sequence[Span], k: int, token: Token, text: str) -> bool:
    while k >= 0 and ranges[k][1] > token.start:
        left, right = max(ranges[k][0], token.start), min(ranges[k][1], token.end)
        if text[left:right].strip():
            return True
        k -= 1
    return False


def overlap(spans: Iterable[Span], others: Iterable[Span]) -> int:
    """How many characters are in both."""
    left = merged(spans)
    return sum(b - a for a, b in left) - sum(b - a for a, b in subtract(left, others))


def subtract(spans: Iterable[Span], taken: Iterable[Span]) -> list[Span]:
    """The characters of ``spans`` that are not in ``taken``."""
    holes = merged(taken)
    out: list[Span] = []
    k = 0
    for start, end in merged(spans):
        while k < len(holes) and holes[k][1] <= start:
            k += 1
        j = k
        while j < len(holes) and holes[j][0] < end:
            if holes[j][0] > start:
                out.append((start, holes[j][0]))
            start = max(start, holes[j][1])
            j += 1
        if start < end:
            out.append((start, end))
    return out


def shifted(claim: Claim, by: int) -> Claim:
    """The claim with its spans ``by`` characters further on."""
    return replace(claim, spans=tuple((start + by, end + by) for start, end in claim.spans))


def moved(verdict: Verdict, by: int) -> Verdict:
    """The verdict with its claim and its citations ``by`` characters further on."""
    cited = (replace(c, span=(c.span[0] + by, c.span[1] + by)) for c in verdict.citations)
    return replace(verdict, claim=shifted(verdict.claim, by), citations=tuple(cited))


def whole(answer: str) -> list[Claim]:
    """The answer as one claim; an empty list if it is blank."""
    start, end = trimmed(answer, 0, len(answer))
    return [Claim(answer[start:end], ((start, end),))] if end > start else []
