"""The training loop: epochs of balanced draws, bf16 autocast, averaged weights, resumable."""

from __future__ import annotations

import hashlib
import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from franq_bench.data.pairs import Example, Question
from franq_bench.training.generate import generated
from franq_bench.training.items import Item, draw, make_items
from franq_bench.training.recipe import Distillation, Recipe
from franq_guard.basics.numbers import native_bfloat16
from franq_guard.faithfulness.small.encoder import Encoder
from franq_guard.faithfulness.small.encoder_input import by_budget, pad

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Report = Callable[[str], None]


class Input(Protocol):
    """What a network reads at once; batches are built by its length in tokens."""

    @property
    def pair(self) -> Sized:
        """Claim and text, encoded."""

    @property
    def label(self) -> int:
        """As in `Example.label`."""


Kind = TypeVar("Kind", bound=Input)


class Run(ABC, Generic[Kind]):
    """Network, optimiser and averaged weights of one run in `out` (see `begin`).

    A checkpoint is written every `save_every` steps; a run that finds one goes on from it: same
    epoch, same order of batches, next step. A subclass says how the network reads a batch
    (`logits`) and, if not the labels alone, what it learns from it (`loss`).
    """

    def __init__(
        self, network: nn.Module, recipe: Recipe, out: Path, *, device: str = "cpu"
    ) -> None:
        self.network, self.recipe, self.out = network.to(device), recipe, out
        self.device = torch.device(device)
        self.trained = {n: p for n, p in network.named_parameters() if p.requires_grad}
        by_rate: dict[float, list[nn.Parameter]] = {}
        for name, parameter in self.trained.items():
            by_rate.setdefault(self.peak(name), []).append(parameter)
        self.optimiser = torch.optim.AdamW(
            [{"params": found, "peak": peak} for peak, found in by_rate.items()],
            lr=recipe.rate, weight_decay=recipe.weight_decay, betas=(0.9, 0.98), fused=True,
        )  # fmt: skip
        self.average = {n: p.detach().clone() for n, p in self.trained.items()}
        self.step = 0
        self.save_every = 200

    def peak(self, name: str) -> float:
        """The highest learning rate of a parameter."""
        return self.recipe.head_rate if name.startswith(("head", "mark")) else self.recipe.rate

    @abstractmethod
    def logits(self, batch: Sequence[Kind]) -> Tensor:
        """The network's logits (b, 3)."""

    def loss(self, logits: Tensor, batch: Sequence[Kind]) -> Tensor:
        """What a step lowers: the labels' negative log-likelihood; the logits are in float32."""
        return nll(logits, torch.tensor([item.label for item in batch], device=self.device))

    def update(self, batch: Sequence[Kind], progress: float) -> float:
        """Take one step on `batch`; `progress` counts epochs. Returns the loss."""
        scale = rate(self.recipe, progress)
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * max(scale, 0.01)
        torch.manual_seed(1_000_000 * self.recipe.seed + self.step)  # dropout of a resumed run
        with half_precision(self.device):
            logits = self.logits(batch)
        loss = self.loss(logits.float(), batch)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.trained.values(), 1.0, foreach=True)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        keep = min(self.recipe.averaging, (1 + self.step) / (10 + self.step))
        torch._foreach_lerp_(
            list(self.average.values()), [p.detach() for p in self.trained.values()], 1 - keep
        )
        return float(loss.detach())

    def save(self, epoch: int, done: int) -> None:
        """Write the checkpoint: tensors as safetensors, counters as JSON, both replaced at once."""
        state = {f"weight.{n}": p.detach() for n, p in self.trained.items()}
        state |= {f"average.{n}": p for n, p in self.average.items()}
        for name, parameter in self.trained.items():
            for key in ("exp_avg", "exp_avg_sq", "step"):
                state[f"{key}.{name}"] = self.optimiser.state[parameter][key]
        save_file(state, self.out / "checkpoint.new")
        (self.out / "checkpoint.new").replace(self.out / f"checkpoint-{self.step}.safetensors")
        progress = {"epoch": epoch, "batches": done, "step": self.step}
        (self.out / "progress.new").write_text(json.dumps(progress), encoding="utf-8")
        (self.out / "progress.new").replace(self.out / "progress.json")
        for old in self.out.glob("checkpoint-*.safetensors"):
            if old.name != f"checkpoint-{self.step}.safetensors":
                old.unlink()

    def resume(self) -> tuple[int, int]:
        """Load the checkpoint, if there is one; returns the epoch and the batches done in it."""
        path = self.out / "progress.json"
        if not path.exists():
            return 0, 0
        progress = json.loads(path.read_text(encoding="utf-8"))
        self.step = progress["step"]
        path = self.out / f"checkpoint-{self.step}.safetensors"
        state = load_file(path, device=str(self.device))
        with torch.no_grad():
            for name, parameter in self.trained.items():
                parameter.copy_(state[f"weight.{name}"])
                self.average[name].copy_(state[f"average.{name}"])
                keys = ("exp_avg", "exp_avg_sq", "step")
                self.optimiser.state[parameter] = {k: state[f"{k}.{name}"].clone() for k in keys}
        return int(progress["epoch"]), int(progress["batches"])

    def averaged(self) -> dict[str, Tensor]:
        """Return the averaged weights by name, on the CPU and without what is frozen."""
        return {n: t.to("cpu", copy=True) for n, t in self.average.items()}


