"""Finds a claim that tells as a fact what its sentence says is planned, alleged or possible.

"Ann opened a bakery" beside "Ann plans to open a bakery", "the tea interacts with blood thinners"
beside "the tea could interact with blood thinners": all content words are there, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.differences.roles import twists
from franq_guard.faithfulness.small.words import LONGEST_SENTENCE, STOPWORDS, stem

_OPERATORS: Final = word_set(
    # wanted: it has not happened yet
    "plan plans planned planning intend intends intended intending hope hopes hoped hoping want "
    "wants wanted wish wishes wished aim aims aimed seek seeks sought expect expects expected "
    "expecting scheduled slated promise promises promised vow vowed pledge pledged offer offers "
    "offered threaten threatens threatened draft bill motion candidate tentative tentatively "
    # asked for, or thought about
    "propose proposes proposed proposal proposals recommend recommends recommended recommending "
    "suggest suggests suggested urge urges urged advise advises advised demand demands demanded "
    "ask asks asked request requested should considering examine examined discuss discussed "
    # said or believed by somebody
    "suspect suspects suspected allege alleges alleged allegedly claim claims claimed accuse "
    "accuses accused argue argues argued insist insists insisted maintain maintains say says said "
    "believe believes believed think thinks thought assume assumed presume presumed reputed "
    "reputedly purported purportedly supposed supposedly rumour rumours rumoured rumor rumors "
    "rumored speculate speculation hypothesise hypothesised hypothesized hypothesis fear fears "
    "feared worry worries worried advertised advertises marketed critics pretend pretended myth "
    "legend legendary self-styled "
    # possible
    "may might could possibly perhaps probably likely unlikely potential potentially predict "
    "predicted forecast whether wonder wonders unclear uncertain "
    "unconfirmed disputed doubt doubts "
    # it did not happen ("failed to" and its like are read as negations)
    "deny denies denied dismiss dismissed try tries tried attempt attempts attempted almost nearly "
    "narrowly tempted inclined"
)
_OWN: Final = _OPERATORS | word_set(
    "according considered forecasts meant set suspicion view opinion if can will would must asks "
    "promising expectation assumption allegation allegations plausible possible probable fail "
    "fails failed refuse refuses refused decline declines declined reject rejects rejected"
)
"""Words by which a claim says itself that it tells no fact."""
_WORD: Final = re.compile(r"[a-z]+(?:['’-][a-z]+)*|\d[\d.,]*|[;:.!?()—–]")
_ENDS: Final = frozenset(";:.!?()—–")
_MOST: Final = 0.6
"""Of the claim's words that the sentence has, so many stand behind the operator."""


def told_as_fact(claim: str, sentence: str) -> bool:
    """Whether a word like "plans" governs in the sentence what the claim tells as a fact.

    The claim has the content word behind the operator and most of the words behind that, and no
    operator of its own. Of labelled pairs (training and fitting folds) whose sentence has nearly
    all of the claim's words 42 unsupported and 33 supported ones of other people's sets are so, 1.8
    and .5 percent, 49 and 7 of ours; where it has fewer of them this says nothing.

    Args:
        claim: a sentence. One that negates or limits what it says is none of these.
        sentence: the one of the context nearest to it.
    """
    own = _WORD.findall(claim.lower())
    if twists(claim) or not _OWN.isdisjoint(own):
        return False
    stated = _content(own)
    words = _WORD.findall(sentence.lower())
    found = stated & _content(words)
    return len(words) <= LONGEST_SENTENCE and any(
        _next(behind) in stated and len(stated & _content(behind)) >= _MOST * len(found)
        for behind in _governed(words)
    )


def _governed(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """For each operator of a sentence: the words behind it, up to the end of the clause."""
    for at, word in enumerate(words, 1):
        if word in _OPERATORS:
            end = next((n for n in range(at, len(words)) if words[n] in _ENDS), len(words))
            yield words[at:end]


def _next(words: Sequence[str]) -> str | None:
    """The stem of the first content word that is no operator."""
    idle = STOPWORDS | _OPERATORS
    return next((stem(word) for word in words if word not in idle), None)


def _content(words: Sequence[str]) -> set[str]:
    return {stem(word) for word in words if word not in STOPWORDS and word[0].isalnum()}
