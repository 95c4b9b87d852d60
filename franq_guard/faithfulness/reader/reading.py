"""How likely a language model finds a claim after its passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.faithfulness.small.chunks import chunks
from franq_guard.faithfulness.small.encoder_input import CHUNK_TOKENS
from franq_guard.records import Generation

PROMPT: Final = "Passage: {passage}\n\nTrue statement about the passage:"
CHUNKS_READ: Final = 2
"""Chunks of about 200 tokens that are read for a claim, however much was retrieved."""


class TokenScorer(Protocol):
    """What is needed of a language model; each of `franq_guard.language_model` has it."""

    @property
    def fingerprint(self) -> str:
        """Name of weights and dtype."""

    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """The answers with each token's log-probability after its prompt."""


def likelihoods(model: TokenScorer, texts: Sequence[str], claims: Sequence[str]) -> list[float]:
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
    model: FaithfulnessModel, contexts: Sequence[Sequence[str]], claims: Sequence[str]
) -> list[str]:
    """Return of each claim's passages the chunks that entail it most, in their own order.

    Args:
        model: the faithfulness model whose `nli` ranks the chunks.
        contexts: of each claim, its passages.
        claims: as many.

    Returns:
        A text of at most `CHUNKS_READ` chunks for each claim; empty where no passage has text.
    """
    cut = {tuple(texts): _cut(texts) for texts in contexts}
    pairs = [(cut[tuple(texts)], claim) for texts, claim in zip(contexts, claims, strict=True)]
    unsure = [(chunk, c) for pieces, c in pairs if len(pieces) > CHUNKS_READ for chunk in pieces]
    entailed = model.nli([chunk for chunk, _ in unsure], [c for _, c in unsure])[:, 0]
    value = dict(zip(unsure, entailed.tolist(), strict=True))
    return ["\n".join(_best(pieces, claim, value)) for pieces, claim in pairs]


def _cut(texts: Sequence[str]) -> list[str]:
    return [text[a:b] for text in texts for a, b in chunks(text, CHUNK_TOKENS)]


def _best(pieces: list[str], claim: str, value: dict[tuple[str, str], float]) -> list[str]:
    if len(pieces) <= CHUNKS_READ:
        return pieces
    ranked = sorted(range(len(pieces)), key=lambda i: -value[pieces[i], claim])
    return [pieces[i] for i in sorted(ranked[:CHUNKS_READ])]
