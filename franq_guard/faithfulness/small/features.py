"""Features that count the overlap of a claim with a passage, as extra input for the encoder.

Small encoders are bad at counting which content words, numbers and names of the claim are missing
from the passage; code does it exactly.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from franq_guard.faithfulness.small.replies import SAYS_NO
from franq_guard.faithfulness.small.words import NEGATIONS, STOPWORDS, stem, words

FEATURES: Final = (
    "content",  # share of the claim's content stems that occur in the passage
    "exact",  # the same for unstemmed content words
    "bigrams",  # share of the claim's word pairs that occur side by side in the passage
    "run",  # longest run of claim words found in the passage, divided by the claim's length
    "numbers",  # share of the claim's numbers found; 1 without numbers
    "numbers_missing",  # numbers not found, at most 3, divided by 3
    "names",  # share of the claim's capitalised words found; 1 without
    "negation",  # 1 where only one of claim and passage negates
    "claim_length",  # log of the claim's number of words, divided by 4
    "passage_length",  # log of the passage's number of words, divided by 6
)

_CAPITALISED: Final = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w-]+")


@dataclass(frozen=True, slots=True)
class Profile:
    """What the features need to know of a text, computed once for each distinct text."""

    words: tuple[str, ...]
    distinct: frozenset[str]
    content: frozenset[str]
    stems: frozenset[str]
    all_stems: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    numbers: frozenset[str]
    names: frozenset[str]
    negated: bool


@lru_cache(maxsize=4096)
def profile(text: str) -> Profile:
    """Return the words, numbers and names of `text`."""
    found = tuple(words(text))
    distinct = frozenset(found)
    content = distinct - STOPWORDS
    return Profile(
        words=found,
        distinct=distinct,
        content=content,
        stems=frozenset(map(stem, content)),
        all_stems=frozenset(map(stem, distinct)),
        pairs=frozenset(pairwise(found)),
        numbers=frozenset(w for w in distinct if w[0].isdigit()),
        names=frozenset(w.lower() for w in _CAPITALISED.findall(text)),
        negated=_negates(text, distinct),
    )


def _negates(text: str, found: frozenset[str]) -> bool:
    if "no" in found:
        found = frozenset(words(SAYS_NO.sub(" ", text)))
    return not NEGATIONS.isdisjoint(found) or "n't" in text or "n’t" in text


def features(claim: str, passage: str) -> list[float]:
    """Return the values of `FEATURES` for one pair, each about in [0, 1]."""
    c, p = profile(claim), profile(passage)
    missing = len(c.numbers - p.numbers)
    return [
        _share(len(c.stems & p.all_stems), len(c.stems)),
        _share(len(c.content & p.content), len(c.content)),
        _share(len(c.pairs & p.pairs), len(c.pairs)),
        _share(_longest_run(c, p), len(c.words)),
        _share(len(c.numbers) - missing, len(c.numbers)),
        min(missing, 3) / 3,
        _share(len(c.names & p.distinct), len(c.names)),
        float(c.negated != p.negated),
        math.log1p(len(c.words)) / 4,
        math.log1p(len(p.words)) / 6,
    ]


def overlap(claim: str, passage: str) -> float:
    """Return the sum of `content` and `bigrams` of :func:`features`, in [0, 2]."""
    c, p = profile(claim), profile(passage)
    return _share(len(c.stems & p.all_stems), len(c.stems)) + _share(
        len(c.pairs & p.pairs), len(c.pairs)
    )


def word_overlap(claim: str, passage: str) -> float:
    """Return the share of the claim's content words found in the passage, a simple baseline."""
    c, p = profile(claim), profile(passage)
    return _share(len(c.content & p.distinct), len(c.content))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _longest_run(claim: Profile, passage: Profile) -> int:
    best = run = 0
    previous = ""
    for word in claim.words:
        adjacent = run > 0 and (previous, word) in passage.pairs
        run = run + 1 if adjacent else int(word in passage.distinct)
        best = max(best, run)
        previous = word
    return best
