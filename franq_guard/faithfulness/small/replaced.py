"""Detects facts of a claim that replace another fact in the sentence nearest to it.

Claim and sentence are aligned word by word. If only one number or name differs and all other words
agree, that fact was probably changed; in a paraphrase, many other words differ as well. An encoder
that reads whole texts often misses such a change, especially if the wrong fact occurs elsewhere in
the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Final

from franq_guard.faithfulness.small.opposites import opposed, opposite_key
from franq_guard.faithfulness.small.same_name import same_name
from franq_guard.faithfulness.small.subjects import other_subject
from franq_guard.faithfulness.small.tokens import (
    Kind,
    Known,
    Measures,
    Token,
    Tokens,
    known,
    measured,
    tokens,
)
from franq_guard.faithfulness.small.words import (
    MONTHS,
    stem,
    word_set,
)

REPLACED: Final = (
    "number_replaced",  # where the claim has a number or its unit, the sentence has another one
    "name_replaced",  # the same for a name
    "negation_added",  # only one of the two is negated where they differ, or has the opposite word
    "number_unknown",  # a number of the claim, or it with its unit, is nowhere in the context
)
"""Each value is 0 if nothing was found, else the share of the claim's other content words that the
sentence contains; twice that where a number, opposite or negation is all that differs, three times
where a name is."""

_LONGEST: Final = 6
"""The most differing words between two matching ones that still count as a replacement."""
_NEARLY_ALL: Final = 0.8
"""What differs is all that differs only if the sentence has so many of the claim's other words."""
_NAME_ALONE: Final = 3
"""A name that alone differs is in 179 unsupported natural claims and 5 supported ones, one beside
other words in 180 and 69: the logarithm of the odds is more than three times as large."""
_SUBJECT: Final = 4
"""At most so many words name what a sentence has as "it"."""
_NEXT: Final = 4
"""A name is not replaced if it stands among so many words where another one does."""
_REACH: Final = 3
"""In a longer difference, how many words next to the matching ones are compared."""
_SOME: Final = frozenset(map(stem, word_set("somebody someone something everybody everyone")))
"""Words that a negation may stand in the place of: "Nobody came."."""
_REFUSING: Final = frozenset(
    map(stem, word_set("unable fail failed failing refuse refused refusing decline declined"))
)
"""Words that negate the verb after them: "failed to open" is "did not open"."""
_RUN: Final = 3
"""So many matching words before the claim's last name show that it is in another one's place."""
_ASKS: Final = re.compile(r"\?|^\W*(?:who|whom|whose|what|when|where|which|why|how)\b[^,]*$", re.I)
"""A question, which states nothing and has another word order; an answer may follow it."""


def replaced(claim: str, sentences: Sequence[str], context: str) -> list[float]:
    """Return the values of `REPLACED` for a claim.

    Args:
        claim: a sentence. All values of a question are 0.
        sentences: those of the context nearest to the claim; the best match is compared.
        context: the whole text that may support the claim.
    """
    own = tuple(token for token in tokens(claim) if token.kind != "pronoun")
    pairs = [_Pair(own, claim, sentence) for sentence in sentences]
    if not own or not pairs or _ASKS.search(claim):
        return [0.0] * len(REPLACED)
    best = max(pairs, key=lambda pair: pair.fit)
    everywhere = known(context)
    other_unit = best.other_unit
    signs = (
        max(best.other_number(everywhere.measures), other_unit),
        best.other_name(everywhere),
        best.opposed or best.negated,
        bool(best.here.numbers.keys() - everywhere.measures.keys())
        or (other_unit > 0 and _other_unit(best.here.measures, everywhere.measures)),
    )
    return [best.share * sign for sign in signs]


class _Side:
    """The words of one of the two texts."""

    def __init__(self, tokens: Tokens) -> None:
        self.words = frozenset(token.text for token in tokens)
        self.numbers = Counter(token.text for token in tokens if token.kind == "number")
        self.measures = measured(tokens)


