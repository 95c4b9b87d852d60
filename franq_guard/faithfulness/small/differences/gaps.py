"""Where a claim and a sentence differ between words that match, and what differs there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.differences.same_name import same_name
from franq_guard.faithfulness.small.tokens import Kind, Token, Tokens
from franq_guard.faithfulness.small.words import MONTHS, stem

_LONGEST: Final = 6
"""The most differing words between two matching ones that still count as a replacement."""
_REACH: Final = 3
"""In a longer difference, how many words next to the matching ones are compared."""
_NEXT: Final = 4
"""A name is not replaced if it stands among so many words where another one does."""
_RUN: Final = 3
"""So many matching words before the claim's last name show that it is in another one's place."""
_FEWEST: Final = 2
"""The same for the claim's last number."""
_SUBJECT: Final = 4
"""At most so many words name what a sentence has as "it"."""
SOME: Final = frozenset(map(stem, word_set("somebody someone something everybody everyone")))
"""Words that a negation may stand in the place of: "Nobody came."."""


class Gap:
    """Words of claim and sentence that differ, between two matching words or at an end.

    Args:
        claim: all its words; those in the gap are ``claim[a:b]``.
        sentence: all its words; those in the gap are ``sentence[c:d]``.
        run: how many matching words are before the gap.
    """

    def __init__(
        self, claim: Tokens, sentence: Tokens, run: int, a: int, b: int, c: int, d: int
    ) -> None:
        self.claim, self.sentence = claim[a:b], sentence[c:d]
        self.run = run
        self.before = a > 0 and c > 0
        self.after = b < len(claim) and d < len(sentence)
        longest = max(len(self.claim), len(self.sentence))
        self.tight = self.before and self.after and longest <= _LONGEST

    def places(self) -> list[tuple[Tokens, Tokens]]:
        """The words that replace each other: all, or only those next to the matching words."""
        if self.tight:
            return [(self.claim, self.sentence)]
        first = [(self.claim[:_REACH], self.sentence[:_REACH])] if self.before else []
        last = [(self.claim[-_REACH:], self.sentence[-_REACH:])] if self.after else []
        return first + last

    @property
    def subject(self) -> frozenset[str]:
        """The claim's first words if they may name what the sentence begins with as "it"."""
        if self.before or not _has(self.sentence, "pronoun"):
            return frozenset()
        whole = len(self.claim) <= _SUBJECT and all(
            token.kind in ("pronoun", "negation") for token in self.sentence
        )
        return frozenset(
            token.text
            for token in self.claim
            if token.kind == "opening" or (whole and token.kind != "negation")
        )

    @property
    def negates(self) -> bool:
        """Whether only one of the two texts is negated here."""
        own, other = (_has(side, "negation") for side in (self.claim, self.sentence))
        return self.tight and own != other

    @property
    def only_negates(self) -> bool:
        """Whether a negation is all that differs here; also at the beginning: "Nobody came.".

        There the subject may have another name: "The old mill did not stop", "It stopped". Of
        labelled pairs 21 unsupported ones have such a subject before a negation and 2 supported
        ones. Where the claim leaves out words of the sentence, the last of them may be a negation
        of what follows (41 and 2): "opened in May but did not close", "opened and closed".
        """
        if self.before and self.after and not self.claim:
            return self.sentence[-1].kind == "negation" or _negates(self.sentence) is True
        sides = (self.claim, self.sentence)
        if not self.before:
            named = self.subject
            rest = tuple(t for t in _without_names(self.claim) if t.text not in named)
            other = _without_names(self.sentence)
            if len(rest) < len(self.claim) and len(other) < len(self.sentence):
                sides = (rest, other)
        return self.after and set(map(_negates, sides)) == {True, False}

    def only_names(self, here: frozenset[str], names: Collection[str]) -> bool:
        """Whether other names, and nothing else, are on both sides, though they stand elsewhere.

        Of labelled pairs that have nearly all of the claim's words 55 unsupported ones and one
        supported have such names between matching words (and no name that :meth:`other_name` tells
        alone), 22 and 2 at the beginning, where words must be names surely, and 6 and none at the
        claim's end after three matching words.

        Args:
            here: the words of the claim.
            names: words that surely are names somewhere in the context.
        """
        own, other = _without_days(self.claim), _without_days(self.sentence)
        if not self.after:
            if self._ends_otherwise(own, other, here):
                return False
            other = tuple(takewhile(_may_be_name, other))
        elif self.before and not self.tight:
            return False
        surely = (t.kind == "name" or t.text in names for t in own + other)
        if not all(map(_may_be_name, own + other)) or not (self.before or all(surely)):
            return False
        mine, theirs = _texts(own), _texts(other)
        return bool(mine and theirs and not set(mine) & set(theirs) and not same_name(mine, theirs))

    def _ends_otherwise(self, own: Tokens, other: Tokens, here: frozenset[str]) -> bool:
        """Whether no name of the claim's end is in the place of the sentence's next words."""
        return (
            self.run < _RUN
            or bool(here & set(_texts(other[:1])))
            or same_name(_texts(own), _texts(other[:_NEXT]))
            or bool(set(_texts(own)) & set(_texts(self.sentence)))
        )

    def has_new(self, kinds: Sequence[Kind], everywhere: Collection[str]) -> bool:
        """Whether a word of the claim here stands nowhere in the context.

        A word such as "first" counts as new: it stands in nearly every text.
        """
        here = (token for own, _ in self.places() for token in own if token.kind in kinds)
        return any(token.kind == "few" or token.text not in everywhere for token in here)

    def is_only(self, kinds: Sequence[Kind]) -> bool:
        """Whether words of these kinds, and no others, are on both sides.

        The day beside a month ("3 June" for "July") belongs to that name.
        """
        sides = (self.claim, self.sentence)
        if "name" in kinds:
            sides = (_without_days(self.claim), _without_days(self.sentence))
        return all(side and all(token.kind in kinds for token in side) for side in sides)

    def other_number(
        self, lacking: Counter[str], extra: Counter[str], there: Collection[str]
    ) -> bool:
        """Whether a number missing in the sentence replaces one that is missing in the claim.

        A word such as "first" that the sentence has elsewhere, too, is missing only if it is
        between matching words: of labelled pairs 6 unsupported and 3 supported ones have it at the
        beginning or end, as "was first described" is told as "was the first to describe".
        """
        return any(
            (_counts(own, lacking) and (_counts(other, extra) or _has(other, "few")))
            or (
                any(t.kind == "few" and (self.tight or t.text not in there) for t in own)
                and _counts(other, extra)
            )
            for own, other in self.places()
        )

    def ends_with_other_number(self, lacking: Counter[str], extra: Counter[str]) -> bool:
        """Whether the claim ends with a number in another one's place, where the sentence goes on.

        "Kept at 6 °C.", "kept at 5 °C until use". Of labelled pairs 11 unsupported ones and no
        supported one end so after two matching words (after one 16 and 1).
        """
        return (
            self.before
            and not self.after
            and self.run >= _FEWEST
            and bool(self.claim)
            and all(token.kind == "number" for token in self.claim)
            and _counts(self.claim, lacking)
            and _counts(self.sentence[:1], extra)
        )

    def other_name(self, here: frozenset[str], there: frozenset[str]) -> bool:
        """Whether a name replaces another one here; a name for a pronoun does not count."""
        if not self.before and _has(self.sentence, "pronoun"):
            return False
        return any(self._other_name(*place, here, there) for place in self.places())

    def _other_name(
        self, own: Tokens, other: Tokens, here: frozenset[str], there: frozenset[str]
    ) -> bool:
        single = self.tight and len(own) == len(other)  # then the name may also occur elsewhere
        mine = [t.text for t in own if t.kind == "name" and (single or t.text not in there)]
        theirs = [t.text for t in other if t.kind in ("name", "opening") and t.text not in here]
        return bool(mine and theirs) and not same_name(mine, theirs)


def _has(tokens: Tokens, kind: Kind) -> bool:
    return any(token.kind == kind for token in tokens)


def _without_days(tokens: Tokens) -> Tokens:
    return tuple(t for t in tokens if t.kind != "number" or t.of.unit not in MONTHS)


def _may_be_name(token: Token) -> bool:
    return token.kind in ("name", "opening")


def _without_names(tokens: Tokens) -> Tokens:
    return tuple(t for t in tokens if t.kind != "pronoun" and not _may_be_name(t))


def _texts(tokens: Tokens) -> list[str]:
    return [token.text for token in tokens]


def _negates(tokens: Tokens) -> bool | None:
    """True of negations, False of no word or such as "somebody", None if there are other words."""
    if any(token.kind != "negation" and token.text not in SOME for token in tokens):
        return None
    return _has(tokens, "negation")


def _counts(tokens: Tokens, numbers: Counter[str]) -> bool:
    return any(token.kind == "number" and token.text in numbers for token in tokens)
