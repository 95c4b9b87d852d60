"""`python -m franq_bench.training --data PATH... --out DIR`: train, then export."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from franq_bench.data.pairs import SOURCES, examples, files, questions
from franq_bench.training.recipe import Recipe


def main(arguments: list[str] | None = None) -> int:
    """Train as told on the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m franq_bench.training", description=__doc__)
    parser.add_argument(
        "--data", type=Path, nargs="+", required=True, help="JSONL files or folders"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints")
    parser.add_argument("--epochs", type=int, default=Recipe().epochs)
    parser.add_argument("--seed", type=int, default=Recipe().seed)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args(arguments)
    import torch

    from franq_bench.training.export import export
    from franq_bench.training.loop import Trainer, train
    from franq_guard.faithfulness.small.encoder import from_minilm
    from franq_guard.faithfulness.small.minilm import load_minilm

    torch.set_flush_denormal(True)
    if options.threads:
        torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    paths = files(options.data)
    found, asked = examples(paths), questions(paths)
    rows = [e for e in found if e.fold == "train" and e.dataset in SOURCES]
    recipe = Recipe(epochs=options.epochs, seed=options.seed)
    (options.out / "recipe.json").write_text(json.dumps(asdict(recipe), indent=1), encoding="utf-8")
    tensors, tokenizer = load_minilm()
    trainer = Trainer(from_minilm(tensors, seed=recipe.seed), recipe, options.out)
    train(trainer, rows, [q for q in asked if q.fold == "train"], tokenizer, _report)
    folder = options.out / "weights"
    digest = export(trainer.averaged(), found, asked, folder, seed=recipe.seed, report=_report)
    _report(f"{folder}: SHA-256 {digest}")
    return 0


def _report(message: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {message}\n")


if __name__ == "__main__":
    sys.exit(main())
