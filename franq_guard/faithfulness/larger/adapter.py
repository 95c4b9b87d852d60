"""The file of an adapter: low-rank matrices beside a language model's own, its norms, and a head.

An adapter makes a cross-encoder of the bundled language model, which reads "Passage: ...", then
"Claim: ..." (Hu et al., arXiv 2106.09685).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file

from franq_guard.language_model.transformers.smollm2 import SHA256

if TYPE_CHECKING:
    from torch import Tensor, nn

FORMAT: Final = "franq.faithfulness-teacher/1"
MAX_PASSAGE: Final = 420  # tokens
MAX_CLAIM: Final = 256
SCALE: Final = 2.0  # of the matrices' products
#: Matrices that read the same input share the first, narrow one of their adapters.
GROUPS: Final = {
    "qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "out": ("self_attn.o_proj",),
    "up": ("mlp.gate_proj", "mlp.up_proj"),
    "down": ("mlp.down_proj",),
}


def about(path: Path) -> dict[str, Any]:
    """Return an adapter's rank, licence and base, after a look whether it is for our base.

    Raises:
        ValueError: it is none; the message says what it is.
    """
    try:
        with safe_open(path, framework="pt") as stored:
            found: dict[str, Any] = json.loads((stored.metadata() or {})[FORMAT])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ValueError(f"{path} is no adapter of a teacher ({FORMAT})") from error
    if found["base"] != SHA256:
        raise ValueError(f"{path} was trained for another base than {SHA256[:8]}")
    return found


def merge(base: Any, path: Path) -> tuple[nn.Linear, nn.Linear]:
    """Add an adapter to the matrices of a language model; returns the head's two layers.

    Args:
        base: the layers of the bundled model in float32, without its last matrix; changed in place.
        path: the adapter's file.

    Raises:
        ValueError: it does not fit the model; :func:`about` tells what is no adapter at all.
    """
    import torch

    stored = {name: tensor.float() for name, tensor in load_file(path).items()}
    misfit = f"{path} does not fit this version of franq-guard"
    try:
        with torch.no_grad():
            for number, layer in enumerate(base.layers):
                _add(stored, f"layers.{number}", layer)
        head_in, head_out = _linear(stored, "head_in"), _linear(stored, "head_out")
    except KeyError as error:
        raise ValueError(f"{misfit}: it lacks {error}") from error
    norms = {name.removeprefix("base."): tensor for name, tensor in stored.items()}
    if base.load_state_dict(norms, strict=False).unexpected_keys:
        raise ValueError(misfit)
    return head_in, head_out


def _add(stored: dict[str, Tensor], place: str, layer: Any) -> None:
    """Add the products stored for one layer to its matrices."""
    import torch

    for group, names in GROUPS.items():
        added = stored.pop(f"{place}.{group}.b") @ stored.pop(f"{place}.{group}.a") * SCALE
        weights = [layer.get_submodule(name).weight for name in names]
        parts = torch.split(added, [*map(len, weights)])
        for weight, rows in zip(weights, parts, strict=True):
            weight.add_(rows)


def _linear(stored: dict[str, Tensor], name: str) -> nn.Linear:
    from torch import nn

    weight, bias = stored.pop(f"{name}.weight"), stored.pop(f"{name}.bias")
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.load_state_dict({"weight": weight, "bias": bias})
    return layer
