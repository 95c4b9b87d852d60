"""``python -m franq_bench.calibrator --data FOLDER``: refit the shipped calibrators.

With ``--captured FILE`` the one for answers of the bundled model itself, which is not shipped: see
``franq_guard/calibration/shipped/README.md``.
"""

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


def main(arguments: list[str] | None = None) -> None:
    """Build the calibrators that the command line asks for and print their figures."""
    from franq_guard.language_model.transformers.smollm2 import cache_dir

    parser = argparse.ArgumentParser(prog="python -m franq_bench.calibrator", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument(
        "--captured", type=Path, help="fit the one for SmolLM2's own answers instead, to this file"
    )
    parser.add_argument("--limit", type=int, default=300, help="questions for that one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the shipped ones")
    parser.add_argument("--cache", type=Path, default=None, help="generations are kept here")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data: {options.data} is not a folder with the data files")
    if options.captured is None:
        for form in ("long", "short"):
            found = build_any_writer(options.data, form, seed=options.seed, progress=bar)
            _keep(found, options.out / f"any-writer-small-{form}.json")
    else:
        cache = options.cache or cache_dir() / "calibrator-generations.jsonl"
        found = build(
            options.data, limit=options.limit, seed=options.seed, cache=cache, progress=bar
        )
        _keep(found, options.captured)


def _keep(calibrator: Calibrator, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    calibrator.save(path)
    tell(json.dumps({"promise": calibrator.promise, **calibrator.figures}, indent=1))
    say(f"written to {path}")


if __name__ == "__main__":
    main()
