"""The cross-encoder's network: a passage is read once, and the claims about it go on from there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from franq_guard.faithfulness.larger.adapter import merge


def pooled(states: Tensor, claim: Tensor, last: Tensor, features: Tensor) -> Tensor:
    """What the head reads (b, 3 * hidden + features) of hidden states (b, t, hidden).

    Args:
        states: of a prompt, or of its claim alone.
        claim: true at the claim's tokens (b, t), at least one in each row.
        last: place of each row's last token (b,).
        features: what claim and passage share (b, features).
    """
    inside = claim[:, :, None].to(states.dtype)
    mean = (states * inside).sum(1) / inside.sum(1)
    top = states.masked_fill(~claim[:, :, None], -1e4).amax(1)
    end = states[torch.arange(len(states), device=states.device), last]
    return torch.cat([end, mean, top, features.to(states.dtype)], dim=1)


def classes(head_in: Callable[[Tensor], Tensor], head_out: Callable[[Tensor], Tensor],
            read: Tensor) -> Tensor:  # fmt: skip
    """The logits (b, 3) of entailment, neutral and contradiction of what :func:`pooled` gave."""
    return head_out(functional.gelu(head_in(read)))


class Network(nn.Module):
    """The merged language model with its head.

    Args:
        base: the layers of a causal language model of Llama's kind, with the adapter added.
        head_in: first layer of the head.
        head_out: second.
    """

    def __init__(self, base: nn.Module, head_in: nn.Linear, head_out: nn.Linear) -> None:
        super().__init__()
        self.base, self.head_in, self.head_out = base, head_in, head_out
        #: Multiply-adds per token.
        self.weights = sum(p.numel() for n, p in base.named_parameters() if "layers" in n)

    def passage(self, ids: Sequence[int]) -> Any:
        """Read the tokens of a passage; returns the cache from which claims go on."""
        found = self.base(input_ids=torch.tensor([ids]), use_cache=True)
        return found.past_key_values

    def forward(
        self, cache: Any, ids: Tensor, claim: Tensor, last: Tensor, features: Tensor
    ) -> Tensor:
        """Return the logits (b, 3) of claims about one passage.

        Args:
            cache: of :meth:`passage`; it stays as it is.
            ids: token ids of the claims' lines (b, t), padded on the right: tokens see only those
                before them, so padding needs no mask.
            claim: true at the claim's own tokens (b, t).
            last: place of each line's last token (b,).
            features: what claim and passage share (b, features).
        """
        branches = copy.deepcopy(cache)
        branches.batch_repeat_interleave(len(ids))
        states = self.base(input_ids=ids, past_key_values=branches).last_hidden_state
        return classes(self.head_in, self.head_out, pooled(states, claim, last, features))


def load_network(model: Any, adapter: Path) -> Network:
    """Return the network of a causal language model and an adapter for it.

    Args:
        model: in float32; its layers are changed, so it is of no use for anything else afterwards.
        adapter: the file.

    Raises:
        ValueError: it is no adapter for this model.
    """
    base = model.model
    return Network(base, *merge(base, adapter)).eval()
