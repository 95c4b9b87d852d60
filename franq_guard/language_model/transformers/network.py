"""One causal network, and ways to compute its logits for chosen positions only."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

logger = logging.getLogger(__name__)

_CHUNK_VALUES = 1 << 24
"""How many logits are computed at a time (64 MiB of float32), to limit the memory."""


class Network:
    """A causal language model of transformers, on any device, in any dtype; it is not changed."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @property
    def device(self) -> torch.device:
        """The device for input ids; the CPU for offloaded weights, whose hooks move the ids."""
        device = torch.device(self.model.get_input_embeddings().weight.device)
        return torch.device("cpu") if device.type == "meta" else device

    @property
    def window(self) -> int | None:
        """The longest sequence that the positions allow; None for no limit."""
        config = self.model.config.get_text_config()
        return getattr(config, "max_position_embeddings", None)

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end an answer, from the model's generation configuration."""
        return as_id_set(self.model.generation_config.eos_token_id)

    def tensor(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Ids (B, T), padded with 0 on the right; a causal model needs no mask for that."""
        width = max(map(len, rows))
        padded = [[*row, *[0] * (width - len(row))] for row in rows]
        return torch.tensor(padded, dtype=torch.long, device=self.device)

    def prefill(self, ids: Sequence[int]) -> tuple[Tensor, Any]:
        """Logits (1, V) after the ids, and the cache that holds them.

        The cache is None if the architecture has none that can be continued (:attr:`continues`):
        then :meth:`last_logits` must read whole rows.
        """
        logits, cache = self._read(ids)
        return logits, cache if _of_attention(cache) or self.continues else None

    def _read(self, ids: Sequence[int]) -> tuple[Tensor, Any]:
        out = self.model(input_ids=self.tensor([ids]), use_cache=True, **self._keep(1))
        return out.logits[:, -1], getattr(out, "past_key_values", None)

    def step(self, ids: Sequence[int], cache: Any) -> Tensor:
        """Logits (B, V) after one more id per row; the cache grows."""
        last = torch.tensor(ids, device=self.device)[:, None]
        logits: Tensor = self.model(input_ids=last, past_key_values=cache, use_cache=True).logits
        return logits[:, -1]

    def branch(self, ids: Sequence[int], position: int, seen: Tensor, cache: Any) -> Tensor:
        """Logits (B, V) after one more id per branch, all in one row of the cache, which grows.

        Args:
            ids: B ids, all at the same position of their branches.
            position: that position.
            seen: (B, cached + B) of bool, what each id may attend to.
            cache: of one row.
        """
        dtype = self.model.dtype
        mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
        mask = mask.masked_fill(~seen, torch.finfo(dtype).min)[None, None]
        row = torch.tensor(ids, device=self.device)[None]
        positions = torch.full_like(row, position)
        logits: Tensor = self.model(
            input_ids=row,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
        ).logits
        return logits[0]

    @cached_property
    def continues(self) -> bool:
        """Whether the rows of an unusual cache can be selected and continued, by one id or several.

        Tested once on a few ids: an architecture may have no such cache (``reorder_cache``), and
        one with a state beside its keys and values may begin anew where several ids follow.
        """
        prompt, pair = [3, 1, 4, 1, 5], [2, 6]

        def ours(more: list[list[int]]) -> Tensor:
            cache = self._read(prompt)[1]
            cache.reorder_cache(torch.zeros(2, dtype=torch.long, device=self.device))
            out = self.model(input_ids=self.tensor(more), past_key_values=cache, use_cache=True)
            logits: Tensor = out.logits[:, -1]
            return logits

        try:
            return all(
                self.equal(ours(more), self.last_logits([[*prompt, *row] for row in more]))
                for more in ([[i] for i in pair], [[i, *prompt] for i in pair])
            )
        except Exception as error:  # any architecture may object in its own way: take the long way
            logger.info("its cache is not used: %s", error)
            return False

    @cached_property
    def branches(self) -> bool:
        """Whether :meth:`branch` is correct for this architecture; tested once on a few ids.

        An architecture may not take positions from ``position_ids``, and some attention kernels do
        not support a mask of this form. One with local attention in itself, not in its cache
        (GPT-Neo), counts ids of other branches as near ones, which so few ids do not show.
        """
        if "local" in getattr(self.model.config, "attention_layers", ()):
            return False
        prompt, pair = [3, 1, 4, 1, 5], [2, 6]
        try:
            cache = self.prefill(prompt)[1]
            seen = torch.ones((2, 7), dtype=torch.bool, device=self.device)
            seen[0, 6] = seen[1, 5] = False
            self.branch(pair, 5, seen, cache)
            seen = torch.cat([seen, torch.eye(2, dtype=torch.bool, device=self.device)], 1)
            ours = self.branch(pair[::-1], 6, seen, cache)
            return self.equal(ours, self.last_logits([[*prompt, 2, 6], [*prompt, 6, 2]]))
        except Exception as error:  # any architecture may object in its own way: take the long way
            logger.info("each sample is drawn in a row of its own: %s", error)
            return False

    def equal(self, ours: Tensor, theirs: Tensor) -> bool:
        """Whether two ways to compute the same logits (..., V) give the same, up to rounding.

        By the mean over the vocabulary: in half precision some of so many values are always far
        off. A constant that is added to all logits changes no probability.
        """
        off = (ours.float() - theirs.float()).std(dim=-1).max() / theirs.float().std()
        return bool(off < (2e-4 if self.model.dtype == torch.float32 else 0.05))

    def last_logits(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Logits (B, V) after rows of ids of equal length, without a cache."""
        ids = self.tensor(rows)
        logits: Tensor = self.model(input_ids=ids, use_cache=False, **self._keep(1)).logits
        return logits[:, -1]

    def logits_at(self, ids: Tensor, rows: Tensor, columns: Tensor, cache: Any) -> Iterator[Tensor]:
        """Logits (n, V) in chunks for the positions ``ids[rows, columns]`` of ids (B, T)."""
        chunk = max(1, _CHUNK_VALUES // int(self.model.config.get_text_config().vocab_size))
        if self._split:
            base, head = self.model.base_model, self.model.get_output_embeddings()
            states = base(
                input_ids=ids, past_key_values=cache, use_cache=cache is not None
            ).last_hidden_state
            for part in states[rows.to(states.device), columns.to(states.device)].split(chunk):
                yield head(part)
            return
        kept, where = torch.unique(columns, return_inverse=True)
        keep = self._keep(kept)
        out = self.model(
            input_ids=ids, past_key_values=cache, use_cache=cache is not None, **keep
        ).logits
        yield from out[rows, where if keep else columns].split(chunk)

    def _keep(self, positions: Any) -> dict[str, Any]:
        known = "logits_to_keep" in inspect.signature(self.model.forward).parameters
        return {"logits_to_keep": positions} if known else {}

    @cached_property
    def _split(self) -> bool:
        """Whether the base network and the output embedding together give the model's logits.

        Some architectures scale or cap the head's output; tested once on a few ids.
        """
        ids = self.tensor([list(range(min(6, self.model.config.get_text_config().vocab_size)))])
        try:
            whole = self.model(input_ids=ids, use_cache=False).logits
            states = self.model.base_model(input_ids=ids, use_cache=False).last_hidden_state
            parts = self.model.get_output_embeddings()(states)
            # A small tolerance, because a cap hardly changes the small logits of these few ids.
            return bool(torch.allclose(parts.float(), whole.float(), rtol=1e-5, atol=1e-5))
        except Exception as error:  # any architecture may object in its own way: take the long way
            logger.info("logits are computed by the whole model: %s", error)
            return False


def unwrapped(model: Any) -> Any:
    """The network inside what ``torch.compile``, or PEFT for LoRA, has put around it.

    Both pass ``generate`` and its settings on to it, and its logits are the same: its layers have
    the adapter's weights. Only an adapter that begins at a token of the prompt (aLoRA) needs PEFT.
    """
    model = getattr(model, "_orig_mod", model)
    adapter = getattr(model, "active_peft_config", None)
    in_layers = getattr(adapter, "peft_type", None) == "LORA"
    if in_layers and not getattr(adapter, "alora_invocation_tokens", None):
        return model.get_base_model()
    return model


def keeps_all(cache: Any) -> bool:
    """Whether each layer keeps all keys and values, and no more: that can be cut and branched."""
    return _has_layers(cache, {"DynamicLayer"})


def _of_attention(cache: Any) -> bool:
    """Whether it holds keys and values alone, as most do: that can always be continued."""
    return _has_layers(cache, {"DynamicLayer", "DynamicSlidingWindowLayer"})


def _has_layers(cache: Any, kinds: set[str]) -> bool:
    layers = getattr(cache, "layers", None) or [None]
    usual = type(cache).__name__ == "DynamicCache"  # a subclass may hold a state beside them
    return usual and {type(layer).__name__ for layer in layers} <= kinds


def as_id_set(ids: int | Sequence[int] | None) -> frozenset[int]:
    """One id, several or none, as a set."""
    if ids is None:
        return frozenset()
    return frozenset([ids] if isinstance(ids, int) else (int(i) for i in ids))
