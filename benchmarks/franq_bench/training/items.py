"""Turns examples into encoder inputs, with the same chunks and features as in scoring."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from franq_bench.data.pairs import SOURCES, Example
from franq_bench.data.written import ANSWERS, WRITTEN
from franq_guard.faithfulness.small.chunks import chunks, sentences
from franq_guard.faithfulness.small.encoder_input import CHUNK_TOKENS, Pair, make_pair, token_ids
from franq_guard.faithfulness.small.features import features

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
    by_source: dict[str, list[Example]] = {}
    for example in examples:
        by_source.setdefault(example.dataset, []).append(example)
    drawn: list[Example] = []
    for source, rows in sorted(by_source.items()):
        _, weight, cap = SOURCES[source]
        share = 1.0 if source.startswith((WRITTEN, ANSWERS)) else repeated
        want = round(min(cap, weight * len(rows)) * share)
        whole, rest = divmod(want, len(rows))
        drawn += rows * whole + rng.sample(rows, rest)
    rng.shuffle(drawn)
    return drawn


def make_items(examples: Sequence[Example], tokenizer: Tokenizer, *, seed: int) -> list[Item]:
    """Choose a chunk of each premise, and the claim or a sentence of it, and encode them.

    The chunk that shares most words with the claim is used: for a supported claim it is likely the
    evidence, for other claims the hardest chunk. For some of the latter another chunk is used.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    texts = [_choose(e, rng) for e in examples]
    claims = token_ids(tokenizer, [c for c, _ in texts])
    premises = token_ids(tokenizer, [p for _, p in texts])
    return [
        Item(make_pair(c, p), features(*text), example.label)
        for c, p, text, example in zip(claims, premises, texts, examples, strict=True)
    ]


def _choose(example: Example, rng: random.Random) -> tuple[str, str]:
    claim = example.hypothesis
    parts = sentences(claim)
    if len(parts) > 1 and example.label == 0 and rng.random() < 0.5:
        start, end = rng.choice(parts)
        claim = claim[start:end]
    spans = chunks(example.premise, CHUNK_TOKENS)
    if len(spans) < 2:
        return claim, example.premise
    pieces = [example.premise[a:b] for a, b in spans]
    if example.label != 0 and rng.random() < 0.2:
        return claim, rng.choice(pieces)
    return claim, max(pieces, key=lambda piece: _shared(claim, piece))


def _shared(claim: str, piece: str) -> float:
    values = features(claim, piece)
    return values[0] + values[2]
