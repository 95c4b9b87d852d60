"""Detects facts of a claim that replace another fact in the sentence nearest to it.

Claim and sentence are aligned word by word. If only one number or name differs and all other words
agree, that fact was probably changed; in a paraphrase, many other words differ as well. An encoder
that reads whole texts often misses such a change, especially if the wrong fact occurs elsewhere in
the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, NamedTuple

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.differences.as_fact import told_as_fact
from franq_guard.faithfulness.small.differences.crossed import crosses
from franq_guard.faithfulness.small.differences.derived import (
    computed,
    stated_differences,
    stated_years,
    states_a_case,
)
from franq_guard.faithfulness.small.differences.ellipsis import denied_of_another
from franq_guard.faithfulness.small.differences.excepted import excepted
from franq_guard.faithfulness.small.differences.exchanged import exchanged, lists_differently
from franq_guard.faithfulness.small.differences.frequencies import other_frequency
from franq_guard.faithfulness.small.differences.gaps import SOME, Gap
from franq_guard.faithfulness.small.differences.opposites import opposed, opposite_key
from franq_guard.faithfulness.small.differences.range_ends import other_end
from franq_guard.faithfulness.small.differences.ranked import outranks
from franq_guard.faithfulness.small.differences.roles import turned_round
from franq_guard.faithfulness.small.differences.spliced import spliced
from franq_guard.faithfulness.small.differences.subjects import other_subject
from franq_guard.faithfulness.small.differences.swapped import swapped
from franq_guard.faithfulness.small.tokens import (
    Known,
    Measures,
    Token,
    Tokens,
    counts,
    known,
    measured,
    tokens,
)
from franq_guard.faithfulness.small.words import stem


class Replaced(NamedTuple):
    """What a claim has in place of what the sentence nearest to it says.

    Each value is 0 if nothing was found, else the share of the claim's other content words that the
    sentence contains; twice that where a number, opposite or negation is all that differs, or two
    words changed places, three times where a name is, or only two parts did.
    """

    number_replaced: float = 0.0
    """A number or its unit is another one there, or a fact is said of another thing (`crossed`)."""
    name_replaced: float = 0.0
    """The same for a name."""
    negation_added: float = 0.0
    """Only one of the two is negated where they differ, or has the opposite word."""
    number_unknown: float = 0.0
    """A number of the claim, or it with its unit, is nowhere in the context."""
    words_exchanged: float = 0.0
    """Two words or parts of the claim, or the sides of a relation, are in each other's places."""
    told_as_fact: float = 0.0
    """It tells as a fact what is only planned, alleged or possible there; never more than 1."""


REPLACED: Final = Replaced._fields
_NEARLY_ALL: Final = 0.8
"""What differs is all that differs only if the sentence has so many of the claim's other words."""
_FREQUENCY_TOLD: Final = 0.65
"""Another frequency counts if the sentence has so many of the claim's other words: of labelled
pairs so alike 12 are unsupported and one is supported (`other_frequency`)."""
_RANGE_TOLD: Final = 0.5
"""The same for the other end of a range: 3 unsupported ones, none supported. No pair has another
rank (`outranks`)."""
_OF_ANOTHER: Final = 3
"""What the sentence says of another thing, where logic alone shows it: a part of it (`spliced`),
the other end of a range, another rank. Of labelled pairs so are 15 unsupported ones."""
_NAME_ALONE: Final = 3
"""A name that alone differs is in 175 unsupported natural claims and 5 supported ones, one beside
other words in 180 and 69: the logarithm of the odds is more than three times as large."""
_PARTS_ALONE: Final = 3
"""Parts in each other's places are all that differs in 152 unsupported labelled pairs and one
supported one (`swapped`)."""
_EXCEPTING: Final = re.compile(r"\b(?:only|unless|except|otherwise)\b", re.IGNORECASE)
"""Words that turn a negation round: "only if" is "not unless"."""
_LIMITING: Final = frozenset(
    opposite_key(stem(word))
    for word in word_set(
        "over under above below more less fewer most least longer shorter later earlier older "
        "younger higher lower larger smaller bigger heavier lighter taller"
    )
)
"""Opposites that only say which side of a limit is meant, not what holds there."""
_ASKS: Final = re.compile(r"\?|^\W*(?:who|whom|whose|what|when|where|which|why|how)\b[^,]*$", re.I)
"""A question, which states nothing and has another word order; an answer may follow it."""


