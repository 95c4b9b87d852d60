"""Pairs without labels, which a teacher labels: claims beside texts that they were not written for.

A label exists only where somebody gave one. A teacher has no such limit, and the small network
learns most where its input is hard: beside texts that share many words with the claim, and beside a
single sentence, which the guard shows it too. Every text is of the fold that the labelled pairs
and the passages given here are of.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from franq_bench.data.pairs import SUPPORTED, Example, Question, by_dataset
from franq_bench.data.written import ANSWERS, WRITTEN
from franq_bench.training.generate import stated
from franq_bench.training.items import chosen
from franq_bench.training.recipe import Distillation
from franq_guard.faithfulness.small.chunks import sentences
from franq_guard.faithfulness.small.cut import nearest, stretches
from franq_guard.faithfulness.small.features import word_overlap

UNLABELLED: Final = -1
CROSS, SENTENCE, ELSEWHERE = "unlabelled-cross", "unlabelled-sentence", "unlabelled-elsewhere"
#: Sets of claims as people and language models make them, by the starts of their names.
NATURAL: Final = (
    "begin", "q2", "fm2", "factcheck", "refchecker", "fever", "summedits", "wice",
)  # fmt: skip
_FEWEST: Final = 20  # premises of a set; among fewer none is near
_DRAWN: Final = 60  # premises that a claim is compared with
_COMPARED: Final = 1500  # characters of each
_NEAREST: Final = 2
_OTHERS: Final = 6  # passages of the article that a sentence is compared with


def unlabelled(
    labelled: Sequence[Example],
    read: Sequence[Example],
    questions: Sequence[Question],
    recipe: Distillation,
) -> list[Example]:
    """Return pairs of all three kinds, with the label `UNLABELLED`, as they are read.

    Args:
        labelled: pairs with whole premises.
        read: labelled and made pairs as they are read (`items.chosen`).
        questions: passages, with others of their article.
        recipe: how many.
    """
    rng = random.Random(recipe.seed)  # noqa: S311 - no secret
    crossed = list(_crossed(labelled, recipe.crossed, rng))
    found = elsewhere(questions, recipe.elsewhere, rng)
    # Supported until the texts are chosen: the chunk nearest to the claim is wanted, and sometimes
    # a sentence of the claim alone.
    found = chosen([*crossed, *found], seed=recipe.seed)
    found += beside_sentence(_sources(read, recipe.beside_sentence, rng))
    return [replace(example, label=UNLABELLED) for example in found]


def cross(labelled: Sequence[Example], count: int, rng: random.Random) -> Iterator[Example]:
    """Yield `count` claims of one set, each beside the two nearest of 60 other premises of it."""
    premises = sorted({e.premise for e in labelled})
    if len(premises) < _FEWEST:
        return
    for example in rng.sample(labelled, min(count, len(labelled))):
        claim = example.hypothesis
        drawn = rng.sample(premises, min(_DRAWN, len(premises)))
        others = [p for p in drawn if p != example.premise]
        others.sort(key=lambda premise: -word_overlap(claim, premise[:_COMPARED]))
        for premise in others[:_NEAREST]:
            yield Example(CROSS, premise, claim, SUPPORTED)


def _crossed(labelled: Sequence[Example], count: int, rng: random.Random) -> Iterator[Example]:
    for dataset, rows in by_dataset(labelled).items():
        if dataset.startswith((*NATURAL, WRITTEN)):
            yield from cross(rows, count, rng)


def beside_sentence(read: Sequence[Example]) -> list[Example]:
    """Return each claim beside the sentence of its text that is nearest to it.

    Texts of one sentence are left out.
    """
    found = []
    for example in read:
        parts = [example.premise[a:b] for a, b in stretches(example.premise)]
        if len(parts) > 1:
            best = parts[nearest(example.hypothesis, parts)[0]]
            found.append(Example(SENTENCE, best, example.hypothesis, SUPPORTED))
    return found


def _sources(read: Sequence[Example], counts: tuple[int, int], rng: random.Random) -> list[Example]:
    """All natural pairs, and so many of the written and of the made ones."""
    natural = [e for e in read if e.dataset.startswith(NATURAL)]
    written = [e for e in read if e.dataset.startswith((WRITTEN, ANSWERS))]
    made = [e for e in read if e.dataset.startswith("generated-")]
    for rows, count in zip((written, made), counts, strict=True):
        natural += rng.sample(rows, min(count, len(rows)))
    return natural


def elsewhere(questions: Sequence[Question], count: int, rng: random.Random) -> list[Example]:
    """Return sentences of passages beside the nearest of up to six others of the same article.

    Half of them as the guard's splitter would state them. Only passages of the search pool are
    used, because the passages beside a question's are of other articles, and maybe of other folds.
    `count` are tried; passages without a whole sentence of 6 to 40 words give none.
    """
    pool = [q for q in questions if not q.question and q.others]
    found = []
    for _ in range(count if pool else 0):
        question = rng.choice(pool)
        texts = [question.passage[a:b] for a, b in sentences(question.passage)]
        fit = [t for t in texts if 6 <= len(t.split()) <= 40 and not t.endswith("?")]
        if fit:
            claim = rng.choice(fit)
            claim = rng.choice(stated(claim)) if rng.random() < 0.5 else claim
            others = rng.sample(question.others, min(_OTHERS, len(question.others)))
            best = max(others, key=lambda text: word_overlap(claim, text))
            found.append(Example(ELSEWHERE, best, claim, SUPPORTED))
    return found
