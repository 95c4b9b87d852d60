"""The pairs that a teacher reads and labels, and what of them an epoch draws.

They are chosen once: the teacher labels each pair a single time, and the small network reads those
texts that were labelled.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from franq_bench.data.pairs import SOURCES, Example, Question, by_dataset
from franq_bench.data.written import ANSWERS, WRITTEN
from franq_bench.training.generate import generated
from franq_bench.training.items import chosen, wanted
from franq_bench.training.recipe import Distillation, Recipe
from franq_bench.training.unlabelled import UNLABELLED, unlabelled


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs as they are read: the claim, and the part of its text that is shown.

    `rows` has the rows of each labelled set, those that are not kept included.
    """

    kept: Sequence[Example]
    rows: Mapping[str, int]

    def drawn(self, recipe: Recipe, *, seed: int, without_labels: bool) -> list[int]:
        """Return the places of one epoch's pairs, shuffled.

        Each labelled set counts by its weight and cap in `SOURCES`, of those that others made the
        share `recipe.repeated`; `recipe.generated` are made ones; pairs without labels all are
        read, or none.
        """
        rng = random.Random(seed)  # noqa: S311 - no secret
        by_source: dict[str, list[int]] = {}
        made: list[int] = []
        found: list[int] = []
        for place, example in enumerate(self.kept):
            if example.dataset in self.rows:
                by_source.setdefault(example.dataset, []).append(place)
            elif example.label != UNLABELLED:
                made.append(place)
            elif without_labels:
                found.append(place)
        for source, places in sorted(by_source.items()):
            want = wanted(source, self.rows[source], recipe.repeated)
            whole, rest = divmod(want, len(places))
            found += places * whole + rng.sample(places, rest)
        found += rng.sample(made, min(recipe.generated, len(made)))
        rng.shuffle(found)
        return found


def to_label(
    labelled: Sequence[Example], questions: Sequence[Question], recipe: Distillation
) -> Pairs:
    """Choose the pairs of the whole distillation: labelled, made, and without labels.

    Args:
        labelled: the training fold's pairs.
        questions: its passages.
        recipe: how many of each.
    """
    rng = random.Random(recipe.seed)  # noqa: S311 - no secret
    by_source = by_dataset(labelled)
    rows = []
    for source, found in by_source.items():
        most = recipe.kept * SOURCES[source][2]
        own = source.startswith((WRITTEN, ANSWERS))
        rows += found if own or len(found) <= most else rng.sample(found, most)
    made = generated(questions, count=recipe.made, seed=recipe.seed)
    read = chosen([*rows, *made], seed=recipe.seed)
    counts = {source: len(found) for source, found in by_source.items()}
    return Pairs([*read, *unlabelled(labelled, read, questions, recipe)], counts)