def replaced(claim: str, sentences: Sequence[str], context: str) -> Replaced:
    """Return what a claim replaces.

    Args:
        claim: a sentence. A question replaces nothing.
        sentences: those of the context nearest to the claim; the best match is compared.
        context: the whole text that may support the claim.
    """
    best = _best(claim, tuple(sentences))
    if best is None:
        return Replaced()
    everywhere = known(context)
    other_unit = best.other_unit
    signs = (
        max(best.other_number(everywhere), other_unit),
        best.other_name(everywhere),
        best.opposed or best.negated,
        bool(best.here.numbers.keys() - everywhere.measures.keys())
        or (other_unit > 0 and _other_unit(best.here.measures, everywhere.measures)),
        best.in_other_places(context),
        best.told_as_fact,
    )
    return Replaced(*(best.share * sign for sign in signs))


def best_match(claim: str, sentences: Sequence[str]) -> str | None:
    """The sentence that :func:`replaced` compares a claim with; None if it compares none."""
    best = _best(claim, tuple(sentences))
    return None if best is None else best.texts[1]


@lru_cache(maxsize=1024)  # a score and the three classes of a claim need the same alignment
def _best(claim: str, sentences: tuple[str, ...]) -> _Pair | None:
    own = tuple(token for token in tokens(claim) if token.kind != "pronoun")
    if not own or not sentences or _ASKS.search(claim):
        return None
    return max((_Pair(own, claim, sentence) for sentence in sentences), key=lambda pair: pair.fit)


class _Side:
    """The words of one of the two texts."""

    def __init__(self, tokens: Tokens) -> None:
        self.words = frozenset(token.text for token in tokens)
        self.numbers = Counter(token.text for token in tokens if token.kind == "number")
        self.measures = measured(tokens)
        self.counts = counts(tokens)


