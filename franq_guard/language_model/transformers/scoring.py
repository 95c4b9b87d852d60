"""Teacher forcing: log-probabilities of given tokens after a prompt, for many answers at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import torch

from franq_guard.basics.deadline import between_batches
from franq_guard.language_model.forward_passes import ForwardPass
from franq_guard.language_model.transformers.network import Network
from franq_guard.language_model.transformers.token_scores import TokenScores, scores_of_chunks

_SHARE_FROM = 48
"""From this length of a context on, several answers after it share one cache."""


@torch.inference_mode()
def score(
    network: Network, work: Sequence[ForwardPass], *, budget: int, top_k: int
) -> list[TokenScores]:
    """The scores of each job's targets (T,). ``budget``: padded tokens per forward pass."""
    done: dict[int, TokenScores] = {}
    for batch in _batches(work, budget):
        between_batches()
        for i, kept in zip(batch, _forward(network, [work[i] for i in batch], top_k), strict=True):
            done[i] = kept
    return [done[i] for i in range(len(work))]


def _batches(work: Sequence[ForwardPass], budget: int) -> Iterator[list[int]]:
    """Batches of pass indices: those with the same long context together, others by length."""

    def key(i: int) -> tuple[tuple[int, ...], int]:
        return work[i].context, work[i].length

    single: list[int] = []
    for context, group in groupby(sorted(range(len(work)), key=key), key=lambda i: key(i)[0]):
        members = list(group)
        if len(members) > 1 and len(context) >= _SHARE_FROM:
            yield from _by_budget(members, work, budget)
        else:
            single.extend(members)
    single.sort(key=lambda i: work[i].length, reverse=True)
    yield from _by_budget(single, work, budget)


def _by_budget(
    members: Sequence[int], work: Sequence[ForwardPass], budget: int
) -> Iterator[list[int]]:
    batch: list[int] = []
    widest = 0
    for i in members:
        widest = max(widest, work[i].length)
        if batch and widest * (len(batch) + 1) > budget:
            yield batch
            batch, widest = [], work[i].length
        batch.append(i)
    if batch:
        yield batch


def _forward(network: Network, batch: Sequence[ForwardPass], top_k: int) -> list[TokenScores]:
    cache = _shared_context(network, batch)
    skip = 0 if cache is None else len(batch[0].context) - 1  # what the cache holds
    ids = network.tensor([(*job.context, *job.targets)[skip:-1] for job in batch])
    # (row, column, target): the logits after ids[row, column] are for the token ``target``.
    places = [
        (row, len(job.context) - 1 - skip + n, target)
        for row, job in enumerate(batch)
        for n, target in enumerate(job.targets)
    ]
    rows, columns, targets = torch.tensor(places, device=network.device).T
    kept = scores_of_chunks(network.logits_at(ids, rows, columns, cache), targets, top_k)
    return _split(kept, [len(job.targets) for job in batch])


def _shared_context(network: Network, batch: Sequence[ForwardPass]) -> Any:
    """A cache with the batch's one long context in each row; None: each row reads its own."""
    context = batch[0].context
    if len(batch) == 1 or len(context) < _SHARE_FROM:
        return None
    if any(job.context != context for job in batch):
        return None
    # The last token is left out: the logits after it are needed, and a cache has none.
    cache = network.prefill(context[:-1])[1]
    if cache is not None:
        cache.reorder_cache(torch.zeros(len(batch), dtype=torch.long, device=network.device))
    return cache


def _split(kept: TokenScores, lengths: Sequence[int]) -> list[TokenScores]:
    ends = torch.tensor(lengths).cumsum(0).tolist()
    return [kept.rows(slice(end - n, end)) for end, n in zip(ends, lengths, strict=True)]
