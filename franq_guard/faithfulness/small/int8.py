"""The encoder's matrix products in int8, for processors that do not multiply bfloat16.

The weights are stored as int8 and used as they are. Each token's activations are scaled to [-1, 1]
and rounded to 7 bits, so that a token's result does not depend on the other tokens of its batch.
Sums are whole numbers, hence the same in any order.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, Final

import torch
from torch import Tensor, nn

from franq_guard.faithfulness.small.encoder import HIDDEN, Encoder, Layer

_STEPS: Final = 127
"""Of a weight's largest value."""
_ACTIVATION_STEPS: Final = 63
_ZERO: Final = 64
"""Activations are bytes from 1 to 127, 64 for 0: AVX2 adds pairs of products in 16 bits, which
8-bit activations would overflow."""
_SMALLEST: Final = 1e-12


@cache
def int8_works() -> bool:
    """Whether this torch multiplies int8 by FBGEMM, which it has for x86 processors with AVX2."""
    if torch.backends.quantized.engine not in ("x86", "fbgemm"):
        return False
    try:
        made = Int8Linear(torch.eye(8), torch.zeros(8))(torch.eye(8))
    except (AttributeError, RuntimeError):  # not in this version of torch
        return False
    return bool((made - torch.eye(8)).abs().max() < 0.1)


class Int8Linear(nn.Module):
    """A linear layer with int8 weights, one scale per output channel, and int8 activations.

    Args:
        weight: (out, in).
        bias: (out,).
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        weight = weight.detach()
        scale = weight.abs().amax(dim=1).clamp_min(_SMALLEST) / _STEPS
        zeros = torch.zeros(len(weight), dtype=torch.long)
        with warnings.catch_warnings():  # torch announces another way to make such tensors
            warnings.simplefilter("ignore")
            whole = torch.quantize_per_channel(weight, scale, zeros, 0, torch.qint8)
        self._packed: Any = torch.ops.quantized.linear_prepack(whole, None)
        self._multiply: Any = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32
        self.bias = bias.detach().clone()

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., in) to (..., out)."""
        largest = x.abs().amax(dim=-1, keepdim=True).clamp_min(_SMALLEST)
        made: Tensor = self._multiply(x / largest, 1 / _ACTIVATION_STEPS, _ZERO, self._packed)
        return made.mul_(largest).add_(self.bias)


class Int8Layer(Layer):
    """A layer whose products are :class:`Int8Linear`; for inference alone."""

    def __init__(self, layer: Layer) -> None:
        nn.Module.__init__(self)
        weight, bias = layer.qkv.weight, layer.qkv.bias
        self.query_of = Int8Linear(weight[:HIDDEN], bias[:HIDDEN])
        self.both_of = Int8Linear(weight[HIDDEN:], bias[HIDDEN:])
        for name in ("out", "up", "down"):
            linear = getattr(layer, name)
            setattr(self, name, Int8Linear(linear.weight, linear.bias))
        self.norm_attention, self.norm_output = layer.norm_attention, layer.norm_output

    def query(self, x: Tensor) -> Tensor:
        """As in `Layer`."""
        made: Tensor = self.query_of(x)
        return made

    def key_and_value(self, x: Tensor) -> Tensor:
        """As in `Layer`."""
        made: Tensor = self.both_of(x)
        return made


def in_int8(network: Encoder) -> Encoder:
    """Turn the layers of `network`, in float32 and evaluation mode, into int8; returns it."""
    network.layers = nn.ModuleList(Int8Layer(layer) for layer in network.layers)
    return network.eval()
