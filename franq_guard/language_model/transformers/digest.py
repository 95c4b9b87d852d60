"""A digest of a model's weights, for its fingerprint."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any

from torch import Tensor

_OF_USE = {
    "pad_token_id": None,
    "use_cache": True,
    "output_attentions": False,
    "output_hidden_states": False,
    "return_dict": True,
}
"""Settings that programs change on a loaded model and that change no probability: in the digest
they count as these."""


def weights_digest(model: Any) -> str:
    """Eight hex digits of the configuration and of 64 evenly spread values of every tensor."""
    config = model.config.to_dict()
    for volatile in ("_name_or_path", "_model_name_or_path", "transformers_version", "dtype"):
        config.pop(volatile, None)
    config.update((key, value) for key, value in _OF_USE.items() if key in config)
    digest = hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode())
    for name, tensor in _plain(model.state_dict()):
        digest.update(f"{name}{tuple(tensor.shape)}".encode())
        if tensor.numel() and not tensor.is_meta:
            stride = math.ceil(tensor.numel() / 64)
            digest.update(tensor.flatten()[::stride].float().cpu().numpy().tobytes())
    return digest.hexdigest()[:8]


def _plain(tensors: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    """The tensors, and in place of a quantised one (torchao's) those that it consists of."""
    for name, tensor in tensors.items():
        if hasattr(tensor, "__tensor_flatten__"):
            parts = {part: getattr(tensor, part) for part in tensor.__tensor_flatten__()[0]}
            yield from _plain(parts, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", tensor
