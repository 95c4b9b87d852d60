"""Turns examples into encoder inputs, with the same chunks and features as in scoring."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from franq_bench.data.pairs import SOURCES, SUPPORTED, Example, by_dataset
from franq_bench.data.written import ANSWERS, WRITTEN
from franq_guard.faithfulness.small.chunks import chunks, sentences
from franq_guard.faithfulness.small.encoder_input import CHUNK_TOKENS, Pair, make_pair, token_ids
from franq_guard.faithfulness.small.features import features, overlap
from franq_guard.faithfulness.small.written_out import written_out

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class Item:
    """One training input with its features and label (see `Example.label`)."""

    pair: Pair
    features: list[float]
    label: int


def draw(examples: Sequence[Example], *, seed: int, repeated: float = 1.0) -> list[Example]:
    """Return one epoch's share of the examples: each source by its weight and cap in `SOURCES`.

    Of the sets that others made only the share `repeated` is drawn.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    drawn: list[Example] = []
    for source, rows in by_dataset(examples).items():
        whole, rest = divmod(wanted(source, len(rows), repeated), len(rows))
        drawn += rows * whole + rng.sample(rows, rest)
    rng.shuffle(drawn)
    return drawn


def wanted(source: str, rows: int, repeated: float) -> int:
    """Return how many pairs an epoch draws of a source with so many rows (see `draw`)."""
    _, weight, cap = SOURCES[source]
    share = 1.0 if source.startswith((WRITTEN, ANSWERS)) else repeated
    return round(min(cap, weight * rows) * share)


def make_items(examples: Sequence[Example], tokenizer: Tokenizer, *, seed: int) -> list[Item]:
    """Choose what is read of each example, and encode it."""
    return encoded(chosen(examples, seed=seed), tokenizer)


def chosen(examples: Sequence[Example], *, seed: int) -> list[Example]:
    """Choose a chunk of each premise, written out, and the claim or a sentence of it.

    The chunk that shares most words with the claim is used: for a supported claim it is likely the
    evidence, for other claims the hardest chunk. For some of the latter another chunk is used.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    texts = [_choose(e, rng) for e in examples]
    return [
        replace(example, premise=premise, hypothesis=claim)
        for example, (claim, premise) in zip(examples, texts, strict=True)
    ]


def encoded(examples: Sequence[Example], tokenizer: Tokenizer) -> list[Item]:
    """Encode examples as they are."""
    claims = token_ids(tokenizer, [e.hypothesis for e in examples])
    premises = token_ids(tokenizer, [e.premise for e in examples])
    return [
        Item(make_pair(c, p), features(e.hypothesis, e.premise), e.label)
        for c, p, e in zip(claims, premises, examples, strict=True)
    ]


def _choose(example: Example, rng: random.Random) -> tuple[str, str]:
    claim = example.hypothesis
    parts = sentences(claim)
    if len(parts) > 1 and example.label == SUPPORTED and rng.random() < 0.5:
        start, end = rng.choice(parts)
        claim = claim[start:end]
    premise = written_out(example.premise).text
    spans = chunks(premise, CHUNK_TOKENS)
    if len(spans) < 2:
        return claim, premise
    pieces = [premise[a:b] for a, b in spans]
    if example.label != SUPPORTED and rng.random() < 0.2:
        return claim, rng.choice(pieces)
    return claim, max(pieces, key=lambda piece: overlap(claim, piece))
