"""RoBERTa with AlignScore's three heads, for inference only.

It is faster than the original without changing its results: sequences are concatenated, so there is
no padding; the last layer computes only the first token of each sequence, which is the only one the
pooler reads; the three heads are one matrix product; there is no masked-LM head; weights are packed
once into the layout that the CPU's matrix product prefers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from franq_guard.faithfulness.alignscore.linear import ROWS, Linear

HEADS: Final = {"tri_layer": 3, "bin_layer": 2, "reg_layer": 1}
"""Outputs of the three heads, in the order of the encoder's columns."""
OUTPUTS: Final = sum(HEADS.values())
Weight = tuple[Tensor, Tensor]
Runs = list[tuple[int, int]]
"""(sequences, length) of adjacent sequences of equal length."""


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """The shape of a RoBERTa, named as in its config.json."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    vocab_size: int
    max_position_embeddings: int
    pad_token_id: int
    layer_norm_eps: float

    @property
    def window(self) -> int:
        """Most tokens in a sequence; RoBERTa numbers positions from pad_token_id + 1."""
        return self.max_position_embeddings - self.pad_token_id - 1

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every tensor that scoring needs, by its name in AlignScore's state_dict."""
        h, i = self.hidden_size, self.intermediate_size
        linear = {"attention.self.query": (h, h), "attention.self.key": (h, h)}
        linear |= {"attention.self.value": (h, h), "attention.output.dense": (h, h)}
        linear |= {"intermediate.dense": (i, h), "output.dense": (h, i)}
        shapes: dict[str, tuple[int, ...]] = {
            "base_model.embeddings.word_embeddings.weight": (self.vocab_size, h),
            "base_model.embeddings.position_embeddings.weight": (self.max_position_embeddings, h),
            "base_model.embeddings.token_type_embeddings.weight": (1, h),
            **_affine("base_model.embeddings.LayerNorm", (h,)),
            **_affine("base_model.pooler.dense", (h, h)),
        }
        for head, size in HEADS.items():
            shapes |= _affine(head, (size, h))
        for index in range(self.num_hidden_layers):
            prefix = f"base_model.encoder.layer.{index}."
            for name, shape in linear.items():
                shapes |= _affine(prefix + name, shape)
            shapes |= _affine(prefix + "attention.output.LayerNorm", (h,))
            shapes |= _affine(prefix + "output.LayerNorm", (h,))
        return shapes


@dataclass(frozen=True, slots=True)
class _Place:
    """Copies weights by name to a device and dtype, concatenated along the first dimension."""

    tensors: Mapping[str, Tensor]
    dtype: torch.dtype
    device: str

    def __call__(self, *names: str) -> Weight:
        weight, bias = (
            torch.cat([self.tensors[f"{name}.{kind}"] for name in names]).to(
                self.device, self.dtype
            )
            for kind in ("weight", "bias")
        )
        return weight, bias

    def linear(self, *names: str) -> Linear:
        return Linear(*self(*names))


@dataclass(frozen=True, slots=True)
class _Layer:
    query: Linear
    key_value: Linear
    attended: Linear
    attended_norm: Weight
    up: Linear
    down: Linear
    norm: Weight

    @classmethod
    def at(cls, prefix: str, norms: _Place, products: _Place) -> _Layer:
        attention = prefix + "attention."
        return cls(
            query=products.linear(attention + "self.query"),
            key_value=products.linear(attention + "self.key", attention + "self.value"),
            attended=products.linear(attention + "output.dense"),
            attended_norm=norms(attention + "output.LayerNorm"),
            up=products.linear(prefix + "intermediate.dense"),
            down=products.linear(prefix + "output.dense"),
            norm=norms(prefix + "output.LayerNorm"),
        )


