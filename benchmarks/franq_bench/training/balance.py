"""Adds pairs to the written ones, so that shared words do not speak against a claim.

In a written block (`data.written`) the contradicted claims share more words with the passage than
the entailed ones, on purpose. A model that sees nothing else learns to distrust shared words. So
sentences of the passage are added as entailed claims, and claims about other passages as neutral.
The blocks of `answers-*.txt` need none of this.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

from franq_bench.data.pairs import NEUTRAL, SUPPORTED, Example
from franq_bench.data.written import WRITTEN
from franq_bench.training import perturb
from franq_bench.training.generate import stated
from franq_guard.faithfulness.small.chunks import sentences
from franq_guard.faithfulness.small.features import word_overlap

_SENTENCES: Final = 4
_FOREIGN: Final = 3
_DRAWN: Final = 25


def balanced(examples: Sequence[Example], *, seed: int) -> list[Example]:
    """Return the examples with some more for each passage of the written ones.

    Four of its statements, half of them as claims that the guard's splitter makes, in slightly
    other words; and three claims of other passages, each the one of 25 that shares most words.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    pairs = [e for e in examples if e.dataset.startswith(WRITTEN)]
    found = list(examples)
    for dataset, premise in dict.fromkeys((e.dataset, e.premise) for e in pairs):
        found += [Example(dataset, premise, text, SUPPORTED) for text in _said(premise, rng)]
        for _ in range(_FOREIGN):
            drawn = [e.hypothesis for e in rng.sample(pairs, min(_DRAWN, len(pairs)))
                     if e.premise != premise]  # fmt: skip
            if drawn:
                nearest = max(drawn, key=lambda claim: word_overlap(claim, premise))
                found.append(Example(dataset, premise, nearest, NEUTRAL))
    return found


def _said(premise: str, rng: random.Random) -> Iterator[str]:
    texts = [text[a:b] for text in premise.split("\n") for a, b in sentences(text)]
    whole = [text for text in texts if len(text.split()) >= 5 and not text.endswith("?")]
    for place, text in enumerate(rng.sample(whole, min(_SENTENCES, len(whole)))):
        yield text if place % 2 else perturb.rewrite(rng.choice(stated(text)), rng)
