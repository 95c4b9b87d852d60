"""``python -m franq_bench.calibrator --data FOLDER``: refit the shipped calibrators."""

from __future__ import annotations

import argparse
import json
from importlib.resources import files
from pathlib import Path

from franq_bench.calibrator.any_writer import build as build_any_writer
from franq_bench.calibrator.build import build
from franq_guard.calibration.store import Calibrator
from franq_guard.cli.console import bar, say, tell

OUT = Path(str(files("franq_guard.calibration"))) / "shipped"
CAPTURED = "captured"
ANY_WRITER = "any-writer"


def main(arguments: list[str] | None = None) -> None:
    """Build as told on the command line; prints the figures."""
    from franq_guard.language_model.transformers.smollm2 import cache_dir

    parser = argparse.ArgumentParser(prog="python -m franq_bench.calibrator", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--only", choices=(CAPTURED, ANY_WRITER), help="leave the other as it is")
    parser.add_argument("--limit", type=int, default=300, help="questions for the captured one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT, help="folder")
    parser.add_argument("--cache", type=Path, default=None, help="generations are kept here")
    options = parser.parse_args(arguments)
    if options.only != CAPTURED:
        for form in ("long", "short"):
            found = build_any_writer(options.data, form, seed=options.seed, progress=bar)
            _keep(found, options.out / f"any-writer-small-{form}.json")
    if options.only != ANY_WRITER:
        cache = options.cache or cache_dir() / "calibrator-generations.jsonl"
        found = build(
            options.data, limit=options.limit, seed=options.seed, cache=cache, progress=bar
        )
        _keep(found, options.out / "smollm2-small-long.json")


def _keep(calibrator: Calibrator, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    calibrator.save(path)
    tell(json.dumps({"promise": calibrator.promise, **calibrator.figures}, indent=1))
    say(f"written to {path}")


if __name__ == "__main__":
    main()
