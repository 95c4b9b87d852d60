"""The numbers that the reader is fitted and measured on: scores of labelled pairs, without texts.

The expensive part of `python -m franq_bench.training.reader`. Every pair is stored as soon as it is
read, so that an interrupted run can continue.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from franq_bench.data.files import files
from franq_bench.data.folds import Fold, Folds
from franq_bench.data.pairs import SUPPORTED, Example, examples
from franq_bench.quality import faithfulness as bench
from franq_bench.store.cache import Cache, content_key
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.faithfulness.small.chunks import chunks
from franq_guard.faithfulness.small.encoder_input import CHUNK_TOKENS
from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Generation

#: Data sets whose pairs are read: those of the small model's figures, and one more to fit on.
SETS: Final = (*bench.GROUNDED, "fever-symmetric")
PROMPT: Final = "Passage: {passage}\n\nTrue statement about the passage:"
CHUNKS_READ: Final = 2
"""Chunks of about 200 tokens that are read for a claim, however long the passage."""
_AT_ONCE: Final = 16
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Read:
    """One labelled pair as numbers.

    `source` is its data set, `dataset` the row of the figures it is counted in, `small` the small
    model's P(faithful), `likelihood` the claim's (see `likelihoods`).
    """

    source: str
    dataset: str
    supported: bool
    small: float
    likelihood: float


def drawn(data: Path, pairs: Mapping[Fold, int], *, seed: int = 0) -> dict[Fold, list[Example]]:
    """Return labelled pairs of some folds, drawn at random but the same at every call.

    Args:
        data: folder of JSONL files.
        pairs: of each fold, at most how many of a data set.
        seed: of the draw. The first pairs of a larger draw are those of a smaller one.
    """
    folds = Folds.read(data)
    return {fold: _of_fold(data, folds, fold, limit, seed) for fold, limit in pairs.items()}


def _of_fold(data: Path, folds: Folds, fold: Fold, limit: int, seed: int) -> list[Example]:
    found: dict[str, list[Example]] = {name: [] for name in SETS}
    for pair in examples(files([data]), lambda row: folds.of(row) == fold):
        found.get(bench.group(pair.dataset), []).append(pair)
    for name, members in found.items():
        random.Random(f"{seed}/{name}").shuffle(members)  # noqa: S311 - no secret
    return [pair for members in found.values() for pair in members[:limit]]


def numbers(
    pairs: Sequence[Example],
    small: FaithfulnessModel,
    language_model: LanguageModel,
    cache: Path,
    report: Report,
) -> list[Read]:
    """Return the numbers of each pair; those that are not in the folder `cache` are computed."""
    read, scores = Cache(cache / "likelihoods"), Cache(cache / "small")
    read_keys = [_key(language_model.fingerprint, pair) for pair in pairs]
    score_keys = [_key(small.fingerprint, pair) for pair in pairs]
    for group in _missing(pairs, read_keys, read, report, "read by the language model"):
        texts, claims = [pairs[i].premise for i in group], [pairs[i].hypothesis for i in group]
        found = likelihoods(language_model, texts_to_read(small, texts, claims), claims)
        for i, likelihood in zip(group, found, strict=True):
            read[read_keys[i]] = likelihood
    for group in _missing(pairs, score_keys, scores, report, "scored by the small model"):
        texts_of = [pairs[i].premise for i in group]
        found = small.score(texts_of, [pairs[i].hypothesis for i in group])
        for i, score in zip(group, found, strict=True):
            scores[score_keys[i]] = score
    return [
        Read(pair.dataset, bench.group(pair.dataset), pair.label == SUPPORTED, scores[s], read[r])
        for pair, r, s in zip(pairs, read_keys, score_keys, strict=True)
    ]


def _key(fingerprint: str, pair: Example) -> str:
    return content_key(fingerprint, pair.premise, pair.hypothesis)


def _missing(
    pairs: Sequence[Example], keys: Sequence[str], cache: Cache, report: Report, what: str
) -> Iterator[list[int]]:
    """Numbers of the pairs that are not in the cache, some at a time, those of a text together."""
    left = [i for i, key in enumerate(keys) if key not in cache]
    left.sort(key=lambda i: (pairs[i].dataset, pairs[i].premise))
    for start in range(0, len(left), _AT_ONCE):
        if start % (10 * _AT_ONCE) == 0:
            report(f"{len(left) - start} of {len(pairs)} pairs to be {what}")
        yield left[start : start + _AT_ONCE]


def likelihoods(model: LanguageModel, texts: Sequence[str], claims: Sequence[str]) -> list[float]:
    """Return the mean log-probability (nats) of each claim's tokens after its text.

    The first token is left out where there are more: how a sentence begins says little of the
    passage. Claims of the same text share the reading of it.

    Args:
        model: the language model.
        texts: what each claim is read after.
        claims: as many.
    """
    prompts = [PROMPT.format(passage=text) for text in texts]
    scored = model.score(prompts, [Generation(claim.strip()) for claim in claims])
    return [_mean([token.logprob for token in one.tokens]) for one in scored]


def _mean(logprobs: list[float]) -> float:
    return float(np.mean(logprobs[1:] or logprobs)) if logprobs else float("nan")


def texts_to_read(
    model: FaithfulnessModel, passages: Sequence[str], claims: Sequence[str]
) -> list[str]:
    """Return of each claim's passage the `CHUNKS_READ` chunks that entail it most, in their order.

    Args:
        model: the faithfulness model whose `nli` ranks the chunks.
        passages: of each claim.
        claims: as many.
    """
    cut = {text: [text[a:b] for a, b in chunks(text, CHUNK_TOKENS)] for text in passages}
    pairs = [(cut[text], claim) for text, claim in zip(passages, claims, strict=True)]
    unsure = [(chunk, c) for pieces, c in pairs if len(pieces) > CHUNKS_READ for chunk in pieces]
    entailed = model.nli([chunk for chunk, _ in unsure], [c for _, c in unsure])[:, 0]
    value = dict(zip(unsure, entailed.tolist(), strict=True))
    return ["\n".join(_best(pieces, claim, value)) for pieces, claim in pairs]


def _best(pieces: list[str], claim: str, value: dict[tuple[str, str], float]) -> list[str]:
    if len(pieces) <= CHUNKS_READ:
        return pieces
    ranked = sorted(range(len(pieces)), key=lambda i: -value[pieces[i], claim])
    return [pieces[i] for i in sorted(ranked[:CHUNKS_READ])]
