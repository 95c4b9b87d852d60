"""A fact of the claim that stands where its nearest sentence has another one.

Claim and sentence are laid side by side, word by word. Where all else agrees and one number or name
differs, that fact was changed; in a paraphrase little else agrees. An encoder that reads the two as
a whole hardly sees such a change, the less so where the other fact stands elsewhere in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final

from franq_guard.faithfulness.small.tokens import Kind, Tokens, numbers, tokens

REPLACED: Final = (
    "number_replaced",  # a number of the claim stands where the sentence has another one
    "name_replaced",  # the same for a name
    "negation_added",  # only one of the two negates, at a place where they differ
    "number_unknown",  # a number of the claim is nowhere in the context
)
"""Each is 0, or else the share of the claim's other content words that the sentence has."""

_LONGEST: Final = 6
"""Words between two agreements that can stand in each other's place."""
_ALIKE: Final = 4
"""Letters at the start that make two names one: China and Chinese."""
_REACH: Final = 3
"""Of a longer stretch, the words next to an agreement."""
_ASKS: Final = re.compile(r"\?|^\W*(?:who|whom|whose|what|when|where|which|why|how)\b[^,]*$", re.I)
"""A question, which states nothing and has an order of its own; also one with its answer behind."""


def replaced(claim: str, sentences: Sequence[str], context: str) -> list[float]:
    """Return the values of `REPLACED` for a claim.

    Args:
        claim: a sentence. All values of a question are 0.
        sentences: of the context, those nearest to it; the one that fits best is compared.
        context: all that the claim may rest on.
    """
    own = tuple(token for token in tokens(claim) if token.kind != "pronoun")
    pairs = [_Pair(own, tokens(sentence)) for sentence in sentences]
    if not own or not pairs or _ASKS.search(claim):
        return [0.0] * len(REPLACED)
    best = max(pairs, key=lambda pair: pair.fit)
    unknown = best.here.numbers.keys() - numbers(context)
    signs = (best.other_number, best.other_name, best.negated, bool(unknown))
    return [best.share * sign for sign in signs]


class _Side:
    """What one of the two texts has."""

    def __init__(self, tokens: Tokens) -> None:
        self.words = frozenset(token.text for token in tokens)
        self.numbers = Counter(token.text for token in tokens if token.kind == "number")


class _Pair:
    """Claim and sentence side by side."""

    def __init__(self, claim: Tokens, sentence: Tokens) -> None:
        self.here, self.there = _Side(claim), _Side(sentence)
        own, other = ([token.text for token in side] for side in (claim, sentence))
        steps = SequenceMatcher(None, own, other, autojunk=False).get_opcodes()
        self.gaps = [_Gap(claim, sentence, *step[1:]) for step in steps if step[0] != "equal"]
        facts = {token.text for token in claim if token.kind in ("number", "name")}
        missing = facts - self.there.words
        rest = [t for t in claim if t.kind not in ("negation", "few") and t.text not in missing]
        self.share = _mean(token.text in self.there.words for token in rest)
        aligned = sum(step[2] - step[1] for step in steps if step[0] == "equal")
        self.fit = self.share + aligned / max(1, len(claim))

    @property
    def other_number(self) -> bool:
        own, other = self.here.numbers, self.there.numbers
        return any(gap.other_number(own - other, other - own) for gap in self.gaps)

    @property
    def other_name(self) -> bool:
        return any(gap.other_name(self.here.words, self.there.words) for gap in self.gaps)

    @property
    def negated(self) -> bool:
        return any(gap.negates for gap in self.gaps)


class _Gap:
    """Words of claim and sentence that differ, between two agreements or at an end."""

    def __init__(self, claim: Tokens, sentence: Tokens, a: int, b: int, c: int, d: int) -> None:
        self.claim, self.sentence = claim[a:b], sentence[c:d]
        self.before = a > 0 and c > 0
        self.after = b < len(claim) and d < len(sentence)
        longest = max(len(self.claim), len(self.sentence))
        self.tight = self.before and self.after and longest <= _LONGEST

    def places(self) -> list[tuple[Tokens, Tokens]]:
        """What stands in each other's place: all of it, or the words next to the agreements."""
        if self.tight:
            return [(self.claim, self.sentence)]
        first = [(self.claim[:_REACH], self.sentence[:_REACH])] if self.before else []
        last = [(self.claim[-_REACH:], self.sentence[-_REACH:])] if self.after else []
        return first + last

    @property
    def negates(self) -> bool:
        """Whether one of the two denies here what the other says."""
        return self.tight and _has(self.claim, "negation") != _has(self.sentence, "negation")

    def other_number(self, lacking: Counter[str], extra: Counter[str]) -> bool:
        """Whether a number that the sentence lacks stands here for one that the claim lacks."""
        return any(
            (_counts(own, lacking) and (_counts(other, extra) or _has(other, "few")))
            or (_has(own, "few") and _counts(other, extra))
            for own, other in self.places()
        )

    def other_name(self, here: frozenset[str], there: frozenset[str]) -> bool:
        """Whether a name stands here for another one; one that a pronoun stands for is no other."""
        if not self.before and _has(self.sentence, "pronoun"):
            return False
        return any(self._other_name(*place, here, there) for place in self.places())

    def _other_name(
        self, own: Tokens, other: Tokens, here: frozenset[str], there: frozenset[str]
    ) -> bool:
        single = self.tight and len(own) == len(other)  # then it may stand elsewhere in it, too
        mine = [t.text for t in own if t.kind == "name" and (single or t.text not in there)]
        theirs = [t.text for t in other if t.kind in ("name", "opening") and t.text not in here]
        return bool(mine and theirs) and not _same_name(mine, theirs)


def _same_name(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two names are one: spelled nearly alike, written together, or by the initials."""
    first, second = "".join(left), "".join(right)
    if first in second or second in first:  # South East, Southeast
        return True
    initials = ["".join(word[0] for word in side) for side in (left, right)]
    if first == initials[1] or second == initials[0]:  # UK, United Kingdom
        return True
    return any(_alike(a, b) for a in left for b in right)


def _alike(a: str, b: str) -> bool:
    shortest = min(len(a), len(b))
    if shortest < _ALIKE:
        return False
    return a[:_ALIKE] == b[:_ALIKE] or SequenceMatcher(None, a, b, autojunk=False).ratio() >= 0.75


def _has(tokens: Tokens, kind: Kind) -> bool:
    return any(token.kind == kind for token in tokens)


def _counts(tokens: Tokens, numbers: Counter[str]) -> bool:
    return any(token.kind == "number" and token.text in numbers for token in tokens)


def _mean(values: Iterable[bool]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0
