"""Tells whether two passages are about different things of one kind: two plans, years, people.

"Plan Team costs 19 euros." reads as a contradiction of "Plan Basic costs 4 euros.", which another
passage states. It is none: each passage is about its own plan. In a true disagreement what both are
about is the same, and one fact that is told of it differs. So two passages do not disagree

- where the claim names what its passage is about ("Basic"), and the other passage is about another
  name or number instead ("Team");
- where two facts of the claim differ, as in "40 were sold in 2016." and "62 were sold in 2017.";
- where two sentences run parallel but differ in two places (:mod:`.variants`);
- where what they are about has a word in common and one of its own each: "The early ferry is small.
  It takes an hour.", "The late ferry is new. It takes two.";
- where they are about two grades of an offer: "Harvest", "Harvest Plus" (:mod:`.grades`).

But they may disagree if the answer is about the other thing: what it says of the late ferry is not
stated by a passage on the early one.

What a sentence is about are the names and numbers before its verb; if there are none, those of the
sentences before it, and of the title.
"""

from __future__ import annotations

from collections.abc import Set

from franq_guard.faithfulness.small.tokens import known, tokens
from franq_guard.faithfulness.small.words import calendar_word
from franq_guard.records import Passage
from franq_guard.signals.grades import are_grades
from franq_guard.signals.topics import (
    NAMES_AND_NUMBERS,
    Facts,
    Sentence,
    content,
    facts,
    nearest,
    read,
    stems,
)
from franq_guard.signals.variants import are_variants

__all__ = ["are_siblings"]


def are_siblings(claim: str, stating: Passage, other: Passage, *, said: str = "") -> bool:
    """Whether ``other`` is about another thing than ``stating``, which states the claim.

    Each of the module's five rules is enough. They compare the claim with the sentence of ``other``
    that is nearest to it.

    Args:
        claim: a sentence.
        stating: the passage that states it.
        other: the passage that seems to contradict it.
        said: what was said before the claim, by which one knows what the claim is about.
    """
    if are_grades(claim, stating, other, said=said):
        return True
    if _is_about(f"{said} {claim}", stating, other):
        return False
    near = read(other.text)[nearest(claim, other.text)].text
    return (
        are_variants(claim, near)
        or _other_name(claim, stating, other)
        or _two_facts(claim, near, stating, other)
        or _other_topic(claim, stating, other)
    )


def _is_about(said: str, stating: Passage, other: Passage) -> bool:
    """Whether the last word of what is said that tells the passages apart is of ``other``."""
    own, others = _topics(stating) - stems(_whole(other)), _topics(other) - stems(_whole(stating))
    words = reversed([word.stem for word in content(said)])
    return next((word in others for word in words if word in own | others), False)


def _topics(passage: Passage) -> frozenset[str]:
    return stems(passage.title).union(*(one.topic for one in read(passage.text)))


def _other_name(claim: str, stating: Passage, other: Passage) -> bool:
    """Whether ``other`` lacks what the claim names and is about one that ``stating`` lacks."""
    lacking = _lacking(claim, stating, other)
    kinds = {number for fact, number in _topic(claim, stating).items() if fact in lacking}
    own = known(_whole(stating)).words
    instead = _topic(claim, other) if kinds else {}
    return any(number in kinds for fact, number in instead.items() if fact not in own)


def _two_facts(claim: str, near: str, stating: Passage, other: Passage) -> bool:
    """Whether each lacks two names and numbers of the other: of the claim, of the sentence."""
    instead = known(near).words - known(_whole(stating)).words
    return _has_two(claim, _lacking(claim, stating, other)) and _has_two(near, instead)


def _other_topic(claim: str, stating: Passage, other: Passage) -> bool:
    """Whether the passages are about one kind of thing where they are compared, but not the same.

    That is so if the topics share a word, and each has one that the other passage lacks, as in "the
    early ferry" and "the late ferry". What is told must differ, too: "A big fire destroyed the
    hall." and "A small fire destroyed the hall." disagree.
    """
    own, theirs = _governing(claim, stating), _governing(claim, other)
    return bool(
        own.kind & theirs.kind
        and own.topic - stems(_whole(other))
        and theirs.topic - stems(_whole(stating))
        and own.told != theirs.told
    )


def _governing(claim: str, passage: Passage) -> Sentence:
    """The sentence nearest to the claim or, if it begins with "it" or "its", the one it refers to.

    After "The inn's bar is small.", "its" may be the bar's or the inn's, but "it" is the bar.
    """
    found = read(passage.text)[: nearest(claim, passage.text) + 1]
    about = next((one for one in reversed(found) if one.topic), found[-1])
    return about if found[-1].owned else about._replace(kind=about.topic)


def _whole(passage: Passage) -> str:
    return f"{passage.title}. {passage.text}"


def _lacking(claim: str, stating: Passage, other: Passage) -> Set[str]:
    """The words of the claim that ``stating`` has and ``other`` lacks."""
    own, others = (known(_whole(one)).words for one in (stating, other))
    return (known(claim).words & own) - others


def _topic(claim: str, passage: Passage) -> Facts:
    """The names and numbers that the sentence nearest to the claim is about."""
    found = read(passage.text)
    place = nearest(claim, passage.text)
    if found[place].facts:
        return found[place].facts
    before = [facts(passage.title), *(one.facts for one in found[:place])]
    return {fact: number for one in before for fact, number in one.items()}


def _has_two(text: str, among: Set[str]) -> bool:
    """Whether two names or numbers of a text are ``among`` these words; a date is one of them."""
    found = 0
    before = None
    for token in tokens(text):
        if token.kind not in NAMES_AND_NUMBERS or token.text not in among:
            before = None
            continue
        goes_on = before is not None and (
            token.kind == before.kind == "name"
            or calendar_word(before.text)
            or calendar_word(token.text)
        )
        found += not goes_on
        before = token
    return found > 1
