"""Pairs whose claim comes from another passage, about the same subject or a similar one.

They are hard to distinguish from supported claims by word overlap: a sentence of another part of
the same article, a sentence of the passage joined with one of another part, and a sentence with
another subject. A pronoun at the start of a sentence mostly refers to the article's subject, so it
is replaced in some pairs to teach that, too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from franq_bench.data.pairs import NEUTRAL, SUPPORTED, UNSUPPORTED, Example, Question
from franq_bench.training import perturb
from franq_guard.faithfulness.small.chunks import sentences
from franq_guard.faithfulness.small.words import words

_PRONOUN: Final = re.compile(r"^(?:He|She|It|They)\b(?= (?!is said|was said)\w)")
_DEPENDENT: Final = re.compile(r"^(?:He|She|It|They|This|These|Those|His|Her|Their|Its|However)\b")


def pairs(question: Question, others: Sequence[Question], rng: random.Random) -> Iterator[Example]:
    """Yield a few pairs of one passage of the search pool.

    Args:
        question: the passage, its title and the same article's other passages.
        others: passages to take another subject's title from.
        rng: decides which.
    """
    shown = f"{question.title}: {question.passage}" if question.title else question.passage
    own = _whole_sentences(question.passage)
    if not own:
        return
    if question.others:
        yield from _of_another_part(question, shown, own, rng)
    title = _plain(question.title)
    if title:
        other = _other_subject(question.passage, title, others, rng)
        yield from _of_the_subject(question, shown, own, title, other, rng)


def _whole_sentences(text: str) -> list[str]:
    """The complete sentences of 6 to 40 words; passages may begin and end inside a sentence."""
    found = [text[a:b] for a, b in sentences(text)]
    return [s for s in found if s[:1].isupper() and s[-1:] == "." and 6 <= len(s.split()) <= 40]


def _of_another_part(
    question: Question, shown: str, own: Sequence[str], rng: random.Random
) -> Iterator[Example]:
    apart = [
        s for s in _whole_sentences(rng.choice(question.others))
        if s not in question.passage and not _DEPENDENT.match(s) and not _mostly_in(s, shown)
    ]  # fmt: skip
    if not apart:
        return
    strange, known = rng.choice(apart), rng.choice(own)
    if rng.random() < 0.5:
        yield Example("generated-elsewhere", shown, strange, NEUTRAL)
        return
    joined = f"{known.rstrip('.')}, and {strange}"
    yield Example("generated-joined", shown, joined, UNSUPPORTED)
    independent = [s for s in own if s != known and not _DEPENDENT.match(s)]
    if independent:
        both = f"{known.rstrip('.')}, and {rng.choice(independent)}"
        yield Example("generated-joined", shown, both, SUPPORTED)


def _of_the_subject(
    question: Question, shown: str, own: Sequence[str], title: str, other: str, rng: random.Random
) -> Iterator[Example]:
    named = [s for s in own if title in s]
    pronouns = [s for s in own if _PRONOUN.match(s)]
    if not other:
        return
    if named and rng.random() < 0.6:
        sentence = rng.choice(named)
        yield Example("generated-subject", shown, sentence, SUPPORTED)
        changed = sentence.replace(title, other)
        yield Example("generated-subject", shown, changed, UNSUPPORTED)
    elif pronouns and question.title and _one_subject(question.passage, title):
        sentence = rng.choice(pronouns)
        for name, label in ((title, SUPPORTED), (other, UNSUPPORTED)):
            claim = name + sentence[len(sentence.split()[0]) :]
            yield Example("generated-subject", shown, claim, label)


def _other_subject(passage: str, title: str, others: Sequence[Question], rng: random.Random) -> str:
    """Another name of the passage, which is harder, or another article's title."""
    own = set(words(title))
    inside = [n for n in perturb.names(passage) if " " in n and not own & set(words(n))]
    if inside and rng.random() < 0.6:
        return rng.choice(inside)
    other = _plain(rng.choice(others).title)
    return "" if set(words(other)) & set(words(passage)) else other


def _one_subject(passage: str, title: str) -> bool:
    """Whether the passage names its subject, so that its pronouns are likely to mean it."""
    return title.split()[-1] in passage


def _plain(title: str) -> str:
    """A title without the part that only distinguishes articles of the same name."""
    return re.sub(r"\s*\([^()]*\)$", "", title).strip()


def _mostly_in(sentence: str, passage: str) -> bool:
    found = words(sentence)
    inside = set(words(passage))
    return sum(word in inside for word in found) > 0.7 * len(found)
