"""The teacher: the bundled language model as a cross-encoder, with trained low-rank adapters.

SmolLM2-135M reads "Passage: ...", then "Claim: ...". Its matrices stay as they are; beside each
stands a trained product of two narrow ones (Hu et al., arXiv 2106.09685), its norms are trained,
and the head is like the small network's: it reads the last token, mean and maximum of the claim's
tokens and the ten overlap features. What is trained is stored alone, as the adapter.

It is six times as large as the small network and knows more words and facts. It labels pairs for
it, and is a slower faithfulness model by itself (:mod:`franq_guard.faithfulness.larger`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from franq_bench.data.pairs import Example
from franq_bench.training.loop import half_precision
from franq_guard.faithfulness.larger.adapter import (
    FORMAT,
    GROUPS,
    MAX_CLAIM,
    MAX_PASSAGE,
    SCALE,
    about,
)
from franq_guard.faithfulness.larger.network import classes, pooled
from franq_guard.faithfulness.larger.reading import CLAIM, PASSAGE, line_of
from franq_guard.faithfulness.small.encoder import CLASSES, HEAD_HIDDEN
from franq_guard.faithfulness.small.encoder_input import by_budget
from franq_guard.faithfulness.small.features import FEATURES, features
from franq_guard.language_model.transformers.smollm2 import SHA256

LICENCE: Final = "CC BY-SA 4.0"
_BATCH: Final = 65_536  # tokens that are labelled at once, padding included
_DROPPED: Final = ("out", "down")  # what is added to the hidden states


@dataclass(frozen=True, slots=True)
class Prompt:
    """One input: the tokens of passage and claim; the claim's text begins at `claim`."""

    ids: list[int]
    claim: int

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt with its features and label (see `Example.label`)."""

    pair: Prompt
    features: list[float]
    label: int


class Adapter(nn.Module):
    """The trained matrices beside frozen ones that read the same input: `a` and then `b`."""

    def __init__(self, inputs: int, outputs: int, rank: int) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.randn(rank, inputs) / math.sqrt(inputs))
        self.b = nn.Parameter(torch.zeros(outputs, rank))  # adds nothing before training


class Adapted(nn.Module):
    """A frozen matrix and its rows of an adapter, in the place of a linear layer."""

    def __init__(self, weight: Tensor, adapter: Adapter, first: int, dropout: nn.Module) -> None:
        super().__init__()
        self.register_buffer("weight", weight, persistent=False)
        self.adapter, self.rows, self.dropout = adapter, slice(first, first + len(weight)), dropout

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., inputs) to (..., outputs)."""
        narrow = functional.linear(x, self.adapter.a)
        added = functional.linear(narrow, self.adapter.b[self.rows] * SCALE)
        out: Tensor = self.dropout(functional.linear(x, self.get_buffer("weight")) + added)
        return out


class Teacher(nn.Module):
    """Cross-encoder from prompts to three logits.

    Args:
        model: a causal language model of Llama's kind; its layers are changed, so it is of no use
            for anything else afterwards.
        rank: of the adapters.
        seed: of the adapters' and the head's first values.
    """

    def __init__(self, model: Any, *, rank: int, seed: int) -> None:
        super().__init__()
        self.rank = rank
        self._dropout = nn.Dropout(0.0)
        base = model.model
        base.requires_grad_(False)
        hidden = base.config.hidden_size
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            self.layers = nn.ModuleList(self._adapt(layer) for layer in base.layers)
            self.head_in = nn.Linear(3 * hidden + len(FEATURES), HEAD_HIDDEN)
            self.head_out = nn.Linear(HEAD_HIDDEN, CLASSES)
        for name, parameter in base.named_parameters():
            if "norm" in name:
                parameter.requires_grad_(True)
        self.base = base

    def _adapt(self, layer: Any) -> nn.ModuleDict:
        """Put adapters beside all matrices of a layer; returns them by group."""
        found = {}
        for group, names in GROUPS.items():
            weights = [layer.get_submodule(name).weight.detach() for name in names]
            outputs = sum(len(weight) for weight in weights)
            found[group] = Adapter(weights[0].shape[1], outputs, self.rank)
            dropout = self._dropout if group in _DROPPED else nn.Identity()
            first = 0
            for name, weight in zip(names, weights, strict=True):
                room, _, own = name.rpartition(".")
                adapted = Adapted(weight, found[group], first, dropout)
                setattr(layer.get_submodule(room), own, adapted)
                first += len(weight)
        return nn.ModuleDict(found)

    def set_dropout(self, probability: float) -> None:
        """Set what is dropped in training, of what layers add and of the head's input."""
        self._dropout.p = probability

    def encode(self, ids: Tensor) -> Tensor:
        """The last hidden states (b, t, hidden) of token ids (b, t), padded on the right.

        Tokens see only those before them, so padding needs no mask.
        """
        states: Tensor = self.base(input_ids=ids, use_cache=False).last_hidden_state
        return states

    def forward(self, ids: Tensor, claim: Tensor, last: Tensor, features: Tensor) -> Tensor:
        """Return logits (b, 3): entailment, neutral, contradiction.

        Args:
            ids: token ids (b, t), padded on the right.
            claim: true at the claim's tokens (b, t), at least one in each row.
            last: place of each row's last token (b,).
            features: float array (b, len(FEATURES)).
        """
        read = self._dropout(pooled(self.encode(ids), claim, last, features))
        return classes(self.head_in, self.head_out, read)


