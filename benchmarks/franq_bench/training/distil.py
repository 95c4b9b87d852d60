"""`python -m franq_bench.training.distil --data DATA --out DIR --own FOLDER`: learn from a teacher.

A larger network, the teacher (`training.teacher`), is trained on the labelled pairs, or its adapter
is read from `--teacher`. It labels them, pairs made from passages, and pairs without labels; then
the small network goes on from the shipped weights and learns the teacher's probabilities (Hinton et
al., arXiv 1503.02531). It is exported with a newly fitted blend, as by `franq_bench.training`. A
run that was stopped goes on where it was. `--longer` is a longer run over more pairs, whose result
is the mean of the shipped weights and its own (`recipe.LONGER`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from franq_bench.data import seen
from franq_bench.progress import report
from franq_bench.training import teacher as teaching
from franq_bench.training.export import export
from franq_bench.training.items import Item, encoded
from franq_bench.training.labelling import Pairs, to_label
from franq_bench.training.loop import Run, begin, epochs, mean, nll, tensors
from franq_bench.training.options import add_device, parsed, set_up_torch, training_parser
from franq_bench.training.own_claims import own_claims
from franq_bench.training.recipe import DISTILLATION, FIRST, LONGER, Distillation
from franq_bench.training.sources import fold_reader, texts_of
from franq_bench.training.teacher import Prompted, Teacher
from franq_bench.training.unlabelled import UNLABELLED
from franq_guard.faithfulness.small import storage
from franq_guard.faithfulness.small.encoder import Encoder
from franq_guard.faithfulness.small.minilm import load_minilm
from franq_guard.language_model import load_bundled

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ADAPTER = "adapter.safetensors"


@dataclass(frozen=True, slots=True)
class Taught(Item):
    """A training input with the teacher's probabilities of the three classes."""

    target: Tensor


class TeacherRun(Run[Prompted]):
    """Trains the teacher on labels."""

    def __init__(
        self, network: Teacher, recipe: Distillation, out: Path, *, device: str = "cpu"
    ) -> None:
        network.set_dropout(recipe.teacher.dropout)
        self._norm_rate = recipe.norm_rate
        super().__init__(network, recipe.teacher, out, device=device)

    def peak(self, name: str) -> float:
        """The norms are the base's own and move slowly; the adapters begin at nothing."""
        return self._norm_rate if name.startswith("base.") else super().peak(name)

    def logits(self, batch: Sequence[Prompted]) -> Tensor:
        """The teacher's logits (b, 3)."""
        found: Tensor = self.network(*teaching.tensors(batch, self.device))
        return found


class StudentRun(Run[Taught]):
    """Trains the small network on the teacher's probabilities and, a little, on labels."""

    def __init__(
        self, network: Encoder, recipe: Distillation, out: Path, *, device: str = "cpu"
    ) -> None:
        network.dropout = recipe.student.dropout
        self._share = recipe.share
        super().__init__(network, recipe.student, out, device=device)

    def logits(self, batch: Sequence[Taught]) -> Tensor:
        """The network's logits (b, 3)."""
        found: Tensor = self.network(*tensors(batch, self.device))
        return found

    def loss(self, logits: Tensor, batch: Sequence[Taught]) -> Tensor:
        """See `distillation`."""
        labels = torch.tensor([item.label for item in batch], device=self.device)
        targets = torch.stack([item.target for item in batch]).to(self.device)
        return distillation(logits, targets, labels, self._share)


def distillation(logits: Tensor, targets: Tensor, labels: Tensor, share: float) -> Tensor:
    """`share` of the cross-entropy to the teacher's probabilities, the rest the labels' NLL.

    The teacher's part is the mean over all pairs, the labels' over those that have one.

    Args:
        logits: the student's (b, 3).
        targets: the teacher's probabilities (b, 3).
        labels: as in `Example.label`, or `UNLABELLED` (b,).
        share: of the teacher, in [0, 1].
    """
    taught = -(targets * functional.log_softmax(logits, dim=1)).sum(1).mean()
    known = labels != UNLABELLED
    if not known.any():
        return share * taught
    return share * taught + (1 - share) * nll(logits[known], labels[known])


