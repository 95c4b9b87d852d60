"""Reads AlignScore's weights: published Lightning checkpoints, or directories converted from them.

Nothing in a file is executed: checkpoints are read with ``weights_only=True``, the rest is JSON and
safetensors. Optimizer states, the masked-LM head and unknown tensors are ignored. If a required
tensor is missing, has the wrong shape or contains a non-finite value, the error names it.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from franq_guard.faithfulness.alignscore.encoder import EncoderConfig
from franq_guard.faithfulness.alignscore.files import (
    CONFIG_FILE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    CheckpointError,
)

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True)
class Weights:
    """What AlignScore needs: tensors (float32, named as in the checkpoint), shape and tokenizer."""

    config: EncoderConfig
    tensors: Mapping[str, Tensor]
    tokenizer: Tokenizer

    def special(self, token: str) -> int:
        """Id of a special token.

        Raises:
            CheckpointError: the tokenizer has no such token, so it does not belong to a RoBERTa.
        """
        found: int | None = self.tokenizer.token_to_id(token)
        if found is None:
            raise CheckpointError(f"the backbone's tokenizer has no {token}: it is not a RoBERTa's")
        return found

    def digest(self) -> str:
        """SHA-256 (first 16 hex digits) of tensors, shape and tokenizer: identifies the weights."""
        total = sha256(repr(self.config).encode())
        total.update(self.tokenizer.to_str().encode())
        for name in sorted(self.tensors):
            total.update(name.encode())
            total.update(self.tensors[name].contiguous().view(-1).numpy().data)
        return total.hexdigest()[:16]


def read_weights(path: str | Path, *, backbone: str | Path | None = None) -> Weights:
    """Read a checkpoint (``.ckpt``), or a converted directory or its ``.safetensors`` file.

    `backbone` is a directory with ``config.json`` and ``tokenizer.json``, or ``"roberta-base"`` or
    ``"roberta-large"`` (fetched from the model hub). By default: the converted directory itself;
    for a checkpoint, the backbone it names, looked for beside it and then on the hub.

    Raises:
        FileNotFoundError: `path` does not exist.
        CheckpointError: something is damaged, missing, or does not fit together.
    """
    path = Path(path)
    file = path / WEIGHTS_FILE if path.is_dir() else path
    if not file.is_file():
        hint = "; convert a checkpoint with `franq convert-alignscore`" if path.is_dir() else ""
        raise FileNotFoundError(f"no AlignScore weights at {file}{hint}")
    if file.suffix == ".safetensors":
        tensors, named = _read_safetensors(file), str(file.parent)
    else:
        tensors, named = _read_lightning(file)
    config, tokenizer = read_backbone(named if backbone is None else backbone)
    return Weights(config, _needed(tensors, config.shapes(), file), tokenizer)


def read_backbone(backbone: str | Path) -> tuple[EncoderConfig, Tokenizer]:
    """Shape and tokenizer of a RoBERTa: from a directory, or by name from the model hub.

    Raises:
        CheckpointError: the directory lacks a file, or the model is not a RoBERTa.
    """
    from tokenizers import Tokenizer

    directory = Path(backbone)
    if not directory.is_dir():
        from franq_guard.faithfulness.alignscore.hub import backbone_directory

        directory = backbone_directory(str(backbone))
    for name in (CONFIG_FILE, TOKENIZER_FILE):
        if not (directory / name).is_file():
            raise CheckpointError(
                f"the backbone {directory} has no {name}: give backbone= a directory that "
                "AutoTokenizer and AutoConfig of transformers saved with save_pretrained"
            )
    try:
        config = _config(json.loads((directory / CONFIG_FILE).read_text(encoding="utf-8")))
        tokenizer = Tokenizer.from_file(str(directory / TOKENIZER_FILE))
    except CheckpointError:
        raise
    except Exception as error:  # tokenizers raises bare Exception for a malformed file
        raise CheckpointError(f"the backbone {directory} cannot be read: {error}") from error
    if tokenizer.get_vocab_size() > config.vocab_size:
        raise CheckpointError(
            f"the tokenizer of {directory} knows {tokenizer.get_vocab_size()} tokens, its "
            f"{CONFIG_FILE} only {config.vocab_size}: they are not of the same model"
        )
    return config, tokenizer


def _config(values: dict[str, Any]) -> EncoderConfig:
    kind, activation = values.get("model_type"), values.get("hidden_act", "gelu")
    if kind != "roberta" or activation != "gelu":
        raise CheckpointError(
            f"AlignScore's backbone is a RoBERTa with gelu, not {kind!r} with {activation!r}"
        )
    missing = [field.name for field in fields(EncoderConfig) if field.name not in values]
    if missing:
        raise CheckpointError(f"the backbone's {CONFIG_FILE} lacks {', '.join(missing)}")
    return EncoderConfig(**{field.name: values[field.name] for field in fields(EncoderConfig)})


def _read_safetensors(file: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors: dict[str, Tensor] = load_file(file)
    except SafetensorError as error:
        raise CheckpointError(f"{file} is damaged or not a safetensors file: {error}") from error
    return tensors


def _read_lightning(file: Path) -> tuple[dict[str, Tensor], str]:
    """Tensors of the checkpoint's state_dict, and the backbone that it names."""
    try:
        # With mmap the optimizer states, two thirds of the file, are never read into memory.
        content = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{file} is damaged, or holds Python objects besides tensors and plain values, which "
            f"are refused because loading them could run code: {error}"
        ) from error
    except (RuntimeError, EOFError, ValueError, KeyError) as error:
        raise CheckpointError(
            f"{file} is damaged or was not written by torch.save (zip format); download it again: "
            f"{error}"
        ) from error
    state = content.get("state_dict") if isinstance(content, dict) else None
    if not isinstance(state, dict):
        raise CheckpointError(f"{file} is not a Lightning checkpoint: it has no state_dict")
    parameters = content.get("hyper_parameters")
    name = str(parameters.get("model", "")) if isinstance(parameters, dict) else ""
    beside = file.parent / Path(name).name
    tensors = {key: value for key, value in state.items() if isinstance(value, Tensor)}
    return tensors, str(beside) if name and beside.is_dir() else name


def _needed(
    tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], file: Path
) -> dict[str, Tensor]:
    missing = sorted(set(shapes) - set(tensors))
    if missing:
        raise CheckpointError(
            f"{file} lacks {len(missing)} of {len(shapes)} tensors that AlignScore needs, such as "
            f"{missing[0]}: it is not an AlignScore checkpoint, or backbone= is a larger backbone"
        )
    for name, shape in shapes.items():
        tensor = tensors[name]
        if tuple(tensor.shape) != shape:
            raise CheckpointError(
                f"{file}: {name} has shape {tuple(tensor.shape)}, the backbone needs {shape}: "
                "give the backbone= that the checkpoint was trained on"
            )
        if not bool(torch.isfinite(tensor).all()):
            raise CheckpointError(f"{file} is damaged: {name} holds values that are not finite")
    return {name: tensors[name].to(torch.float32) for name in shapes}