def adapter_of(teacher: Teacher) -> dict[str, Tensor]:
    """The adapter's tensors by name: all that is trained."""
    return {n: p.detach() for n, p in teacher.named_parameters() if p.requires_grad}


def prompts(pairs: Sequence[Example], tokenizer: Any) -> list[Prompt]:
    """Return the prompt of each pair; a long passage is cut to 420 tokens, a claim to 256."""
    passages = _ids(tokenizer, [line_of(PASSAGE, e.premise) for e in pairs], MAX_PASSAGE)
    claims = _ids(tokenizer, [line_of(CLAIM, e.hypothesis) for e in pairs], MAX_CLAIM)
    word = len(_ids(tokenizer, [CLAIM], MAX_CLAIM)[0])
    return [
        Prompt([*passage, *claim], len(passage) + word)
        for passage, claim in zip(passages, claims, strict=True)
    ]


def _ids(tokenizer: Any, lines: list[str], most: int) -> list[list[int]]:
    found = tokenizer(lines, add_special_tokens=False)["input_ids"] if lines else []
    return [ids[:most] for ids in found]


def prompted(pairs: Sequence[Example], tokenizer: Any) -> list[Prompted]:
    """Return the teacher's input for each pair."""
    return [
        Prompted(prompt, features(e.hypothesis, e.premise), e.label)
        for prompt, e in zip(prompts(pairs, tokenizer), pairs, strict=True)
    ]


def tensors(
    items: Sequence[Prompted], device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the teacher's four inputs for a batch."""
    lengths = torch.tensor([len(item.pair) for item in items])
    width = int(lengths.max())
    ids = torch.tensor([item.pair.ids + [0] * (width - len(item.pair)) for item in items])
    places = torch.arange(width)[None, :]
    claim = places >= torch.tensor([[item.pair.claim] for item in items])
    claim &= places < lengths[:, None]
    found = torch.tensor([item.features for item in items])
    return ids.to(device), claim.to(device), (lengths - 1).to(device), found.to(device)


def logits(teacher: Teacher, items: Sequence[Prompted], *, device: str = "cpu") -> Tensor:
    """Return the logits (n, 3) of pairs in their order, on the CPU.

    Args:
        teacher: on `device`.
        items: the pairs.
        device: "cpu" or "cuda".
    """
    teacher.eval()
    found = torch.zeros(len(items), CLASSES)
    with torch.no_grad(), half_precision(torch.device(device)):
        for batch in by_budget([len(item.pair) for item in items], _BATCH):
            read = teacher(*tensors([items[i] for i in batch], device))
            found[batch] = read.float().cpu()
    return found


def write_adapter(path: Path, tensors: dict[str, Tensor], rank: int) -> None:
    """Write an adapter in half precision, with its rank, licence and the base's SHA-256."""
    about = {"rank": rank, "base": SHA256, "licence": LICENCE}
    stored = {name: tensor.to(torch.float16).contiguous() for name, tensor in tensors.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    # A single entry, because the library does not keep the order of several.
    save_file(stored, path, metadata={FORMAT: json.dumps(about)})


def check_adapter(path: Path, rank: int) -> None:
    """Look whether a file is an adapter of this rank for the bundled language model.

    Raises:
        ValueError: it is none; the message says what to do.
    """
    instead = "leave the option out to train one"
    try:
        found = about(path)["rank"]
    except ValueError as error:
        raise ValueError(f"{error}; {instead}") from error
    if found != rank:
        raise ValueError(
            f"{path} has rank {found}, the recipe's teacher rank {rank}: "
            f"set the rank in franq_bench/training/recipe.py, or {instead}"
        )


def read_adapter(path: Path, teacher: Teacher) -> None:
    """Put a stored adapter into `teacher`.

    Raises:
        ValueError: see :func:`check_adapter`.
    """
    check_adapter(path, teacher.rank)
    stored, own = load_file(path), adapter_of(teacher)
    if {n: t.shape for n, t in stored.items()} != {n: t.shape for n, t in own.items()}:
        raise ValueError(f"{path} does not fit this version of the teacher; train one anew")
    for name, tensor in stored.items():
        own[name].copy_(tensor)
