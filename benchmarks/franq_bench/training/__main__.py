"""`python -m franq_bench.training --data PATH --out DIR`: train, then export.

With `--blend-only` the shipped network is kept, and only its blend is fitted again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from franq_bench.data import seen
from franq_bench.data.files import files
from franq_bench.data.folds import Fold, Folds
from franq_bench.data.pairs import SOURCES, Example, Question, examples, questions
from franq_bench.quality.faithfulness import group
from franq_bench.training.families import FAMILIES
from franq_bench.training.recipe import Recipe


def main(arguments: list[str] | None = None) -> int:
    """Train with the options of the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m franq_bench.training", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of JSONL files")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints")
    parser.add_argument("--epochs", type=int, default=Recipe().epochs)
    parser.add_argument("--seed", type=int, default=Recipe().seed)
    parser.add_argument("--without", choices=FAMILIES, help="leave this family of data sets out")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument(
        "--blend-only", action="store_true", help="fit the shipped network's blend again"
    )
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data: {options.data} is not a folder with the data files")
    import torch

    from franq_bench.training.export import export, refit
    from franq_bench.training.loop import Trainer, train
    from franq_guard.faithfulness.small import storage
    from franq_guard.faithfulness.small.encoder import from_minilm
    from franq_guard.faithfulness.small.minilm import load_minilm

    torch.set_flush_denormal(True)
    if options.threads:
        torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    fold = _fold_reader(options.data, FAMILIES.get(options.without, ()))
    folder = options.out / "weights"
    if options.blend_only:
        digest = refit(storage.FOLDER, folder, *fold("fitting"), seed=options.seed, report=_report)
        _report(f"{folder}: SHA-256 {digest}")
        return 0
    rows, asked = fold("training")
    recipe = Recipe(epochs=options.epochs, seed=options.seed)
    (options.out / "recipe.json").write_text(json.dumps(asdict(recipe), indent=1), encoding="utf-8")
    tensors, tokenizer = load_minilm()
    trainer = Trainer(from_minilm(tensors, seed=recipe.seed), recipe, options.out)
    train(trainer, rows, asked, tokenizer, _report)
    held, passages = fold("fitting")
    digest = export(trainer.averaged(), held, passages, folder, seed=recipe.seed, report=_report)
    used = [*(e.premise for e in (*rows, *held)), *(q.passage for q in (*asked, *passages))]
    seen.write(used, options.out / seen.FILE.name)
    _report(f"{folder}: SHA-256 {digest}")
    return 0


def _fold_reader(
    data: Path, without: Sequence[str]
) -> Callable[[Fold], tuple[list[Example], list[Question]]]:
    """Return what reads a fold's pairs of the sets in `SOURCES`, and its passages.

    Of the data sets in `without` nothing is read.
    """
    paths, folds = files([data]), Folds.read(data)

    def wanted(dataset: str) -> bool:
        return dataset in SOURCES and group(dataset) not in without

    def read(fold: Fold) -> tuple[list[Example], list[Question]]:
        pairs = examples(paths, lambda row: wanted(row["dataset"]) and folds.of(row) == fold)
        return pairs, questions(paths, lambda row: folds.of(row) == fold)

    return read


def _report(message: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {message}\n")


if __name__ == "__main__":
    sys.exit(main())
