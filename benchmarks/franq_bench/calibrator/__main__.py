"""``python -m franq_bench.calibrator --data FOLDER``: refit the shipped calibrator."""

from __future__ import annotations

import argparse
import json
from importlib.resources import files
from pathlib import Path

from franq_bench.calibrator.build import build
from franq_guard.cli.console import bar, say, tell

OUT = Path(str(files("franq_guard.calibration"))) / "shipped" / "smollm2-small-long.json"


def main(arguments: list[str] | None = None) -> None:
    """Build as told on the command line; prints the figures."""
    from franq_guard.language_model.transformers.smollm2 import cache_dir

    parser = argparse.ArgumentParser(prog="python -m franq_bench.calibrator", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the rag_qa files")
    parser.add_argument("--limit", type=int, default=450, help="questions to answer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--cache", type=Path, default=None, help="generations are kept here")
    options = parser.parse_args(arguments)
    cache = options.cache or cache_dir() / "calibrator-generations.jsonl"
    calibrator = build(
        options.data,
        limit=options.limit,
        seed=options.seed,
        cache=cache,
        out=options.out,
        progress=bar,
    )
    tell(json.dumps(dict(calibrator.figures), indent=1))
    say(f"written to {options.out}")


if __name__ == "__main__":
    main()
