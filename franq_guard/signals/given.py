"""Claims that come with an answer: these are checked as given, and so is the rest of the answer.

Given claims may omit a sentence of the answer, or word it differently. So the guard also splits the
answer itself, and checks those of its own claims that no given claim repeats in the answer's words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from franq_guard.basics.unchecked import unchecked_because
from franq_guard.claims.alignment import ALIGNED, Index
from franq_guard.records import Claim

__all__ = ["with_the_rest"]

_WORD = re.compile(r"\S+")
_CITED = re.compile(r"\[\d{1,3}\]")
_AT_ITS_EDGES = ".,;:!?…\"'“”‘’«»()[]{}*_`#|"
"""What may stand before or after a word without being a part of what it says."""


def with_the_rest(
    given: Sequence[Claim], answer: str, own: Sequence[Claim], *, locate: bool = True
) -> list[Claim]:
    """The given claims that can be checked, and after them what they leave out of the answer.

    A given claim covers a claim of the guard's own split if it has the same words, or if its words
    are a run of words in the answer that includes all words of that claim. It is not enough that it
    has them in between others: "The shop never opens" has all words of "The shop opens". Text that
    is given as ``not_a_claim`` covers nothing. A given claim that is not found in the answer has no
    spans in the result.

    Args:
        given: with the trace.
        answer: the text.
        own: the claims of the guard's own split.
        locate: whether to look for the given claims in the answer, which takes long. Otherwise they
            keep the spans that they have: enough where no claim will be verified.
    """
    words = _Words(answer)
    said = {_of(text) for claim in own for text in (claim.text, claim.in_full)}
    placed = [*given]
    if locate:
        index = Index(answer)
        placed = [_placed(claim, index, words, said) for claim in given]
    found = [claim for claim in placed if claim.spans or claim.not_a_claim is None]
    stated = [claim for claim in found if claim.not_a_claim is None]
    known = {_of(claim.in_full) for claim in stated}
    covered = [run for claim in stated for run in words.runs(_of(claim.in_full))]
    rest = [
        claim
        for claim in own
        if not (_of(claim.text) in known or _of(claim.in_full) in known)
        and not words.within(claim, covered)
    ]
    if stated or any(claim.not_a_claim is None for claim in rest):
        return [*found, *(claim for claim in rest if claim.not_a_claim is None)]
    # Nothing is a claim: why not decides whether the answer counts as unverified.
    return [*found, *(claim for claim in rest if not _already_given(claim, found))]


def _placed(claim: Claim, index: Index, words: _Words, said: set[tuple[str, ...]]) -> Claim:
    """The claim with its place in the answer; without one if its words are not found there."""
    text, found = _of(claim.text), index.align(claim.text)
    if found.score < ALIGNED and text not in said and not any(words.runs(text)):
        return replace(claim, spans=())
    return claim if claim.spans else replace(claim, spans=found.spans)


def _already_given(own: Claim, found: Sequence[Claim]) -> bool:
    """Whether the same words were given as not a claim, for the same reason."""
    why = unchecked_because(own.text, [own.not_a_claim])
    return any(
        _of(one.text) == _of(own.text) and unchecked_because(one.text, [one.not_a_claim]) == why
        for one in found
    )


class _Words:
    """The words of an answer, to find those of a claim among them."""

    def __init__(self, answer: str) -> None:
        found = list(_words(answer))
        self._starts = [start for _, start in found]
        # As one text, so that a run of words is found by a search for a text.
        self._text = _joined([word for word, _ in found])
        self._places = [i for i, char in enumerate(self._text) if char == "\n"][:-1]

    def runs(self, claim: tuple[str, ...]) -> Iterator[range]:
        """Where these words stand one after the other, as numbers of the answer's words."""
        wanted = _joined(claim)
        at = self._text.find(wanted) if claim else -1
        while at >= 0:
            first = bisect_left(self._places, at)
            yield range(first, first + len(claim))
            at = self._text.find(wanted, at + 1)

    def within(self, claim: Claim, runs: Sequence[range]) -> bool:
        """Whether all words at the claim's spans are in one of the runs."""
        held = [
            range(bisect_left(self._starts, start), bisect_left(self._starts, end))
            for start, end in claim.spans
        ]
        first = min((part.start for part in held if part), default=None)
        if first is None:
            return False
        last = max(part.stop for part in held if part)
        return any(run.start <= first and last <= run.stop for run in runs)


def _words(text: str) -> Iterator[tuple[str, int]]:
    """The words of a text in lower case, and where each begins; citations are left out."""
    plain = _CITED.sub(lambda cited: " " * len(cited.group()), text)
    for match in _WORD.finditer(plain):
        bare = match.group().lstrip(_AT_ITS_EDGES)
        word = bare.rstrip(_AT_ITS_EDGES).casefold()
        if word:
            yield word, match.end() - len(bare)


def _of(text: str) -> tuple[str, ...]:
    return tuple(word for word, _ in _words(text))


def _joined(words: Sequence[str]) -> str:
    return "\n" + "".join(f"{word}\n" for word in words)