class _Pair:
    """Claim and sentence, aligned word by word; ``claim``: its words without pronouns."""

    def __init__(self, claim: Tokens, claimed: str, said: str) -> None:
        sentence = tokens(said)
        self.texts = claimed, said
        self.opposites = opposites = opposed(claimed, said)
        self.here, self.there = _Side(claim), _Side(sentence)
        own, other = ([token.text for token in side] for side in (claim, sentence))
        steps = SequenceMatcher(None, own, other, autojunk=False).get_opcodes()
        runs = [0, *(b - a if kind == "equal" else 0 for kind, a, b, _, _ in steps)]
        self.gaps = [
            _Gap(claim, sentence, run, *step[1:])
            for run, step in zip(runs, steps, strict=False)
            if step[0] != "equal"
        ]
        facts = {token.text for token in claim if token.kind in ("number", "name")}
        missing = facts - self.there.words
        missing |= {token.text for token in claim if opposite_key(token.text) in opposites}
        beside = (
            zip(claim[a:b], sentence[c:d], strict=True) for s, a, b, c, d in steps if s == "equal"
        )
        # of what the claim's numbers are where the sentence says something else
        self.units = {
            own.of for side in beside for own, other in side if not own.of.agrees(other.of)
        }
        missing |= {token.text for token in claim if token.of in self.units} - self.there.words
        idle = missing | _SOME | _REFUSING
        rest = [t for t in claim if t.kind not in ("negation", "few") and t.text not in idle]
        share = _mean(token.text in self.there.words for token in rest)
        subject = self.gaps[0].subject if self.gaps else ()
        self.share = _mean(t.text in self.there.words for t in rest if t.text not in subject)
        aligned = sum(step[2] - step[1] for step in steps if step[0] == "equal")
        self.fit = share + aligned / max(1, len(claim))

    def other_number(self, everywhere: Measures) -> int:
        own, other = self.here.numbers, self.there.numbers
        numbers = own - other, other - own
        found = [gap for gap in self.gaps if gap.other_number(*numbers, self.there.words)]
        if self._alone(gap.is_only(("number", "few")) for gap in found):
            return 2
        return int(any(gap.tight or gap.has_new(("number", "few"), everywhere) for gap in found))

    @property
    def other_unit(self) -> int:
        if not _other_unit(self.here.measures, self.there.measures):
            return 0
        return 2 if self._alone(self.units) else 1

    def other_name(self, everywhere: Known) -> int:
        found = [gap for gap in self.gaps if gap.other_name(self.here.words, self.there.words)]
        if self._alone(gap.is_only(("name", "opening")) for gap in found):
            return _NAME_ALONE
        if self._alone(gap.only_names(self.here.words, everywhere.names) for gap in self.gaps):
            return _NAME_ALONE
        if self._alone([other_subject(*self.texts, everywhere.names)]):
            return _NAME_ALONE
        return int(any(gap.has_new(("name",), everywhere.words) for gap in found))

    @property
    def opposed(self) -> int:
        return 2 if self._alone(self.opposites) else int(bool(self.opposites))

    @property
    def negated(self) -> int:
        if self._alone(gap.only_negates for gap in self.gaps):
            return 2
        return int(any(gap.negates for gap in self.gaps))

    def _alone(self, found: Iterable[object]) -> bool:
        """Whether such a thing is all that differs where it stands, so that it counts twice.

        Of labelled pairs (training and fitting folds) whose sentence has nearly all other words, a
        number or name differs alone 8 to 22 times as often in unsupported ones as in supported
        ones, at most places about 20, a negation 14 times; another unit does in 14 and in one. With
        words beside it about twice, and not more often at all if the name, or the number of a
        longer difference, stands elsewhere.
        """
        return self.share >= _NEARLY_ALL and any(found)


class _Gap:
    """Words of claim and sentence that differ, between two matching words or at an end."""

    def __init__(
        self, claim: Tokens, sentence: Tokens, run: int, a: int, b: int, c: int, d: int
    ) -> None:
        self.claim, self.sentence = claim[a:b], sentence[c:d]
        self.run = run  # how many matching words are before it
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
        rest = self.sentence if own else self.claim
        refused = any(token.text in _REFUSING for token in rest)  # was unable to, could not
        return self.tight and own != other and not refused

    @property
    def only_negates(self) -> bool:
        """Whether a negation is all that differs here; also at the beginning: "Nobody came.".

        There the subject may have another name: "The old mill did not stop", "It stopped". Of
        labelled pairs 21 unsupported ones have such a subject before a negation and 2 supported
        ones. Where
        the claim leaves out words of the sentence, the last of them may be a negation of what
        follows (41 and 2): "opened in May but did not close", "opened and closed".
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
        if self.before and not self.after:
            near = _texts(other[:_NEXT])
            other = tuple(takewhile(_may_be_name, other))
            if self.run < _RUN or here & set(_texts(other[:1])) or same_name(_texts(own), near):
                return False
            if set(_texts(own)) & set(_texts(self.sentence)):
                return False
        elif self.before and not self.tight:
            return False
        every = own + other
        if not all(map(_may_be_name, every)):
            return False
        if not self.before and not all(t.kind == "name" or t.text in names for t in every):
            return False
        mine, theirs = _texts(own), _texts(other)
        return bool(mine and theirs and not set(mine) & set(theirs) and not same_name(mine, theirs))

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


def _other_unit(own: Measures, others: Measures) -> bool:
    """Whether a number of the claim is there, but only of another unit, power or month."""
    return any(
        number in others
        and not any(here.agrees(there) for here in all_here for there in others[number])
        for number, all_here in own.items()
    )


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
    """True of negations, False of no word or such as "somebody", None if there are other words.

    A word such as "unable" alone negates, too: in three unsupported labelled pairs, in none else.
    """
    negating = [token.kind == "negation" or token.text in _REFUSING for token in tokens]
    others = (token.text for token, no in zip(tokens, negating, strict=True) if not no)
    return any(negating) if _SOME.issuperset(others) else None


def _counts(tokens: Tokens, numbers: Counter[str]) -> bool:
    return any(token.kind == "number" and token.text in numbers for token in tokens)


def _mean(values: Iterable[bool]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0
