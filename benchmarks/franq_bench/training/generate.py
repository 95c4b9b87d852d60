"""Labelled pairs made from passages: changed sentences, left-out sentences, questions with answers.

A changed pair comes with its mirror image, so that neither the claim alone nor the passage alone
reveals the label: (passage, sentence) and (changed passage, changed sentence) are supported,
(passage, changed sentence) and (changed passage, sentence) are not. What is asked is the sentence,
or one of the claims that the guard would split it into.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

from franq_bench.data.pairs import (
    CONTRADICTED,
    NEUTRAL,
    SUPPORTED,
    UNSUPPORTED,
    Example,
    Question,
)
from franq_bench.training import neighbours, perturb
from franq_guard.claims import RuleSplitter
from franq_guard.faithfulness.small.chunks import sentences
from franq_guard.faithfulness.small.words import words

_SPLITTER: Final = RuleSplitter()
_KINDS: Final = ("number", "name", "negation", "unit", "opposite", "roles", "left out")
_WEIGHTS: Final = (5, 5, 3, 3, 3, 3, 4)


def generated(questions: Sequence[Question], *, count: int, seed: int) -> list[Example]:
    """Return about `count` pairs made from the passages of `questions`, shuffled by `seed`.

    Half of them from passages with a question, half from the search pool's, where there are both.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    names = sorted({n for q in questions for n in perturb.names(q.passage)})
    groups = [[q for q in questions if bool(q.question) == asked] for asked in (True, False)]
    groups = [group for group in groups if group]
    found: list[Example] = []
    for group in groups:
        found += _of_group(group, names, count // len(groups), rng)
    rng.shuffle(found)
    return found


def _of_group(
    group: Sequence[Question], names: Sequence[str], count: int, rng: random.Random
) -> list[Example]:
    order = list(group)
    found: list[Example] = []
    barren = 0  # rounds without a new pair; with few questions some occur by chance
    while len(found) < count and barren < 50:
        rng.shuffle(order)
        before = len(found)
        for question in order:
            found.extend(_of_question(question, group, names, rng))
            if len(found) >= count:
                break
        barren += len(found) == before
    return found[:count]


def _of_question(
    question: Question, questions: Sequence[Question], pool: Sequence[str], rng: random.Random
) -> Iterator[Example]:
    spans = sentences(question.passage)
    fit = [(a, b) for a, b in spans if 6 <= len(question.passage[a:b].split()) <= 45]
    for start, end in rng.sample(fit, min(2, len(fit))):
        yield from _changed(question, start, end, pool, rng)
    if question.question:
        yield from _answered(question, questions, rng)
    elif rng.random() < 0.5:
        yield from neighbours.pairs(question, questions, rng)


def _changed(
    question: Question, start: int, end: int, pool: Sequence[str], rng: random.Random
) -> Iterator[Example]:
    passage, sentence = question.passage, question.passage[start:end]
    if rng.random() < 0.35:
        sentence = rng.choice(stated(sentence))
    kind = rng.choices(_KINDS, _WEIGHTS)[0]
    left, right = _window(passage, start, end, rng)
    if kind == "left out":
        rest = f"{left} {right}".strip()
        if rest:
            yield Example("generated-left-out", rest, perturb.rewrite(sentence, rng), NEUTRAL)
        return
    if kind == "name":
        changed = perturb.name(sentence, passage, pool, rng)
    else:
        changed = perturb.CHANGES[kind](sentence, passage, rng)
    if changed is None or words(changed) == words(sentence):
        return
    label = UNSUPPORTED if kind in {"name", "number", "roles"} else CONTRADICTED
    whole = passage[start:end]
    if sentence != whole and rng.random() < 0.7:
        other, shown = "", f"{left} {whole} {right}".strip()  # a changed claim has no such passage
    else:
        other, shown = f"{left} {changed} {right}".strip(), f"{left} {sentence} {right}".strip()
    dataset = f"generated-{kind}"
    same = rng.random()  # rewrite both alike: the rewriting must not reveal the label
    claims = [
        perturb.rewrite(text, random.Random(same))  # noqa: S311
        for text in (sentence, changed)
    ]
    if words(claims[0]) == words(claims[1]):
        return
    if not other or rng.random() < 0.7:
        yield Example(dataset, shown, claims[0], SUPPORTED)
        yield Example(dataset, shown, claims[1], label)
    else:
        yield Example(dataset, other, claims[1], SUPPORTED)
        yield Example(dataset, other, claims[0], label)


def stated(sentence: str) -> list[str]:
    """Return the claims that the guard's splitter makes of a sentence; the sentence if none."""
    return [
        claim.text
        for claim in _SPLITTER.split(sentence)
        if claim.not_a_claim is None and len(claim.text.split()) > 3
    ] or [sentence]


def _window(passage: str, start: int, end: int, rng: random.Random) -> tuple[str, str]:
    """Return the text before and after the sentence: all of it, or up to two sentences each."""
    if rng.random() < 0.25:
        return passage[:start].strip(), passage[end:].strip()
    spans = sentences(passage)
    before = [passage[a:b] for a, b in spans if b <= start]
    after = [passage[a:b] for a, b in spans if a >= end]
    return " ".join(before[-rng.randint(0, 2) :][:2]), " ".join(after[: rng.randint(0, 2)])


def _answered(
    question: Question, questions: Sequence[Question], rng: random.Random
) -> Iterator[Example]:
    """Question + answer as the claim (FRANQ's short form), and now and then the bare answer."""
    short = [a for a in question.answers if 0 < len(a.split()) <= 12]
    if not short or rng.random() < 0.5:
        return
    answer = rng.choice(short)
    wrong = _wrong_answer(question, answer, questions, rng)
    bare = rng.random() < 0.1
    head = "" if bare else question.question + (" " if rng.random() < 0.5 else "? ")
    yield Example("generated-answer", question.passage, head + answer, SUPPORTED)
    if wrong is not None:
        yield Example("generated-answer", question.passage, head + wrong, UNSUPPORTED)
    if question.others and rng.random() < 0.4:
        other = rng.choice(question.others)
        yield Example("generated-answer", other, head + answer, UNSUPPORTED)


def _wrong_answer(
    question: Question, answer: str, questions: Sequence[Question], rng: random.Random
) -> str | None:
    """Return another name or figure of the passage or, for a third, another question's answer."""
    right = {w for a in question.answers for w in words(a)}
    figures = any(c.isdigit() for c in answer)
    found = perturb.NUMBER.findall(question.passage) if figures else perturb.names(question.passage)
    inside = [n for n in found if not right & set(words(n))]
    if figures and rng.random() < 0.3:
        changed = perturb.number(answer, question.passage, rng)
        inside = [changed] if changed and changed not in question.answers else inside
    if inside and rng.random() < 0.7:
        return rng.choice(inside)
    other = rng.choice(rng.choice(questions).answers or ("",))
    return other if other and not right & set(words(other)) else None
