"""From logits to scores (log-probability, entropy, top-k); everything stays on the device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from franq_guard.records import Span, Token


class TokenScores(NamedTuple):
    """For each position: ``logprob`` and ``entropy`` (...) in nats, ``top_*`` (..., k)."""

    logprob: Tensor
    entropy: Tensor
    top_ids: Tensor
    top_logprobs: Tensor

    def rows(self, index: Any) -> TokenScores:
        """The scores of some positions."""
        return TokenScores(*(column[index] for column in self))

    def cpu(self) -> TokenScores:
        """The scores in CPU memory."""
        return TokenScores(*(column.cpu() for column in self))

    def tokens(self, ids: list[int], spans: list[Span]) -> tuple[Token, ...]:
        """The tokens of a sequence's positions (T,), with one copy to the CPU per array."""
        lists = [column.tolist() for column in self]
        return tuple(
            Token(i, a, b, logprob, entropy, tuple(zip(top_ids, top, strict=True)))
            for i, (a, b), logprob, entropy, top_ids, top in zip(ids, spans, *lists, strict=True)
        )


def log_probs(logits: Tensor) -> Tensor:
    """Log-softmax over the last axis, in float32 whatever the model's dtype."""
    return torch.log_softmax(logits.float(), dim=-1)


def entropy_and_top(rows: Tensor, top_k: int) -> tuple[Tensor, Tensor, Tensor]:
    """From log-probabilities (..., V): entropy (...), top-k ids and log-probabilities (..., k)."""
    # Clamped, because 0 * -inf would be NaN; a probability of 0 must add 0.
    entropy = -(rows.exp() * rows.clamp_min(-1e4)).sum(dim=-1)
    top, ids = rows.topk(min(top_k, rows.shape[-1]), dim=-1)
    return entropy, ids, top


def scores_of(rows: Tensor, chosen: Tensor, top_k: int) -> TokenScores:
    """The scores from log-probabilities (..., V) and the ids (...) that were chosen."""
    logprob = rows.gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
    return TokenScores(logprob, *entropy_and_top(rows, top_k))


def scores_of_chunks(chunks: Iterable[Tensor], chosen: Tensor, top_k: int) -> TokenScores:
    """The scores (T,), in CPU memory, from logits (T, V) in chunks and the ids (T,) chosen."""
    parts, at = [], 0
    for logits in chunks:
        wanted = chosen[at : at + len(logits)].to(logits.device)
        parts.append(scores_of(log_probs(logits), wanted, top_k))
        at += len(logits)
    return cat(parts).cpu()


def cat(parts: Iterable[TokenScores]) -> TokenScores:
    """The parts concatenated along the first axis."""
    return TokenScores(*map(torch.cat, zip(*parts, strict=True)))


def stack(parts: Iterable[TokenScores]) -> TokenScores:
    """The parts stacked along a new second axis: steps (B,) become rows (B, T)."""
    return TokenScores(*(torch.stack(column, dim=1) for column in zip(*parts, strict=True)))
