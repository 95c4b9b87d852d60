"""`python -m franq_bench.training --data PATH --out DIR`: train from MiniLM, then export.

A run that was stopped goes on where it was. With `--blend-only` the shipped network is kept, and
only its blend is fitted again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from franq_bench.data import seen
from franq_bench.data.files import files
from franq_bench.data.folds import Fold, Folds
from franq_bench.data.pairs import SOURCES, Example, Question, examples, questions
from franq_bench.data.written import written
from franq_bench.quality.faithfulness import group
from franq_bench.training.balance import balanced
from franq_bench.training.families import FAMILIES
from franq_bench.training.recipe import Recipe

if TYPE_CHECKING:
    from torch import Tensor

RECIPE: Final = Recipe()


def main(arguments: list[str] | None = None) -> int:
    """Train with the options of the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m franq_bench.training", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of JSONL files")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints")
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
    from franq_guard.faithfulness.small import storage

    torch.set_flush_denormal(True)
    if options.threads:
        torch.set_num_threads(options.threads)
    fold = _fold_reader(options.data, FAMILIES.get(options.without, ()))
    folder, held = options.out / "weights", fold("fitting")
    if options.blend_only:
        digest = refit(storage.FOLDER, folder, *held, seed=RECIPE.seed, report=_report)
    else:
        pairs = fold("training")
        trained = _train(options.out, *pairs)
        digest = export(trained, *held, folder, seed=RECIPE.seed, report=_report)
        texts = [text for part in (pairs, held) for text in _texts(*part)]
        seen.write(texts, options.out / seen.FILE.name)
    _report(f"{folder}: SHA-256 {digest}")
    return 0


def _train(out: Path, rows: Sequence[Example], asked: Sequence[Question]) -> dict[str, Tensor]:
    """Train from MiniLM; return the averaged weights (Izmailov et al., arXiv 1803.05407)."""
    from franq_bench.training.loop import Trainer, train
    from franq_guard.faithfulness.small.encoder import from_minilm
    from franq_guard.faithfulness.small.minilm import load_minilm

    tensors, tokenizer = load_minilm()
    out.mkdir(parents=True, exist_ok=True)
    settings = json.dumps(asdict(RECIPE), indent=1)
    (out / "recipe.json").write_text(settings, encoding="utf-8")
    trainer = Trainer(from_minilm(tensors, seed=RECIPE.seed), RECIPE, out)
    train(trainer, rows, asked, tokenizer, _report)
    return trainer.averaged()


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
        pairs += balanced(written(fold), seed=RECIPE.seed)
        return pairs, questions(paths, lambda row: folds.of(row) == fold)

    return read


def _report(message: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {message}\n")


if __name__ == "__main__":
    sys.exit(main())