def labels_of(
    pairs: Pairs, recipe: Distillation, out: Path, adapter: Path | None, device: str
) -> Tensor:
    """Return the teacher's probabilities (n, 3) of all pairs.

    Args:
        pairs: what it reads.
        recipe: of its training.
        out: gets the checkpoints and the adapter, where it is trained.
        adapter: a stored one, which saves the training.
        device: "cpu" or "cuda".
    """
    bundled: Any = load_bundled(notify=report)
    teacher = Teacher(bundled.model, rank=recipe.rank, seed=recipe.teacher.seed)
    items = teaching.prompted(pairs.kept, bundled.tokenizer)
    if adapter is None:
        adapter = out / "teacher" / ADAPTER
        begin(adapter.parent, recipe.teacher, recipe.norm_rate, pairs.kept)
        run = TeacherRun(teacher, recipe, adapter.parent, device=device)

        def drawn(seed: int) -> list[Prompted]:
            places = pairs.drawn(recipe.teacher, seed=seed, without_labels=False)
            return [items[place] for place in places]

        epochs(run, drawn, report)
        teaching.write_adapter(adapter, run.averaged(), recipe.rank)
        report(f"teacher: {adapter}")
    teaching.read_adapter(adapter, teacher)  # also the trained one: averaged, in half precision
    report(f"labelling {len(items)} pairs")
    return teaching.logits(teacher.to(device), items, device=device).softmax(dim=1)


def student_of(
    pairs: Pairs,
    targets: Tensor,
    recipe: Distillation,
    out: Path,
    tokenizer: Tokenizer,
    device: str,
) -> dict[str, Tensor]:
    """Return the weights of the shipped network after its training on `targets` (n, 3).

    Or, with `recipe.mean`, their mean with those before it.
    """
    network = storage.load_network(storage.FOLDER)
    start = {n: p.detach().clone() for n, p in network.named_parameters() if p.requires_grad}
    run = StudentRun(network, recipe, out / "student", device=device)
    items = [
        Taught(item.pair, item.features, item.label, target)
        for item, target in zip(encoded(pairs.kept, tokenizer), targets, strict=True)
    ]

    def drawn(seed: int) -> list[Taught]:
        places = pairs.drawn(recipe.student, seed=seed, without_labels=True)
        return [items[place] for place in places]

    epochs(run, drawn, report)
    trained = run.averaged()
    return mean(start, trained) if recipe.mean else trained


def main(arguments: list[str] | None = None) -> int:
    """Train with the options of the command line; returns the exit code."""
    options = _options(arguments)
    set_up_torch(options.threads)
    read = fold_reader(options.data)
    labelled, passages = read("training")
    held = read("fitting")
    own = own_claims(options.data, options.own, options.own_labels)
    recipe = LONGER if options.longer else DISTILLATION
    pairs = to_label(labelled, passages, recipe)
    teacher = options.teacher and options.teacher.read_bytes()
    begin(options.out / "student", recipe, pairs.kept, teacher)  # before the hours of labelling
    report(f"{len(pairs.kept)} pairs to label")
    targets = labels_of(pairs, recipe, options.out, options.teacher, options.device)
    tokenizer = load_minilm()[1]
    trained = student_of(pairs, targets, recipe, options.out, tokenizer, options.device)
    folder = options.out / "weights"
    digest = export(trained, *held, own, folder, seed=FIRST.seed, report=report)
    texts = texts_of(labelled, passages) + texts_of(*held)
    seen.write(texts, options.out / seen.FILE.name)
    report(f"{folder}: SHA-256 {digest}")
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = training_parser("franq_bench.training.distil", __doc__)
    parser.add_argument(
        "--teacher", type=Path,
        help="a trained adapter (larger/franq_larger); without it one is trained",
    )  # fmt: skip
    parser.add_argument("--longer", action="store_true", help="five epochs over more pairs")
    add_device(parser, "days")
    options = parsed(parser, arguments)
    if options.teacher is not None:
        try:
            teaching.check_adapter(options.teacher, DISTILLATION.rank)
        except ValueError as error:
            parser.error(f"--teacher: {error}")
    return options


if __name__ == "__main__":
    sys.exit(main())
