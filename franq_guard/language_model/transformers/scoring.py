"""Teacher forcing: log-probabilities of given tokens after a prompt, for many answers at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import torch

from franq_guard.basics.deadline import between_batches
from franq_guard.language_model.forward_passes import ForwardPass
from franq_guard.language_model.transformers.network import Network
from franq_guard.language_model.transformers.token_scores import TokenScores, cat, token_scores

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
    context = batch[0].context
    shared = len(batch) > 1 and len(context) >= _SHARE_FROM
    shared = shared and all(job.context == context for job in batch)
    cache = network.prefill(context[:-1])[1] if shared else None
    skip = 0
    if cache is not None:
        skip = len(context) - 1
        cache.reorder_cache(torch.zeros(len(batch), dtype=torch.long, device=network.device))
    ids = network.tensor([(*job.context, *job.targets)[skip:-1] for job in batch])
    rows = [row for row, job in enumerate(batch) for _ in job.targets]
    columns = [len(job.context) - 1 - skip + t for job in batch for t in range(len(job.targets))]
    targets = [t for job in batch for t in job.targets]
    index = torch.tensor([rows, columns, targets], device=network.device)
    parts, at = [], 0
    for logits in network.logits_at(ids, index[0], index[1], cache):
        chosen = index[2, at : at + len(logits)].to(logits.device)
        parts.append(token_scores(logits, chosen, top_k))
        at += len(logits)
    return _split(cat(parts).cpu(), [len(job.targets) for job in batch])


def _split(kept: TokenScores, lengths: Sequence[int]) -> list[TokenScores]:
    ends = torch.tensor(lengths).cumsum(0).tolist()
    return [kept.rows(slice(end - n, end)) for end, n in zip(ends, lengths, strict=True)]
