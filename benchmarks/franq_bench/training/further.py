"""`python -m franq_bench.training.further --data DATA --out DIR --own FOLDER`: read new claims.

The small network goes on from the shipped weights over the claims of answers that no run before has
read (`NEW`), beside pairs of all other sets. Of the new claims it learns the labels; of the others
what it said of them before the run, so that it forgets nothing (Li and Hoiem, arXiv 1606.09282). It
is exported with a newly fitted blend, as by `franq_bench.training`. A run that was stopped goes on
where it was.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from franq_bench.data import seen
from franq_bench.data.pairs import Example, Question
from franq_bench.data.written import ANSWERS, WRITTEN
from franq_bench.progress import report
from franq_bench.training.distil import StudentRun, Taught
from franq_bench.training.export import export
from franq_bench.training.generate import generated
from franq_bench.training.items import Item, chosen, draw, encoded
from franq_bench.training.loop import batches, epochs, half_precision, tensors
from franq_bench.training.options import parsed, set_up_torch, training_parser
from franq_bench.training.own_claims import own_claims
from franq_bench.training.recipe import FIRST, FURTHER, Further
from franq_bench.training.sources import fold_reader, texts_of
from franq_guard.faithfulness.small import storage
from franq_guard.faithfulness.small.encoder import Encoder
from franq_guard.faithfulness.small.minilm import load_minilm

NEW: Final = frozenset(
    f"{ANSWERS}{name}" for name in ("code", "evidence", "joined", "office", "ops")
)
_TOKENS: Final = 6000
"""Of a batch that is only read."""


def known_pairs(
    pairs: Sequence[Example], questions: Sequence[Question], recipe: Further
) -> list[Example]:
    """Return the pairs, as they are read, of which the network keeps what it says.

    Args:
        pairs: the training fold's.
        questions: its passages, from which pairs are made.
        recipe: how many of each kind.
    """
    seed = recipe.run.seed
    rng = random.Random(seed)  # noqa: S311 - no secret
    old = [e for e in pairs if e.dataset not in NEW]
    written = [e for e in old if e.dataset.startswith(WRITTEN)]
    answers = [e for e in old if e.dataset.startswith(ANSWERS)]
    others = [e for e in old if not e.dataset.startswith((WRITTEN, ANSWERS))]
    drawn = draw(others, seed=seed, repeated=recipe.run.repeated)
    drawn += rng.sample(written, min(recipe.written, len(written)))
    drawn += rng.sample(answers, min(recipe.answers, len(answers)))
    drawn += generated(questions, count=recipe.run.generated, seed=seed)
    return chosen(drawn, seed=seed)


@torch.no_grad()
def said_of(network: Encoder, items: Sequence[Item]) -> Tensor:
    """Return the network's probabilities (n, 3) of the three classes."""
    network.eval()
    found = torch.zeros(len(items), 3)
    with half_precision(torch.device("cpu")):
        for places in batches(items, _TOKENS, seed=0):
            found[places] = network(*tensors([items[i] for i in places])).float()
    return found.softmax(dim=1)


def smoothed(label: int, share: float) -> Tensor:
    """Return the classes' probabilities (3,) of a label that is right but for `share` of them."""
    return torch.full((3,), share / 3) + (1 - share) * torch.eye(3)[label]


def trained(
    pairs: Sequence[Example], questions: Sequence[Question], recipe: Further, out: Path
) -> dict[str, Tensor]:
    """Return the weights after the run, from the shipped ones."""
    network, tokenizer = storage.load_network(storage.FOLDER), load_minilm()[1]
    known = encoded(known_pairs(pairs, questions, recipe), tokenizer)
    report(f"what the network says of {len(known)} pairs before the run")
    said = said_of(network, known)
    new = [e for e in pairs if e.dataset in NEW]

    def drawn(seed: int) -> list[Taught]:
        items = encoded(chosen(new, seed=seed), tokenizer)
        labelled = [
            Taught(i.pair, i.features, i.label, smoothed(i.label, recipe.smoothing)) for i in items
        ]
        rng = random.Random(seed)  # noqa: S311 - no secret
        kept = rng.sample(range(len(known)), min(recipe.kept, len(known)))
        return labelled + [
            Taught(known[i].pair, known[i].features, known[i].label, said[i]) for i in kept
        ]

    run = StudentRun(network, recipe.distillation, out / "further")
    epochs(run, drawn, report)
    return run.averaged()


def main(arguments: list[str] | None = None) -> int:
    """Train with the options of the command line; returns the exit code."""
    options = parsed(training_parser("franq_bench.training.further", __doc__), arguments)
    set_up_torch(options.threads)
    read = fold_reader(options.data)
    pairs, held = read("training"), read("fitting")
    own = own_claims(options.data, options.own, options.own_labels)
    weights = trained(*pairs, FURTHER, options.out)
    folder = options.out / "weights"
    digest = export(weights, *held, own, folder, seed=FIRST.seed, report=report)
    seen.write([t for part in (pairs, held) for t in texts_of(*part)], options.out / seen.FILE.name)
    report(f"{folder}: SHA-256 {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
