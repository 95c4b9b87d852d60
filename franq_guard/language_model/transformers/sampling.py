"""Draws samples after reading the prompt once; equal beginnings are computed once."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from franq_guard.basics.deadline import between_batches
from franq_guard.language_model.transformers.prompt_cache import PromptCache
from franq_guard.language_model.transformers.token_scores import (
    TokenScores,
    entropy_and_top,
    log_probs,
    stack,
)


@torch.inference_mode()
def sample(
    prompt_cache: PromptCache,
    *,
    n: int,
    max_new_tokens: int,
    temperature: float,
    seed: int,
    eos: frozenset[int],
    top_k: int,
    greedy: bool = False,
) -> list[tuple[list[int], TokenScores]]:
    """Ids and their scores for n samples. Log-probabilities are at temperature 1.

    The samples form a tree: samples that are equal so far share a node, and a node whose samples
    have all ended is not continued. The samples are exact and depend only on the seed. With
    ``greedy`` the greedy answer is put before them; the samples are the same as without it.
    """
    grow = _grower(prompt_cache)
    logits = prompt_cache.logits
    generator = torch.Generator(device=drawing_device(logits.device)).manual_seed(seed)
    total = n + greedy
    node = torch.zeros(total, dtype=torch.long, device=logits.device)
    written: list[list[int]] = [[] for _ in range(total)]
    alive = list(range(total))
    parts: list[TokenScores] = []
    for step in range(max_new_tokens):
        between_batches()
        rows = log_probs(logits)
        chosen = _draw(rows[node[greedy:]], temperature, generator)
        if greedy:
            chosen = torch.cat([rows[node[:1]].argmax(dim=-1), chosen])
        entropy, top_ids, top = (column[node] for column in entropy_and_top(rows, top_k))
        parts.append(TokenScores(rows[node, chosen], entropy, top_ids, top))
        ids = chosen.tolist()
        for i in alive:
            written[i].append(ids[i])
        alive = [i for i in alive if ids[i] not in eos]
        if not alive or step + 1 == max_new_tokens:
            break
        parents, members = _branch(node, ids, alive)
        logits = grow(parents, [written[i] for i in members])
    kept = stack(parts).cpu()
    return [(ids, kept.rows((i, slice(len(ids))))) for i, ids in enumerate(written)]


def _grower(prompt_cache: PromptCache) -> Callable[[list[int], list[list[int]]], Tensor]:
    """A function (parent nodes, ids of each new node so far) -> logits (B, V) after them."""
    network = prompt_cache.network
    if prompt_cache.one_row:
        branches = prompt_cache.branches()
        return lambda parents, written: branches.step([ids[-1] for ids in written], parents)
    # A copy, because a cache cannot be reduced to one row again after a batch.
    cache = prompt_cache.copied()
    if cache is None:
        prompt = prompt_cache.prompt
        return lambda _, written: network.last_logits([[*prompt, *ids] for ids in written])

    def rows(parents: list[int], written: list[list[int]]) -> Tensor:
        cache.reorder_cache(torch.tensor(parents, device=network.device))
        return network.step([ids[-1] for ids in written], cache)

    return rows


def drawing_device(device: torch.device) -> torch.device:
    """Where samples are drawn: on the model's device, unless that has no float64 (Apple's GPUs)."""
    return torch.device("cpu") if device.type == "mps" else device


def _draw(rows: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """One id (n,) per row of log-probabilities (n, V); for a row with NaN, any id at random."""
    weights = torch.softmax(rows / temperature, dim=-1).to(generator.device)
    # By inverting the cumulative sum: this needs one random number per row instead of one per id.
    sums = weights.cumsum(dim=-1, dtype=torch.double)
    broken = ~torch.isfinite(sums[:, -1])
    sums[broken] = torch.arange(1.0, sums.shape[-1] + 1, dtype=torch.double, device=sums.device)
    at = torch.rand(len(rows), 1, generator=generator, device=sums.device, dtype=torch.double)
    return torch.searchsorted(sums, at * sums[:, -1:], right=True).squeeze(1).to(rows.device)


def _branch(node: Tensor, ids: list[int], alive: list[int]) -> tuple[list[int], list[int]]:
    """The next rows, one per distinct beginning: the parent row and one sample of each.

    ``node`` (n,) is the row of each sample and is updated in place; ended samples have row 0.
    """
    old = node.tolist()
    rows: dict[tuple[int, int], int] = {}
    members: list[int] = []
    node.zero_()
    for i in alive:
        key = old[i], ids[i]
        if key not in rows:
            rows[key] = len(rows)
            members.append(i)
        node[i] = rows[key]
    return [parent for parent, _ in rows], members
