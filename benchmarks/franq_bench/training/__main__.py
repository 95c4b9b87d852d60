"""`python -m franq_bench.training --data PATH --out DIR`: train in two runs, then export.

The first run starts from MiniLM, the second from the weights of the first (`recipe`); the model is
the mean of the two. With `--second-only` the second starts from the shipped network; with
`--blend-only` the shipped network is kept, and only its blend is fitted again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from franq_bench.data import seen
from franq_bench.data.files import files
from franq_bench.data.folds import Fold, Folds
from franq_bench.data.pairs import SOURCES, Example, Question, examples, questions
from franq_bench.data.written import written
from franq_bench.quality.faithfulness import group
from franq_bench.training.balance import balanced
from franq_bench.training.families import FAMILIES
from franq_bench.training.recipe import FIRST, SECOND, Recipe

if TYPE_CHECKING:
    from torch import Tensor


def main(arguments: list[str] | None = None) -> int:
    """Train with the options of the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m franq_bench.training", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of JSONL files")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints")
    parser.add_argument("--without", choices=FAMILIES, help="leave this family of data sets out")
    parser.add_argument("--threads", type=int, default=None)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--second-only", action="store_true", help="go on from the shipped network")
    only.add_argument(
        "--blend-only", action="store_true", help="fit the shipped network's blend again"
    )
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data: {options.data} is not a folder with the data files")
    import torch

    from franq_bench.training.export import export, refit
    from franq_guard.faithfulness.small import storage

    torch.set_flush_denormal(True)
    if options.threads:
        torch.set_num_threads(options.threads)
    fold = _fold_reader(options.data, FAMILIES.get(options.without, ()))
    folder, held = options.out / "weights", fold("fitting")
    if options.blend_only:
        digest = refit(storage.FOLDER, folder, *held, seed=FIRST.seed, report=_report)
    else:
        pairs = fold("training")
        trained = _train(options.out, *pairs, from_shipped=options.second_only)
        digest = export(trained, *held, folder, seed=FIRST.seed, report=_report)
        texts = [text for part in (pairs, held) for text in _texts(*part)]
        seen.write(texts, options.out / seen.FILE.name)
    _report(f"{folder}: SHA-256 {digest}")
    return 0


def _train(
    out: Path, rows: Sequence[Example], asked: Sequence[Question], *, from_shipped: bool
) -> dict[str, Tensor]:
    """Train both runs, or only the second one from the shipped network; return the tensors.

    These are the means of the weights before and after the second run: so the model keeps what it
    was good at on other data (Wortsman et al., arXiv 2109.01903).
    """
    from franq_bench.training.loop import Trainer, train
    from franq_guard.faithfulness.small import storage
    from franq_guard.faithfulness.small.encoder import from_minilm
    from franq_guard.faithfulness.small.minilm import load_minilm

    tensors, tokenizer = load_minilm()

    def run(name: str, recipe: Recipe) -> dict[str, Tensor]:
        (out / name).mkdir(parents=True, exist_ok=True)
        settings = json.dumps(asdict(recipe), indent=1)
        (out / name / "recipe.json").write_text(settings, encoding="utf-8")
        trainer = Trainer(network, recipe, out / name)
        used = [e for e in rows if recipe.written or not e.dataset.startswith("written-")]
        train(trainer, used, asked, tokenizer, _report)
        return trainer.averaged()

    if from_shipped:
        network = storage.load_network(storage.FOLDER)
        before = {n: p.detach().clone() for n, p in network.named_parameters() if p.requires_grad}
    else:
        network = from_minilm(tensors, seed=FIRST.seed)
        before = run("first", FIRST)
        network.load_state_dict(before, strict=False)
    after = run("second", SECOND)
    return {name: (tensor + after[name]) / 2 for name, tensor in before.items()}


def _texts(pairs: Sequence[Example], passages: Sequence[Question]) -> list[str]:
    return [*(e.premise for e in pairs), *(q.passage for q in passages)]


def _fold_reader(
    data: Path, without: Sequence[str]
) -> Callable[[Fold], tuple[list[Example], list[Question]]]:
    """Return what reads a fold's pairs of the sets in `SOURCES`, the written ones, and passages.

    Of the data sets in `without` nothing is read.
    """
    paths, folds = files([data]), Folds.read(data)

    def wanted(dataset: str) -> bool:
        return dataset in SOURCES and group(dataset) not in without

    def read(fold: Fold) -> tuple[list[Example], list[Question]]:
        pairs = examples(paths, lambda row: wanted(row["dataset"]) and folds.of(row) == fold)
        pairs += balanced(written(fold), seed=FIRST.seed)
        return pairs, questions(paths, lambda row: folds.of(row) == fold)

    return read


def _report(message: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {message}\n")


if __name__ == "__main__":
    sys.exit(main())