class Encoder:
    """Maps token sequences to the six outputs: 3-way logits, 2-way logits, regression.

    Args:
        config: shape of the network.
        tensors: float32, named as in `EncoderConfig.shapes`; they are copied.
        dtype: ``torch.float32``, or ``torch.bfloat16`` for matrix products and attention (residual
            sums, layer norms, pooler and heads stay in float32).
        device: where to compute.
    """

    def __init__(
        self,
        config: EncoderConfig,
        tensors: Mapping[str, Tensor],
        *,
        dtype: torch.dtype = torch.float32,
        device: str = "cpu",
    ) -> None:
        self.config = config
        self._dtype = dtype
        self._device = device
        embeddings = "base_model.embeddings."
        # Every token has type 0, so its embedding can be added to the position embeddings once.
        kind = tensors[embeddings + "token_type_embeddings.weight"][0]
        self._words = tensors[embeddings + "word_embeddings.weight"].to(device, copy=True)
        self._places = (tensors[embeddings + "position_embeddings.weight"] + kind).to(device)
        place = _Place(tensors, torch.float32, device)
        self._norm = place(embeddings + "LayerNorm")
        self._pooler = place("base_model.pooler.dense")
        self._heads = place(*HEADS)
        products = _Place(tensors, dtype, device)
        self._layers = [
            _Layer.at(f"base_model.encoder.layer.{index}.", place, products)
            for index in range(config.num_hidden_layers)
        ]

    @torch.inference_mode()
    def __call__(self, rows: Sequence[NDArray[np.int32]]) -> NDArray[np.float32]:
        """Outputs (n, 6) of n >= 1 sequences of token ids, each at most `config.window` long.

        Attention runs once for adjacent sequences of equal length. One extra sequence fills the
        tokens up to a multiple of `ROWS`; its output is discarded.
        """
        filler = np.full(-sum(map(len, rows)) % ROWS, self.config.pad_token_id, dtype=np.int32)
        wanted, rows = len(rows), [*rows, filler] if len(filler) else rows
        runs = [(len(list(group)), length) for length, group in groupby(len(row) for row in rows)]
        ids = torch.from_numpy(np.concatenate(rows)).to(self._device)
        first = self.config.pad_token_id + 1
        places = torch.cat([torch.arange(first, first + t).repeat(n) for n, t in runs])
        hidden = functional.embedding(ids, self._words)
        hidden += functional.embedding(places.to(self._device), self._places)
        hidden = self._normalise(hidden, self._norm)
        for layer in self._layers[:-1]:
            hidden = self._transform(layer, hidden, self._attend(layer, hidden, runs))
        hidden = self._last(self._layers[-1], hidden, runs)
        pooled = torch.tanh(functional.linear(hidden[:wanted], *self._pooler))
        outputs: NDArray[np.float32] = functional.linear(pooled, *self._heads).cpu().numpy()
        return outputs

    def _last(self, layer: _Layer, hidden: Tensor, runs: Runs) -> Tensor:
        lengths = torch.tensor([length for n, length in runs for _ in range(n)])
        firsts = (lengths.cumsum(0) - lengths).to(self._device)
        attended = self._attend(layer, hidden, runs, firsts)
        return self._transform(layer, hidden[firsts], attended)

    def _attend(
        self, layer: _Layer, hidden: Tensor, runs: Runs, firsts: Tensor | None = None
    ) -> Tensor:
        """Attention output (t, hidden), or (n, hidden) for only the rows `firsts` (n,)."""
        size = self.config.hidden_size
        x = hidden.to(self._dtype)
        counts = [n * length for n, length in runs]
        asked = counts if firsts is None else [n for n, _ in runs]
        query = layer.query(x if firsts is None else x[firsts]).split_with_sizes(asked)
        key_value = layer.key_value(x).split_with_sizes(counts)
        parts = []
        for (n, _), q, kv in zip(runs, query, key_value, strict=True):
            q, k, v = (self._by_head(part, n) for part in (q, kv[:, :size], kv[:, size:]))
            attended = functional.scaled_dot_product_attention(q, k, v)
            parts.append(attended.transpose(1, 2).reshape(-1, size))
        return torch.cat(parts)

    def _by_head(self, x: Tensor, sequences: int) -> Tensor:
        heads = self.config.num_attention_heads
        return x.view(sequences, -1, heads, self.config.hidden_size // heads).transpose(1, 2)

    def _transform(self, layer: _Layer, hidden: Tensor, attended: Tensor) -> Tensor:
        hidden = self._normalise(hidden + layer.attended(attended), layer.attended_norm)
        inner = layer.up(hidden.to(self._dtype), gelu=True)
        return self._normalise(hidden + layer.down(inner), layer.norm)

    def _normalise(self, x: Tensor, weight: Weight) -> Tensor:
        size = [self.config.hidden_size]
        return functional.layer_norm(x, size, *weight, self.config.layer_norm_eps)


def _affine(name: str, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