class Trainer(Run[Item]):
    """Trains the small network on labels."""

    def __init__(self, network: Encoder, recipe: Recipe, out: Path, *, device: str = "cpu") -> None:
        network.dropout = recipe.dropout
        super().__init__(network, recipe, out, device=device)

    def logits(self, batch: Sequence[Item]) -> Tensor:
        """The network's logits (b, 3)."""
        found: Tensor = self.network(*tensors(batch, self.device))
        return found


def begin(out: Path, recipe: Recipe | Distillation, *read: object) -> None:
    """Make the folder of a run, and write `recipe.json`: its recipe and a digest of what it reads.

    Raises:
        ValueError: `out` has a run of another recipe or other data, from which it would go on.
    """
    digest = hashlib.sha256(repr(read).encode()).hexdigest()[:16]
    settings = json.dumps(asdict(recipe) | {"read": digest}, indent=1)
    out.mkdir(parents=True, exist_ok=True)
    file = out / "recipe.json"
    if (out / "progress.json").exists() and file.read_text(encoding="utf-8") != settings:
        raise ValueError(
            f"{out} has a run of another recipe or other data: remove it, or give another --out"
        )
    file.write_text(settings, encoding="utf-8")


def mean(one: dict[str, Tensor], other: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the mean of two networks' weights (Wortsman et al., arXiv 2203.05482)."""
    return {name: (tensor + other[name]) / 2 for name, tensor in one.items()}


def half_precision(device: torch.device) -> torch.autocast:
    """Products in bfloat16 where the device multiplies it itself."""
    enabled = device.type != "cpu" or native_bfloat16()
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled)


def train(
    trainer: Trainer, examples: Sequence[Example], questions: Sequence[Question],
    tokenizer: Tokenizer, report: Report,
) -> None:  # fmt: skip
    """Run the recipe's epochs over labelled and made pairs, from wherever `trainer.out` stands."""
    recipe = trainer.recipe
    start = [tensor.cpu().numpy().tobytes() for tensor in trainer.average.values()]
    begin(trainer.out, recipe, examples, questions, start)

    def drawn(seed: int) -> list[Item]:
        pairs = draw(examples, seed=seed, repeated=recipe.repeated)
        pairs += generated(questions, count=recipe.generated, seed=seed)
        return make_items(pairs, tokenizer, seed=seed)

    epochs(trainer, drawn, report)


def epochs(run: Run[Kind], drawn: Callable[[int], Sequence[Kind]], report: Report) -> None:
    """Run the recipe's epochs from wherever `run.out` stands.

    Args:
        run: what is trained.
        drawn: an epoch's seed -> what it reads.
        report: gets a line now and then.
    """
    first, done = run.resume()
    recipe = run.recipe
    for epoch in range(first, recipe.epochs):
        seed = recipe.seed + 1000 * epoch
        items = drawn(seed)
        plan = list(batches(items, recipe.batch_tokens, seed=seed))
        report(f"epoch {epoch + 1}: {len(items)} pairs drawn, {len(plan)} batches")
        _epoch(run, [[items[i] for i in b] for b in plan], epoch, done, report)
        done = 0


def _epoch(
    run: Run[Kind], plan: Sequence[Sequence[Kind]], epoch: int, done: int, report: Report
) -> None:
    run.network.train()
    losses: list[float] = []
    started, tokens = time.monotonic(), 0
    for index in range(done, len(plan)):
        losses.append(run.update(plan[index], epoch + index / len(plan)))
        tokens += sum(len(item.pair) for item in plan[index])
        if (index + 1) % 25 == 0:
            speed = tokens / (time.monotonic() - started)
            loss = np.mean(losses[-100:])
            report(f"{epoch + 1}: {index + 1}/{len(plan)} loss {loss:.4f} {speed:.0f} tokens/s")
        if (index + 1) % run.save_every == 0:
            run.save(epoch, index + 1)
    run.save(epoch + 1, 0)


def rate(recipe: Recipe, progress: float) -> float:
    """Return the learning rate as a share of its peak, `progress` epochs into the run."""
    done = progress / recipe.epochs
    warm = recipe.warm_up
    return done / warm if done < warm else (1 - done) / (1 - warm)


def batches(items: Sequence[Input], tokens: int, *, seed: int) -> Iterator[list[int]]:
    """Yield shuffled batches of similar length: within 2,048 shuffled items, by a token budget."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    order = list(range(len(items)))
    rng.shuffle(order)
    plan: list[list[int]] = []
    for start in range(0, len(order), 2048):
        part = order[start : start + 2048]
        plan += [
            [part[i] for i in b] for b in by_budget([len(items[i].pair) for i in part], tokens)
        ]
    rng.shuffle(plan)
    yield from plan


def tensors(
    items: Sequence[Item], device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the network's five inputs for a batch."""
    arrays = pad([item.pair for item in items])
    ids, marks, mask, claim = (torch.from_numpy(a).to(device) for a in arrays)
    return ids, marks, mask, claim, torch.tensor([item.features for item in items], device=device)


def nll(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean negative log-likelihood; label 3 is "neutral or contradiction": their sum counts."""
    log = functional.log_softmax(logits, dim=1)
    either = torch.logsumexp(log[:, 1:], dim=1, keepdim=True)
    return -torch.cat([log, either], dim=1).gather(1, labels[:, None]).mean()
