"""How likely a language model finds each token of a claim, after its passage and without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.faithfulness.small.chunks import chunks
from franq_guard.faithfulness.small.encoder_input import CHUNK_TOKENS
from franq_guard.records import Generation

Floats = NDArray[np.float64]

WITH_PASSAGE: Final = "Passage: {passage}\n\nTrue statement about the passage:"
WITHOUT_PASSAGE: Final = "True statement:"
CHUNKS_READ: Final = 2
"""Chunks of about 200 tokens that are read for a claim, however much was retrieved."""


class TokenScorer(Protocol):
    """What is needed of a language model; every local one of `franq_guard.language_model` has it.

    The tokens must come with their entropy, which most servers do not tell.
    """

    @property
    def fingerprint(self) -> str:
        """Name of weights and dtype."""

    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """The answers with each token's log-probability and entropy after its prompt."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim's tokens (T,), in nats: log-probabilities and entropies under both prompts."""

    given: Floats
    alone: Floats
    entropy: Floats
    entropy_alone: Floats


def read(model: TokenScorer, texts: Sequence[str], claims: Sequence[str]) -> list[Reading]:
    """Return the reading of each claim after its text.

    Args:
        model: the language model.
        texts: what each claim is read after; claims of the same text share its reading.
        claims: as many.

    Raises:
        ValueError: the lengths differ, or the model does not tell the entropy of its tokens.
    """
    distinct = list(dict.fromkeys(claims))
    prompts = [WITH_PASSAGE.format(passage=text) for text in texts]
    pairs = [*zip(prompts, claims, strict=True), *((WITHOUT_PASSAGE, c) for c in distinct)]
    scored = model.score([p for p, _ in pairs], [Generation(c.strip()) for _, c in pairs])
    columns = [_columns(one) for one in scored]
    alone = dict(zip(distinct, columns[len(claims) :], strict=True))
    return [_reading(with_text, alone[c]) for with_text, c in zip(columns, claims, strict=False)]


def _reading(given: Floats, alone: Floats) -> Reading:
    if given.shape != alone.shape:
        raise ValueError("the language model cuts a claim into other tokens after a passage")
    return Reading(given[0], alone[0], given[1], alone[1])


def _columns(scored: Generation) -> Floats:
    """Log-probability and entropy (2, T) of an answer's tokens."""
    told = [(token.logprob, token.entropy) for token in scored.tokens]
    if not told or any(entropy is None for _, entropy in told):
        raise ValueError("the language model must tell the entropy of every token of a claim")
    return np.array(told, dtype=np.float64).T


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