class _Pair:
    """Claim and sentence, aligned word by word.

    ``share`` is how many of the claim's words that do not differ the sentence has, ``fit`` how well
    the two match.

    Args:
        claim: its words without pronouns.
        claimed: the claim.
        said: the sentence.
    """

    def __init__(self, claim: Tokens, claimed: str, said: str) -> None:
        sentence = tokens(said)
        derived = stated_differences(claimed, measured(sentence)) | stated_years(claimed, said)
        claim = tuple(t for t in claim if t.kind != "number" or t.text not in derived)
        self.texts = claimed, said
        self.opposites = opposed(claimed, said)
        self.here, self.there = _Side(claim), _Side(sentence)
        self.order = [t.text for t in claim], [t.text for t in sentence]
        steps = SequenceMatcher(None, *self.order, autojunk=False).get_opcodes()
        self.gaps = list(_gaps(claim, sentence, steps))
        matching = [
            pair
            for kind, a, b, c, d in steps
            if kind == "equal"
            for pair in zip(claim[a:b], sentence[c:d], strict=True)
        ]
        # of what the claim's numbers are where the sentence says something else
        self.units = {own.of for own, other in matching if not own.of.agrees(other.of)}
        alike = self._alike(claim)
        subject = self.gaps[0].subject if self.gaps else ()
        self.share = self._stated(token for token in alike if token.text not in subject)
        self.fit = self._stated(alike) + len(matching) / max(1, len(claim))

    def _alike(self, claim: Tokens) -> list[Token]:
        """The claim's words but for facts, units and opposites that differ, and little ones."""
        there = self.there.words
        differing = {
            token.text
            for token in claim
            if (
                token.text not in there
                and (token.kind in ("number", "name") or token.of in self.units)
            )
            or opposite_key(token.text) in self.opposites
        }
        idle = differing | SOME
        return [t for t in claim if t.kind not in ("negation", "few") and t.text not in idle]

    def _stated(self, words: Iterable[Token]) -> float:
        """How many of some words the sentence has; 0 of none."""
        found = [token.text in self.there.words for token in words]
        return sum(found) / len(found) if found else 0.0

    def other_number(self, everywhere: Known) -> int:
        if self.share >= _NEARLY_ALL and crosses(*self.texts):
            return 2
        if self.share >= _FREQUENCY_TOLD and other_frequency(*self.texts):
            return 2
        if self.share >= _RANGE_TOLD and (other_end(*self.texts) or outranks(*self.texts)):
            return _OF_ANOTHER
        own, other = self.here.numbers, self.there.numbers
        numbers = own - other, other - own
        found = [gap for gap in self.gaps if gap.other_number(*numbers, self.there.words)]
        if self._alone(
            gap.is_only(("number", "few")) or gap.ends_with_other_number(*numbers) for gap in found
        ):
            return 1 if self._derived(everywhere) else 2
        if any(gap.tight or gap.has_new(("number", "few"), everywhere.measures) for gap in found):
            return 1
        if not self._counts_otherwise(everywhere):
            return 0
        return 2 if self.share >= _NEARLY_ALL else 1

    def _counts_otherwise(self, everywhere: Known) -> bool:
        """Whether the sentence counts by another number what the claim counts, wherever both stand.

        "For three days it keeps" and "It keeps well for four days": an alignment pairs no numbers.
        Of labelled pairs in which it pairs none, 7 unsupported ones count otherwise and no
        supported one where the sentence has nearly all of the claim's other words, else 43 and 9.
        """
        own = self.here.counts - everywhere.counts
        return any(
            number not in self.there.numbers
            and any(word == noun and n not in self.here.numbers for n, word in self.there.counts)
            for number, noun in own
        )

    def _derived(self, everywhere: Known) -> bool:
        """Whether a number that stands nowhere is the claim's own: of a case, or computed.

        Of labelled claims of answers (training fold) in which it is all that differs 4 unsupported
        and 10 supported ones are so.
        """
        new = self.here.numbers.keys() - everywhere.measures.keys()
        others = [*(self.here.numbers.keys() - new), *self.there.measures]
        return bool(new) and (
            states_a_case(self.texts[0]) or all(computed(number, others) for number in new)
        )

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
        alone = self._alone(self.opposites) and not (self._turned and self.opposites - _LIMITING)
        return 2 if alone else int(bool(self.opposites))

    @property
    def negated(self) -> int:
        """Whether only one of the two is negated; 2 where that is all that differs.

        "Stored only if you agree" is "not stored unless you agree". Of labelled claims of answers
        (training fold) that differ in such a word as well, or in the side of a limit, 9 are
        unsupported and 12 supported; of the other sets 7 and 1.
        """
        if denied_of_another(*self.texts) or self._alone([excepted(*self.texts)]):
            return 2
        excepts = {frozenset(map(str.lower, _EXCEPTING.findall(text))) for text in self.texts}
        if self._alone(gap.only_negates for gap in self.gaps):
            return 1 if self._turned or len(excepts) > 1 else 2
        return int(any(gap.negates for gap in self.gaps))

    @property
    def _turned(self) -> bool:
        """Whether a number is a lower limit in one text and an upper one in the other.

        Then what they say of it may be turned, too: "under 18 you cannot", "from 18 on you can".
        """
        mine, theirs = self.here.measures, self.there.measures
        return any(
            here.limit.turns(there.limit)
            for number in mine.keys() & theirs.keys()
            for here in mine[number]
            for there in theirs[number]
        )

    @property
    def told_as_fact(self) -> bool:
        return self.share >= _NEARLY_ALL and told_as_fact(*self.texts)

    def in_other_places(self, context: str) -> int:
        if swapped(*self.texts):
            return _PARTS_ALONE
        if spliced(*self.texts):
            return _OF_ANOTHER
        return 2 if self.exchanged or turned_round(*self.texts, context) else 0

    @property
    def exchanged(self) -> bool:
        """Whether two words changed places.

        In a passive, in a list, or around an opposite ("before", "after"), they may do so without a
        change of meaning.
        """
        passive = [" by " in text for text in self.texts]
        alike = passive[0] == passive[1] and not self.opposites
        return alike and exchanged(*self.order) and not lists_differently(*self.texts)

    def _alone(self, found: Iterable[object]) -> bool:
        """Whether such a thing is all that differs where it stands, so that it counts more.

        Of labelled pairs (training and fitting folds) whose sentence has nearly all other words, a
        number or name differs alone 8 to 22 times as often in unsupported ones as in supported
        ones, at most places about 20, a negation 14 times; another unit does in 14 and in one. With
        words beside it about twice, and not more often at all if the name, or the number of a
        longer difference, stands elsewhere.
        """
        return self.share >= _NEARLY_ALL and any(found)


def _other_unit(own: Measures, others: Measures) -> bool:
    """Whether a number of the claim is there, but only of another unit, power or month."""
    return any(
        number in others
        and not any(here.agrees(there) for here in all_here for there in others[number])
        for number, all_here in own.items()
    )


def _gaps(
    claim: Tokens, sentence: Tokens, steps: Iterable[tuple[str, int, int, int, int]]
) -> Iterator[Gap]:
    """What differs between the two, by the steps of their alignment."""
    run = 0  # matching words before
    for kind, a, b, c, d in steps:
        if kind != "equal":
            yield Gap(claim, sentence, run, a, b, c, d)
        run = b - a if kind == "equal" else 0
