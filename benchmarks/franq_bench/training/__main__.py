"""`python -m franq_bench.training --data DATA --out DIR --own FOLDER`: four runs, then export.

The first run starts from MiniLM, the second from the weights of the first, the third
(`recipe.JOINT`) from MiniLM again. The fourth (`recipe.LAST`) starts from the mean of the third and
of the mean of the other two, and the model is the mean of that start and of the fourth. With
`--last-only` the shipped network is that start; with `--blend-only` it is kept, and only its blend
is fitted again. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from franq_bench.data import seen
from franq_bench.data.pairs import Example, Question
from franq_bench.progress import report
from franq_bench.training.families import FAMILIES
from franq_bench.training.options import parsed, set_up_torch, training_parser
from franq_bench.training.recipe import FIRST, JOINT, LAST, SECOND, Recipe
from franq_bench.training.sources import fold_reader, texts_of

if TYPE_CHECKING:
    from torch import Tensor


def main(arguments: list[str] | None = None) -> int:
    """Train with the options of the command line; returns the exit code."""
    parser = training_parser("franq_bench.training", __doc__)
    parser.add_argument("--without", choices=FAMILIES, help="leave this family of data sets out")
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--last-only", action="store_true", help="the fourth run alone, from the shipped network"
    )
    only.add_argument(
        "--blend-only", action="store_true", help="fit the shipped network's blend again"
    )
    options = parsed(parser, arguments)
    from franq_bench.training.export import export, refit
    from franq_bench.training.own_claims import own_claims
    from franq_guard.faithfulness.small import storage

    set_up_torch(options.threads)
    fold = fold_reader(options.data, FAMILIES.get(options.without, ()))
    folder, held = options.out / "weights", fold("fitting")
    own = own_claims(options.data, options.own, options.own_labels)
    if options.blend_only:
        digest = refit(storage.FOLDER, folder, *held, own, seed=FIRST.seed, report=report)
    else:
        pairs = fold("training")
        trained = _train(options.out, *pairs, last_only=options.last_only)
        digest = export(trained, *held, own, folder, seed=FIRST.seed, report=report)
        texts = [text for part in (pairs, held) for text in texts_of(*part)]
        seen.write(texts, options.out / seen.FILE.name)
    report(f"{folder}: SHA-256 {digest}")
    return 0


def _train(
    out: Path, rows: Sequence[Example], asked: Sequence[Question], *, last_only: bool
) -> dict[str, Tensor]:
    """Train; return the means of the runs' weights (Wortsman et al., arXiv 2109.01903, 2203.05482).

    On data sets unlike the written pairs the later runs are worse than the first; weights between
    the runs keep the gains of each.
    """
    from franq_bench.training.loop import Trainer, mean, train
    from franq_guard.faithfulness.small import storage
    from franq_guard.faithfulness.small.encoder import from_minilm
    from franq_guard.faithfulness.small.minilm import load_minilm

    tensors, tokenizer = load_minilm()

    def run(name: str, recipe: Recipe, start: dict[str, Tensor] | None = None) -> dict[str, Tensor]:
        network = from_minilm(tensors, seed=recipe.seed)
        network.load_state_dict(start or {}, strict=False)
        trainer = Trainer(network, recipe, out / name)
        train(trainer, [e for e in rows if recipe.reads(e.dataset)], asked, tokenizer, report)
        return trainer.averaged()

    if last_only:
        network = storage.load_network(storage.FOLDER)
        start = {n: p.detach().clone() for n, p in network.named_parameters() if p.requires_grad}
    else:
        first = run("first", FIRST)
        start = mean(mean(first, run("second", SECOND, first)), run("joint", JOINT))
    return mean(start, run("last", LAST, start))


if __name__ == "__main__":
    sys.exit(main())
